// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer_columns.h"
#include "analyzer_sheets.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "sheet_maker.h"

namespace mpa {
namespace {

constexpr Wording kBlockDim{"Block Dim Issues", "AICore核数"},
    kNoBound{"Operator No Bound Issues", "算子瓶颈"};

class KernelSheetMaker : private SheetMaker {
 public:
  using SheetMaker::SheetMaker;

  std::vector<AnalyzerNote> Make() && {
    AddBlockDim();
    AddNoBound();
    AddClocks();
    return TakeNotes();
  }

 private:
  struct Sum {
    std::int64_t count = 0;
    TimeNs time = 0;
  };

  Sum AddKernels(const Wording& name, const RowsOfSheet<KernelOfRank>& columns,
                 KernelList AnalyzerRows::*list) {
    Sum sum;
    AddSheet(name, columns, [&](const RankDiagnosis& part, auto add) {
      const KernelList& kernels = part.analyzers.*list;
      sum.count += kernels.count;
      sum.time += kernels.time;
      for (const KernelRow& kernel : kernels.rows) {
        KernelOfRank row;
        row.kernel = &kernel;
        add(row);
      }
    });
    return sum;
  }

  void AddBlockDim() {
    const Sum sum = AddKernels(kBlockDim, BlockDimColumns(), &AnalyzerRows::on_some_cores);
    if (sum.count == 0) return;
    Note(kBlockDim, sum.count, sum.time,
         {"{} kernels leave cores idle: the number of their blocks is not a multiple of the number "
          "of cores",
          "{} 个算子的 block 数不是核数的整数倍，部分核空闲"},
         {"tune the tiling of the longest ones with AOE, or choose shapes that split evenly",
          "使用 AOE 对耗时最长的算子调优，或选择可均分的 shape"},
         sum.count);
  }

  void AddNoBound() {
    const Sum sum = AddKernels(kNoBound, NoBoundColumns(), &AnalyzerRows::without_bound);
    if (sum.count == 0) return;
    Note(kNoBound, sum.count, sum.time,
         {"{} kernels keep no unit of their cores busy for more than 80 % of their time",
          "{} 个算子没有任何单元的利用率超过 80 %"},
         {"tune the longest ones with AOE, fuse short ones with their neighbours",
          "使用 AOE 调优耗时长的算子，将短算子与相邻算子融合"},
         sum.count);
  }

