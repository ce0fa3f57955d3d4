// SPDX-License-Identifier: Apache-2.0
// How long what the program marked itself (mstx) took on the host and on the device.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/recipe/rank_lines.h"
#include "spans.h"

namespace mpa::recipes {
namespace {

using namespace mstx;

constexpr std::string_view kAllRanges = "all_ranges";

MarkedSpans MapMstxSum(const RankTrace& trace, const RecipeArguments& arguments) {
  return FindMarkedSpans(trace, arguments.contains(kAllRanges));
}

// What has one name, on the device where it was recorded there.
struct NameOnScreen {
  std::string name;
  std::int64_t count = 0;
  double total = 0;
  std::vector<RankValue> means;  // in ns, of each rank
};

std::vector<NameOnScreen> NamesOnScreen(const Ranks& ranks, bool device) {
  std::map<std::string, NameOnScreen> names;
  for (const auto& rank : ranks) {
    std::map<std::uint32_t, std::pair<TimeNs, std::int64_t>> sums;
    for (const MarkedSpan& span : rank.part.spans) {
      const auto time = device ? span.device : std::optional(span.cann);
      if (!time) continue;
      sums[span.name].first += *time;
      ++sums[span.name].second;
    }
    for (const auto& [id, sum] : sums) {
      const std::string& name = rank.part.names[id];
      NameOnScreen& shown = names[name];
      shown.name = name;
      shown.count += sum.second;
      shown.total += static_cast<double>(sum.first);
      shown.means.push_back(
          {rank.rank, static_cast<double>(sum.first) / static_cast<double>(sum.second)});
    }
  }
  std::vector<NameOnScreen> result;
  for (auto& [name, shown] : names) result.push_back(std::move(shown));
  std::stable_sort(result.begin(), result.end(),
                   [](const NameOnScreen& a, const NameOnScreen& b) { return a.total > b.total; });
  return result;
}

std::string MsText(double ns) { return fmt::format("{:.3f} ms", ns / 1e6); }

void AddMstxLines(const Ranks& ranks, Report& report) {
  const bool device = std::any_of(ranks.begin(), ranks.end(), [](const auto& rank) {
    return std::any_of(rank.part.spans.begin(), rank.part.spans.end(),
                       [](const MarkedSpan& span) { return span.device.has_value(); });
  });
  const std::vector<NameOnScreen> names = NamesOnScreen(ranks, device);
  if (names.empty()) return;
  report.lines.push_back(fmt::format("what the program marked, on {} rank{}: mean ms on the {}",
                                     ranks.size(), ranks.size() == 1 ? "" : "s",
                                     device ? "device" : "host"));
  report.lines.push_back(fmt::format("  {:<30} {:>8} {:>10} {:>10} {:>10}", "name", "count", "min",
                                     "median", "max (rank)"));
  constexpr std::size_t kShown = 10;
  OutlierLines outliers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    outliers.Add(names[i].name, names[i].means, MsText);
    if (i >= kShown) continue;
    const RankSpread spread = SpreadOf(names[i].means);
    report.lines.push_back(fmt::format("  {:<30} {:>8} {:>10.3f} {:>10.3f} {:>10.3f} ({})",
                                       CutBeginning(Printable(names[i].name), 30), names[i].count,
                                       spread.min.value / 1e6, spread.median / 1e6,
                                       spread.max.value / 1e6, RankNumber(spread.max.rank)));
  }
  if (names.size() > kShown) {
    report.lines.push_back(fmt::format("  ... {} more names", names.size() - kShown));
  }
  outliers.AppendTo(report.lines);
}

// What was not counted, once for all ranks.
void AddMstxNotes(const Ranks& ranks, Report& report) {
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

void ReduceMstxSum(const Ranks& ranks, const RecipeArguments&, Wanted wanted, Report& report) {
  if (wanted.sheets) AddMstxSheets(ranks, report);
  if (wanted.screen != Detail::kNone) AddMstxLines(ranks, report);
  AddMstxNotes(ranks, report);
}

Verdict JudgeMstxSum(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun()) return verdict;
  if (IsKineto(facts.kind)) return CannotRunOnKineto(facts, "have no mstx marks");
  if (facts.recorded.mstx == Recorded::kNo) {
    return CannotRun("the program set no marks and no ranges (mstx)",
                     "mstx=True with marks or ranges in the program");
  }
  verdict.AddUnknown(facts.recorded.mstx, "marks and ranges (mstx)");
  return verdict;
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
