// SPDX-License-Identifier: Apache-2.0
#include "perf_sheets.h"

#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/part/kernel_perf.h"
#include "sheet_maker.h"

namespace mpa {
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

}  // namespace mpa