  // Those that the finding would call throttled.
  void AddClocks() {
    TimeNs time = 0;
    const std::size_t rows =
        AddSheet(kClockSheet, ClockColumns(), [&](const RankDiagnosis& part, auto add) {
          const auto rated = static_cast<double>(part.rated_mhz);
          for (const ClockRow& clock : part.analyzers.clocks) {
            if (clock.mhz >= of_.rules.clock_ratio * rated) continue;
            ClockOfRank row;
            row.clock = &clock;
            row.rated = rated;
            time += clock.time;
            add(row);
          }
        });
    if (rows == 0) return;
    NoteAsFinding(
        "dev.clock", kClockSheet, static_cast<std::int64_t>(rows), time,
        {"kernels of {} names ran while the clock was low", "{} 种算子运行时 AI Core 降频"}, rows);
  }
};

}  // namespace

std::vector<AnalyzerNote> AddKernelSheets(const std::vector<DiagnosedRank>& ranks,
                                          const Diagnosis& diagnosis, Language language,
                                          Report& report) {
  return KernelSheetMaker(ranks, diagnosis, language, report).Make();
}

namespace {

const Wording& SheetNameOf(PerfFamily family) {
  static constexpr Wording kCube{"Cube Operator Perf Analysis", "Cube算子性能分析"},
      kAttention{"FA Operator Perf Analysis", "FA算子性能分析"},
      kVector{"Vector Operator Perf Analysis", "Vector算子性能分析"};
  return family == PerfFamily::kCube        ? kCube
         : family == PerfFamily::kAttention ? kAttention
                                            : kVector;
}

const Wording& TypeOf(PerfVerdict verdict) {
  static constexpr Wording kRoom{"room", "优化空间"}, kBound{"bound", "瓶颈"},
      kShape{"shape", "shape不亲和"};
  return verdict == PerfVerdict::kRoom ? kRoom : verdict == PerfVerdict::kBound ? kBound : kShape;
}

const Wording& DescriptionOf(const PerfRow& row) {
  static constexpr Wording kRoom{"no unit reaches its limit; {} is the nearest",
                                 "没有单元达到上限，最接近的是 {}"},
      kBound{"{} is at its limit", "{} 已达上限"},
      kAxis{"{} of the inputs is not a multiple of 256", "输入的 {} 不是 256 的整数倍"},
      kAttentionAxis{"{} is not a multiple of 128", "{} 不是 128 的整数倍"};
  if (row.verdict == PerfVerdict::kRoom) return kRoom;
  if (row.verdict == PerfVerdict::kBound) return kBound;
  return row.family == PerfFamily::kCube ? kAxis : kAttentionAxis;
}

struct PerfOfRank : WithRank {
  const PerfRow* kernel = nullptr;
  std::string type, description;
};

const RowsOfSheet<PerfOfRank>& PerfColumns() {
  static const RowsOfSheet<PerfOfRank> columns = {
      {NamedColumn("Type", Format::kText, 14,
                   "Whether a unit is at its limit, none is, or the shapes do not fit"),
       [](const PerfOfRank& row) -> Cell { return row.type; }},
      {NamedColumn("Description", Format::kText, 48, "The unit or the axis"),
       [](const PerfOfRank& row) -> Cell { return row.description; }},
      {NamedColumn("op_name", Format::kText, 40, "Kernel"),
       [](const PerfOfRank& row) -> Cell { return row.kernel->name; }},
      {NamedColumn("op_type", Format::kText, 24, "Its type"),
       [](const PerfOfRank& row) -> Cell { return row.kernel->type; }},
      {NamedColumn("input_shapes", Format::kText, 36, "Shapes of its inputs"),
       [](const PerfOfRank& row) -> Cell { return row.kernel->shapes; }},
      {NamedColumn("input_data_types", Format::kText, 24, "Their types"),
       [](const PerfOfRank& row) -> Cell { return row.kernel->types; }},
      {NamedColumn("count", Format::kInteger, 10, "Calls with these shapes"),
       [](const PerfOfRank& row) -> Cell { return row.kernel->count; }},
      {{.name = "total_time(us)",
        .format = Format::kDecimals3,
        .width = 14,
        .unit = Unit::kNsShownAsUs,
        .meaning = "Their time"},
       [](const PerfOfRank& row) -> Cell { return row.kernel->time; }},
      {NamedColumn(
           "room ratio", Format::kPercent, 12,
           "How far the nearest unit is from its limit, as a share of the time of the core"),
       [](const PerfOfRank& row) {
         return row.kernel->verdict == PerfVerdict::kRoom ? Cell{row.kernel->room} : Cell{};
       }},
      {NamedColumn("rank_id", Format::kInteger, 10, "Rank"),
       [](const PerfOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

class PerfSheetMaker : private SheetMaker {
 public:
  using SheetMaker::SheetMaker;

  std::vector<AnalyzerNote> Make() && {
    for (const PerfFamily family : kPerfFamilies) AddFamily(family);
    return TakeNotes();
  }

 private:
  void AddFamily(PerfFamily family) {
    std::int64_t count = 0;
    TimeNs time = 0;
    AddSheet(SheetNameOf(family), PerfColumns(), [&](const RankDiagnosis& part, auto add) {
      for (const PerfRow& kernel : part.analyzers.performance) {
        if (kernel.family != family) continue;
        PerfOfRank row;
        row.kernel = &kernel;
        row.type = TypeOf(kernel.verdict).In(language_);
        row.description =
            fmt::format(fmt::runtime(DescriptionOf(kernel).In(language_)), kernel.what);
        if (kernel.verdict != PerfVerdict::kBound) {
          count += kernel.count;
          time += kernel.time;
        }
        add(row);
      }
    });
    if (count == 0) return;
    Note(SheetNameOf(family), count, time,
         {"{} kernels could use the units of their cores better", "{} 个算子未充分利用核内单元"},
         {"start with the first of the sheet: fitting shapes, fusion, tuned tiling",
          "从表中第一个算子开始：调整 shape、融合或优化 tiling"},
         count);
  }
};

}  // namespace

std::vector<AnalyzerNote> AddPerfSheets(const std::vector<DiagnosedRank>& ranks,
                                        const Diagnosis& diagnosis, Language language,
                                        Report& report) {
  return PerfSheetMaker(ranks, diagnosis, language, report).Make();
}

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
