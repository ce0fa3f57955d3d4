// SPDX-License-Identifier: Apache-2.0
#include "kernel_sheets.h"

#include "kernel_columns.h"
#include "mpa/diagnosis/findings/catalogue.h"
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

}  // namespace mpa
