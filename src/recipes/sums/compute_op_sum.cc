// SPDX-License-Identifier: Apache-2.0
// How long the compute kernels of every rank ran, by type and by name.
#include <fmt/format.h>

#include <array>
#include <tuple>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/recipe/rank_spread.h"
#include "sums.h"

namespace mpa::recipes::sums {
namespace {

using namespace sums;

constexpr Option<bool> kWithoutNames =
    Switch("exclude_op_name", "Sum by type only: no table by name and shapes");

// By type and core alone, of the whole run.
Groups RecordedSums(const KernelStatistics& recorded, auto texts) {
  std::map<Key, DurationSums> sums;
  for (std::size_t i = 0; i < recorded.Size(); ++i) {
    sums[{.texts = texts(std::array{recorded.op_type[i], recorded.core[i]})}].Add(
        {recorded.count[i], recorded.total[i], recorded.min[i], recorded.max[i]});
  }
  Groups groups;
  for (const auto& [key, of_key] : sums) groups.emplace_back(key, DurationSample::OfSums(of_key));
  return groups;
}

Part MapComputeOpSum(const RankTrace& trace, const RecipeArguments& arguments) {
  const Kernels& kernels = trace.kernels;
  const auto texts = [&](const auto& ids) {
    std::vector<std::string> result;
    for (const StringId id : ids) {
      const std::string_view text = trace.strings.View(id);
      result.emplace_back(text.empty() ? "N/A" : text);
    }
    return result;
  };
  Part part;
  part.by.push_back(GroupBy(
      kernels.dur,
      [&](std::size_t i) {
        return std::array{kernels.op_type[i], kernels.core[i]};
      },
      texts));
  if (kernels.Empty()) {
    part.by.front() = RecordedSums(trace.kernel_statistics, texts);
  }
  part.by.emplace_back();
  if (arguments[kWithoutNames]) return part;
  part.by.back() = GroupBy(
      kernels.dur,
      [&](std::size_t i) {
        return std::array{kernels.name[i], kernels.op_type[i], kernels.core[i], kernels.shapes[i]};
      },
      texts);
  return part;
}

// The largest sum first; of equal ones in order of key and rank.
bool LargestFirst(const GroupRow& a, const GroupRow& b) {
  return std::tie(b.stats.sum, a.key, a.rank) < std::tie(a.stats.sum, b.key, b.rank);
}

// The columns of type and core, whose texts of the key begin at `kFirst`.
template <std::size_t kFirst>
SheetColumns<GroupRow> TypeColumns() {
  return {
      KeyColumn<kFirst>("OpType", 30, "Type of the operator."),
      KeyColumn<kFirst + 1>("TaskType", 18, "The core that ran the operator, such as AI_CORE.")};
}

std::vector<SumSheet> ComputeOpSheets(const RecipeArguments& arguments) {
  std::vector<SumSheet> sheets = {
      {{"ComputeOpAllRankStats", ToTranslate("Kernels by type, over all ranks")},
       {"all_stats"},
       0,
       /*each_rank=*/false,
       WithStats(TypeColumns<0>()),
       LargestFirst,
       SIZE_MAX,
       {LargestBars("Time of the types of kernels, all ranks", {"OpType", "TaskType"},
                    {{"SumNs", Tint::kCompute}}, Measured::kNs, Chart::SameLabel::kSum),
        BoxesOf("How long a kernel takes", {"OpType", "TaskType"})}},
      {{"ComputeOpPerRankStatsByOpType", ToTranslate("Kernels by type, on each rank")},
       {"rank_stats_by_optype"},
       0,
       /*each_rank=*/true,
       WithStats(TypeColumns<0>(), {RankColumn()}),
       LargestFirst,
       SIZE_MAX,
       {SumsOfEachRank("Time of the types of kernels on each rank", Tint::kCompute)}}};
  if (arguments[kWithoutNames]) return sheets;
  SheetColumns<GroupRow> columns = TypeColumns<1>();
  columns.insert(columns.begin(), KeyColumn<0>("OpName", 40, "The kernel."));
  columns.push_back(KeyColumn<3>("InputShapes", 40, "Shapes of the inputs, joined by ';'."));
  sheets.push_back({{"ComputeOpPerRankStatsByOpName", ToTranslate("Kernels by name, on each rank")},
                    {"rank_stats_by_opname"},
                    1,
                    /*each_rank=*/true,
                    WithStats(std::move(columns), {RankColumn()}),
                    LargestFirst});
  return sheets;
}

// Where the time goes: the longest types, and how they spread over the ranks.
void AddComputeOpLines(SumTables& tables, Report& report) {
  const std::vector<GroupRow>& all = tables.Rows(0);
  if (all.empty()) return;
  const LargestSum first = LargestOf(all);
  AddSentence(Say("{} takes most of the compute kernels: {:.3f} of {:.3f} ms ({:.0f} %) on {}",
                  first.name, first.own, first.all, first.percent, tables.RankCountText()),
              report.lines);
  const std::vector<RankValue> sums = tables.SumsOfRanks(0);
  if (sums.size() > 1) {
    const RankSpread spread = SpreadOf(sums);
    report.lines.push_back(Say(
        "of one rank: min {:.3f} ms ({}), median {:.3f} ms, max {:.3f} ms ({})", spread.min.value,
        RankText(spread.min.rank), spread.median, spread.max.value, RankText(spread.max.rank)));
  }
  AppendList({.list = {0,
                       {ScreenName("type", 32), ScreenText("core", 16), ScreenNumber("kernels", 8),
                        ScreenMs("ms", 12), ScreenPercent("share", 7)}},
              .cells =
                  [](const GroupRow& row) {
                    return std::vector<Cell>{row.key.texts[0], row.key.texts[1], row.stats.count,
                                             row.stats.sum, row.share};
                  },
              .shown = 10,
              .noun = "operator"},
             all, report);
}

Verdict JudgeComputeOpSum(const RankFacts& facts) {
  if (IsKineto(facts.kind)) {
    return JudgeReadable(facts).Refuse(facts.recorded.device_tasks == Recorded::kNo,
                                       "no compute kernels", DeviceSetting(facts));
  }
  return JudgeKernelTypes(facts, "");
}

}  // namespace

Recipe ComputeOpSum() {
  return SumRecipe<MapComputeOpSum, ComputeOpSheets, AddComputeOpLines, 2, 4>(
      {.name = "compute_op_sum",
       .folder = "ComputeOpSum",
       .summary = "how long compute kernels ran, by type and by name",
       .needs = Tables::kKernels | Tables::kKernelStatistics,
       .options = {kWithoutNames},
       .can_run = JudgeComputeOpSum});
}

}  // namespace mpa::recipes::sums
