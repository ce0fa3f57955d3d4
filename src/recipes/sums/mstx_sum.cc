// SPDX-License-Identifier: Apache-2.0
// How long what the program marked itself (mstx) took on the host and on the device.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/recipe/rank_lines.h"
#include "mstx_spans.h"

namespace mpa::recipes {
namespace {

using namespace mstx;

constexpr std::string_view kAllRanges = "all_ranges";

MarkedSpans MapMstxSum(const RankTrace& trace, const RecipeArguments& arguments) {
  return FindMarkedSpans(trace, arguments.contains(kAllRanges));
}

// The screen is about the device, where anything was recorded there.
bool HasDeviceTimes(const MarkedRanks& ranks) {
  return std::ranges::any_of(ranks, [](const auto& rank) {
    return std::ranges::any_of(rank.part.spans,
                               [](const MarkedSpan& span) { return span.device.has_value(); });
  });
}

// By name alone, the largest sum first.
std::vector<sums::GroupRow> NamesOnScreen(const MarkedRanks& ranks, bool device) {
  std::vector<sums::Part> parts;
  for (const auto& rank : ranks) {
    sums::Durations durations;
    for (const MarkedSpan& span : rank.part.spans) {
      const auto time = device ? span.device : std::optional(span.cann);
      if (time) durations[{0, {rank.part.names[span.name]}}].push_back(*time);
    }
    parts.push_back({{sums::GroupsOf(std::move(durations))}});
  }
  sums::Ranks of_names;
  for (std::size_t i = 0; i < ranks.size(); ++i) of_names.push_back({ranks[i].rank, parts[i]});
  return RowsOf({.name = "", .each_rank = false, .before = sums::LargestSumFirst}, of_names);
}

std::string NameLine(const sums::GroupRow& row) {
  const RankSpread spread = SpreadOf(row.means);
  return fmt::format("  {} {:>8} {:>10.3f} {:>10.3f} {:>10.3f} ({})",
                     NameCell(row.key.texts[0], 30), row.stats.count, sums::Ms(spread.min.value),
                     sums::Ms(spread.median), sums::Ms(spread.max.value),
                     RankNumber(spread.max.rank));
}

void AddMstxLines(const MarkedRanks& ranks, Report& report) {
  const bool device = HasDeviceTimes(ranks);
  const std::vector<sums::GroupRow> names = NamesOnScreen(ranks, device);
  if (names.empty()) return;
  AppendList({.heading = {fmt::format("what the program marked, on {}: mean ms on the {}",
                                      Counted(ranks.size(), "rank"), device ? "device" : "host"),
                          fmt::format("  {} {:>8} {:>10} {:>10} {:>10}", NameCell("name", 30),
                                      "count", "min", "median", "max (rank)")},
              .shown = 10,
              .line = NameLine,
              .noun = "name"},
             names, report);
  OutlierLines outliers;
  for (const sums::GroupRow& row : names) {
    outliers.Add(row.key.texts[0], row.means,
                 [](double ns) { return fmt::format("{:.3f} ms", sums::Ms(ns)); });
  }
  outliers.AppendTo(report.lines);
}

// What was not counted, once for all ranks.
void AddMstxNotes(const MarkedRanks& ranks, Report& report) {
  std::int64_t unpaired = 0, left_out = 0, outside = 0;
  std::string first;
  std::vector<std::int64_t> without;
  for (const auto& [rank, part] : ranks) {
    if (unpaired == 0 && part.unpaired > 0) {
      first = fmt::format("{} on {}", CutEnd(Printable(part.unpaired_mark), 40), RankText(rank));
    }
    unpaired += part.unpaired;
    left_out += part.left_out;
    outside += part.outside;
    if (part.spans.empty()) without.push_back(rank);
  }
  if (unpaired > 0) {
    report.notes.push_back(
        fmt::format("marks x_start or x_stop that belong to no pair: {}, the first is {}; set both "
                    "on one thread and in one domain",
                    unpaired, first));
  }
  if (left_out > 0) {
    report.notes.push_back(fmt::format(
        "ranges left out, because they have no stream: {}; --all_ranges counts them", left_out));
  }
  if (outside > 0) {
    report.notes.push_back(
        fmt::format("marks and ranges outside of all steps: {}; their StepId is 0", outside));
  }
  if (!without.empty()) {
    report.notes.push_back(fmt::format(
        "{} of {} ranks have no pairs of marks and no ranges (first: {}); set mstx ranges in the "
        "program and collect with mstx=True",
        without.size(), ranks.size(), RankText(without.front())));
  }
}

void ReduceMstxSum(const MarkedRanks& ranks, const RecipeArguments&, OutputSelection wanted,
                   Report& report) {
  if (wanted.sheets) AddMstxSheets(ranks, report);
  if (wanted.screen != Detail::kNone) AddMstxLines(ranks, report);
  AddMstxNotes(ranks, report);
}

Verdict JudgeMstxSum(const RankFacts& facts) {
  return JudgeReadable(facts)
      .RefuseKineto(facts, "have no mstx marks")
      .Refuse(facts.recorded.mstx == Recorded::kNo, "the program set no marks and no ranges (mstx)",
              "mstx=True with marks or ranges in the program")
      .AddUnknown(facts.recorded.mstx, "marks and ranges (mstx)");
}

}  // namespace

Recipe MstxSum() {
  return MakeRecipe<MapMstxSum, ReduceMstxSum>(
      {.name = "mstx_sum",
       .folder = "MstxSum",
       .summary = "how long the marks and ranges of the program took, on the host and the device",
       .needs = Tables::kMstx | Tables::kSteps | Tables::kLaunches | Tables::kQueuedWork,
       .parameters = {{kAllRanges, "",
                       "Count ranges without a stream, too; they have no time on the device"}},
       .can_run = JudgeMstxSum});
}

}  // namespace mpa::recipes
