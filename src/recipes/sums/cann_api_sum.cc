// SPDX-License-Identifier: Apache-2.0
// How long the host spent in calls of CANN, on every rank.
#include <fmt/format.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "sums.h"

namespace mpa::recipes::sums {
namespace {

using namespace sums;

// "launch" of Node@launch.
std::string WithoutLevel(std::string_view name) {
  return std::string(name.substr(name.find('@') + 1));
}

Part MapCannApiSum(const RankTrace& trace, const RecipeArguments&) {
  const HostCalls& calls = trace.host_calls;
  return {{GroupBy(
      calls.dur, [&](std::size_t i) { return calls.name[i]; },
      [&](StringId name) { return std::vector{WithoutLevel(trace.strings.View(name))}; },
      [&](std::size_t i) { return trace.IsOfStep(calls.start[i]); })}};
}

// The standard deviation of all values, as the reference gives it for one rank (n) and for several
// (n - 1).
Cell Deviation(const GroupRow& row) {
  if (!row.stats.deviation) return 0.0;
  const auto n = static_cast<double>(row.stats.count);
  return row.ranks == 1 ? *row.stats.deviation * std::sqrt((n - 1) / n) : *row.stats.deviation;
}

template <auto... kPath>
ColumnOf<GroupRow> Real(const char* name, int decimals, const char* meaning) {
  ColumnOf<GroupRow> column = NumberColumn<kPath...>(name, Format::kDecimals2, 14, meaning);
  column.column.decimals = decimals;
  return column;
}

// The columns of both sheets. The reference puts the shortest call before the quartiles in one and
// behind them in the other.
SheetColumns<GroupRow> SharedColumns(ColumnOf<GroupRow> ratio, bool min_first) {
  using Stats = DurationStats;
  constexpr auto kStats = &GroupRow::stats;
  SheetColumns<GroupRow> columns = {
      KeyColumn<0>("name", 40, "The call."),
      std::move(ratio),
      CountColumn<kStats, &Stats::sum>(
          "totalTimeNs", 14,
          "Time of all calls, in ns; a call inside another call counts in both."),
      CountColumn<kStats, &Stats::count>("totalCount", 14, "Number of calls."),
      Real<kStats, &Stats::mean>("averageNs", 1, "Mean time of a call, in ns."),
      Real<kStats, &Stats::q1>("Q1Ns", 1, "First quartile of the calls, in ns."),
      Real<kStats, &Stats::median>("medNs", 1, "Median of the calls, in ns."),
      Real<kStats, &Stats::q3>("Q3Ns", 1, "Third quartile of the calls, in ns."),
      CountColumn<kStats, &Stats::max>("maxNs", 14, "Time of the longest call, in ns."),
      Real<kStats, &Stats::deviation>("stdev", 1, "Standard deviation of the calls, in ns.")};
  columns.back().cell = Deviation;
  columns.insert(
      columns.begin() + (min_first ? 5 : 8),
      CountColumn<kStats, &Stats::min>("minNs", 14, "Time of the shortest call, in ns."));
  return columns;
}

std::string RanksOf(const std::vector<RankId>& ranks) { return RankNames(ranks, ", "); }

std::vector<SumSheet> CannApiSheets(const RecipeArguments&) {
  auto of_rank = SharedColumns(
      Real<&GroupRow::share>("durationRatio", 2, "Share of the time of the rank, in percent."),
      /*min_first=*/true);
  of_rank.push_back(RankColumn("rank", 14));
  auto of_all = SharedColumns(
      Real<&GroupRow::share>("timeRatio", 1, "Share of the time of all ranks, in percent."),
      /*min_first=*/false);
  of_all.push_back(TextColumn<&GroupRow::min_ranks, RanksOf>(
      "minRank", 12, "The ranks with the shortest call, joined by ', '."));
  of_all.push_back(TextColumn<&GroupRow::max_ranks, RanksOf>(
      "maxRank", 12, "The ranks with the longest call, joined by ', '."));
  Chart by_rank = LargestBars("Time in CANN calls of each rank", {"rank"}, {{"totalTimeNs"}},
                              Measured::kNs, Chart::SameLabel::kSum);
  by_rank.of_ranks = true;
  return {{{"CannApiSumRank", ToTranslate("CANN calls of the host by name, on each rank")},
           {"rank_stats"},
           0,
           /*each_rank=*/true,
           std::move(of_rank),
           [](const GroupRow& a, const GroupRow& b) {
             return std::tie(a.place, b.stats.sum) < std::tie(b.place, a.stats.sum);
           },
           SIZE_MAX,
           {std::move(by_rank)}},
          {{"CannApiSum", ToTranslate("CANN calls of the host by name, over all ranks")},
           {"all_stats"},
           0,
           /*each_rank=*/false,
           std::move(of_all),
           LargestSumFirst,
           SIZE_MAX,
           {LargestBars("Time in CANN calls, all ranks", {"name"}, {{"totalTimeNs"}}, Measured::kNs,
                        Chart::SameLabel::kSum),
            BoxesOf("How long a CANN call takes", {"name"},
                    {"minNs", "Q1Ns", "medNs", "Q3Ns", "maxNs"})}}};
}

void AddCannApiLines(SumTables& tables, Report& report) {
  const std::vector<GroupRow>& all = tables.Rows(1);
  if (all.empty()) return;
  const LargestSum first = LargestOf(all);
  AddSentence(Say("{} takes most of the CANN calls: {:.3f} of {:.3f} ms ({:.0f} %) on {}",
                  first.name, first.own, first.all, first.percent, tables.RankCountText()),
              report.lines);
  AppendList({.list = {2,
                       {ScreenName("call", 38), ScreenPercent("share", 7), ScreenNumber("count", 8),
                        ScreenMs("sum ms", 11), ScreenUs("median us", 10)}},
              .cells =
                  [](const GroupRow& row) {
                    return std::vector<Cell>{row.key.texts[0], row.share, row.stats.count,
                                             row.stats.sum, CellOf(row.stats.median)};
                  },
              .shown = 10,
              .noun = "call"},
             all, report);
}

Verdict JudgeCannApiSum(const RankFacts& facts) {
  const bool level0 = facts.settings && facts.settings->level == "Level0";
  return JudgeReadable(facts)
      .RefuseKineto(facts, "have no CANN calls")
      .Refuse(facts.kind == CaptureKind::kNpuText && level0,
              "no CANN calls in text captures of Level0",
              "profiler_level=Level1, or export_type=Db");
}

}  // namespace

Recipe CannApiSum() {
  return SumRecipe<MapCannApiSum, CannApiSheets, AddCannApiLines, 1>(
      {.name = "cann_api_sum",
       .folder = "CannApiSum",
       .summary = "how long the host spent in CANN calls",
       .needs = Tables::kHostCalls,
       .can_run = JudgeCannApiSum});
}

}  // namespace mpa::recipes::sums
