// SPDX-License-Identifier: Apache-2.0
#include "sequence_sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/part/kernel_sequences.h"
#include "sheet_maker.h"

namespace mpa {
namespace {

constexpr Wording kHostSequences{"Host Bound Operator Sequences", "基于host瓶颈的算子序列分析"},
    kMteSequences{"MTE Bound Operator Sequences", "基于mte瓶颈的算子序列分析"},
    kSequences{"Fusible Operator Analysis", "可融合算子分析"};

constexpr Wording kDescription{
    "repeated sequences of kernels that could be fused: {}. They take {:.3f} ms, of which kernels "
    "run "
    "for {:.3f} ms; {:.3f} of the time are gaps{}",
    "{} 个重复的算子序列具有融合价值：总耗时 {:.3f} ms，其中算子执行 {:.3f} ms；间隙占比 {:.3f}{}"},
    kMoving{", {:.3f} loads and stores", "，搬运占比 {:.3f}"},
    kSuggestion{
        "fuse their kernels, or use operators that do the work of several; where the host is late, "
        "find "
        "its code by the stacks first",
        "评估序列能否融合或改用融合算子；host 瓶颈的序列先通过调用栈定位代码"};

struct SequenceOfRank : WithRank {
  const KernelSequence* sequence = nullptr;
};

Column TimeOfSequence(std::string_view name, std::string_view meaning) {
  return {.name = std::string(name),
          .format = Format::kDecimals3,
          .width = 18,
          .unit = Unit::kNsShownAsUs,
          .meaning = std::string(meaning)};
}

// As the Python tool writes them.
Cell FlagCell(bool flag) { return std::string(flag ? "True" : "False"); }

const RowsOfSheet<SequenceOfRank>& SequenceColumns() {
  static const RowsOfSheet<SequenceOfRank> columns = {
      {NamedColumn("start index", Format::kInteger, 12,
                   "Row of its first kernel in kernel_details.csv where it ran first, from 0, "
                   "without the header"),
       [](const SequenceOfRank& row) -> Cell { return row.sequence->first; }},
      {NamedColumn("end index", Format::kInteger, 12, "The same of its last kernel"),
       [](const SequenceOfRank& row) -> Cell { return row.sequence->last; }},
      {TimeOfSequence("total time(us)", "Time of all its runs, with the gaps between the kernels"),
       [](const SequenceOfRank& row) -> Cell { return row.sequence->total; }},
      {TimeOfSequence("execution time(us)", "Time of their kernels"),
       [](const SequenceOfRank& row) -> Cell { return row.sequence->busy; }},
      {TimeOfSequence("mte time(us)",
                      "Time in which these load and store, one after the other; empty where it was "
                      "not measured"),
       [](const SequenceOfRank& row) {
         return row.sequence->moving < 0 ? Cell{} : Cell{row.sequence->moving};
       }},
      {NamedColumn("occurrences", Format::kInteger, 12, "How often it ran"),
       [](const SequenceOfRank& row) -> Cell { return row.sequence->count; }},
      {NamedColumn(
           "mte bound", Format::kText, 11,
           "Whether the kernels load and store for more than 80 % of the time of their cores"),
       [](const SequenceOfRank& row) { return FlagCell(row.sequence->mte_bound); }},
      {NamedColumn("host bound", Format::kText, 11,
                   "Whether kernels run for less than 40 % of the total time"),
       [](const SequenceOfRank& row) { return FlagCell(row.sequence->host_bound); }},
      {NamedColumn("op_names", Format::kText, 80, "Its kernels"),
       [](const SequenceOfRank& row) -> Cell {
         return fmt::format("{}", fmt::join(row.sequence->names, ", "));
       }},
      {NamedColumn("rank_id", Format::kInteger, 10, "Rank"),
       [](const SequenceOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

class SequenceSheetMaker : private SheetMaker {
 public:
  using SheetMaker::SheetMaker;

  std::vector<AnalyzerNote> Make() && {
    AddBound(kHostSequences, &KernelSequence::host_bound);
    AddBound(kMteSequences, &KernelSequence::mte_bound);
    AddNote();
    return TakeNotes();
  }

 private:
  void AddBound(const Wording& name, bool KernelSequence::*is_bound) {
    AddSheet(name, SequenceColumns(), [&](const RankDiagnosis& part, auto add) {
      for (const KernelSequence& sequence : part.analyzers.sequences.rows) {
        if (!(sequence.*is_bound)) continue;
        SequenceOfRank row;
        row.sequence = &sequence;
        add(row);
      }
    });
  }

  void AddNote() {
    SequenceList sum;
    for (const DiagnosedRank& rank : ranks_) {
      const SequenceList& list = rank.part->analyzers.sequences;
      sum.count += list.count;
      sum.total += list.total;
      sum.busy += list.busy;
      sum.moving += list.moving;
    }
    if (sum.count == 0) return;
    constexpr double kMillisecond = 1e6;
    const auto share = [&](TimeNs time) {
      return sum.total > 0 ? static_cast<double>(time) / static_cast<double>(sum.total) : 0;
    };
    // Without counters nothing is known of loads and stores.
    const std::string moving =
        sum.moving > 0 ? fmt::format(fmt::runtime(kMoving.In(language_)), share(sum.moving)) : "";
    Note(kSequences, sum.count, sum.total, kDescription, kSuggestion, sum.count,
         static_cast<double>(sum.total) / kMillisecond,
         static_cast<double>(sum.busy) / kMillisecond,
         share(std::max<TimeNs>(0, sum.total - sum.busy)), moving);
  }
};

}  // namespace

std::vector<AnalyzerNote> AddSequenceSheets(const std::vector<DiagnosedRank>& ranks,
                                            const Diagnosis& diagnosis, Language language,
                                            Report& report) {
  return SequenceSheetMaker(ranks, diagnosis, language, report).Make();
}

}  // namespace mpa
