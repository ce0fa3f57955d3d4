// SPDX-License-Identifier: Apache-2.0
// Ranks whose AI cores ran at a reduced clock.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"

namespace mpa::recipes::freq_analysis {
namespace {

// Stretches of equal length in which the clock of a rank is kept, of its whole time.
constexpr std::size_t kStretches = 200;

struct Clocks {
  std::vector<std::int64_t> mhz;     // that were measured, ascending
  std::int64_t nominal = 0;          // of the chip; 0: unknown
  TimeNs length = 0;                 // from the first measurement to the last
  std::vector<std::int64_t> lowest;  // in each stretch; empty: the clock never changed
};

// Each value holds until the next. Several devices: the lowest of those measured in the stretch.
std::vector<std::int64_t> LowestOverTime(const CoreClocks& clocks, TimeNs length) {
  std::vector<std::int64_t> lowest(kStretches, std::numeric_limits<std::int64_t>::max());
  const std::vector<std::size_t> rows = clocks.RowsByStart();
  const TimeNs first = clocks.start[rows.front()];
  const auto stretch_of = [&](TimeNs time) {
    const double share = static_cast<double>(time - first) / static_cast<double>(length);
    return std::min(kStretches - 1, static_cast<std::size_t>(share * kStretches));
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t last =
        i + 1 < rows.size() ? stretch_of(clocks.start[rows[i + 1]]) : kStretches - 1;
    for (std::size_t at = stretch_of(clocks.start[rows[i]]); at <= last; ++at)
      lowest[at] = std::min(lowest[at], clocks.mhz[rows[i]]);
  }
  return lowest;
}

Clocks MapFreqAnalysis(const RankTrace& trace, const RecipeArguments&) {
  Clocks part;
  const std::set<std::int64_t> distinct(trace.core_clocks.mhz.begin(), trace.core_clocks.mhz.end());
  part.mhz.assign(distinct.begin(), distinct.end());
  if (distinct.size() > 1) {
    const auto [first, last] = std::ranges::minmax(trace.core_clocks.start);
    part.length = last - first;
    if (part.length > 0) part.lowest = LowestOverTime(trace.core_clocks, part.length);
  }
  for (std::size_t i = 0; i < trace.chips.Size(); ++i) {
    part.nominal = std::max(part.nominal, static_cast<std::int64_t>(trace.chips.cube_mhz[i]));
  }
  return part;
}

using Ranks = std::vector<OfRank<Clocks>>;

// The nominal clock where the chip says it; else the highest that most ranks reached.
std::int64_t NominalOf(const Ranks& ranks) {
  std::map<std::int64_t, std::size_t> votes;
  std::int64_t nominal = 0;
  for (const auto& rank : ranks) {
    nominal = std::max(nominal, rank.part.nominal);
    if (!rank.part.mhz.empty()) ++votes[rank.part.mhz.back()];
  }
  if (nominal > 0) return nominal;
  std::size_t most = 0;
  for (const auto& [mhz, count] : votes) {
    if (count >= most) {
      nominal = mhz;
      most = count;
    }
  }
  return nominal;
}

enum class ClockState { kNormal, kIdle, kAbnormal };

// A chip without work lowers its clock to the idle one.
ClockState StateOf(const Clocks& clocks, std::int64_t nominal) {
  constexpr std::int64_t kIdleMhz = 800;
  if (clocks.mhz == std::vector{nominal}) return ClockState::kNormal;
  return clocks.mhz == std::vector{kIdleMhz, nominal} ? ClockState::kIdle : ClockState::kAbnormal;
}

std::vector<ColumnOf<RowOfRank<Clocks>>> ClockColumns() {
  using Item = RowOfRank<Clocks>;
  return {CountColumn<&Item::rank, kRank>("rankId", 10, "The rank."),
          {NamedColumn("aicoreFrequency", Format::kText, 30,
                       "The clocks of the AI cores that were measured, in MHz."),
           [](const Item& item) -> Cell {
             return fmt::format("[{}]", fmt::join(item.row->mhz, ", "));
           }}};
}

// A line for each of the ranks whose clock was lowest, over the time since their first measurement.
std::optional<PageChart> ClockChart(const Ranks& ranks) {
  constexpr std::size_t kMostLines = 8;
  std::vector<const OfRank<Clocks>*> shown;
  for (const auto& rank : ranks) {
    if (!rank.part.lowest.empty()) shown.push_back(&rank);
  }
  if (shown.empty()) return std::nullopt;
  const std::size_t changed = shown.size();
  StableSort(shown, std::less{}, [](const auto* rank) { return rank->part.mhz.front(); });
  shown.resize(std::min(kMostLines, changed));
  TimeNs longest = 0;
  for (const auto* rank : shown) longest = std::max(longest, rank->part.length);
  PageChart chart{.kind = PageChart::Kind::kLines,
                  .title = Say("Clock of the AI cores over time"),
                  .note = Say("The lowest clock in each of {} stretches, from the first measurement"
                              " of each rank. Shown are {} of {} ranks whose clock changed, the"
                              " lowest first.",
                              kStretches, shown.size(), changed),
                  .unit = "MHz",
                  .unit_of_places = "ms"};
  for (std::size_t i = 0; i < kStretches; ++i)
    chart.at.push_back(InMs(longest) * (static_cast<double>(i) + 0.5) / kStretches);
  for (const auto* rank : shown) {
    PageSeries& series = chart.series.emplace_back(PageSeries{.name = RankText(rank->rank)});
    for (const double at : chart.at) {
      const double share = at / InMs(rank->part.length);
      series.values.push_back(
          share >= 1 ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(
                           rank->part.lowest[static_cast<std::size_t>(share * kStretches)]));
    }
  }
  return chart;
}

void CheckClocks(const Clocks& part) {
  if (!part.lowest.empty() && (part.lowest.size() != kStretches || part.length <= 0))
    Fail(ErrorKind::kCorrupt, "the clock over time is impossible");
}

void ReduceFreqAnalysis(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                        Report& report) {
  const std::int64_t nominal = NominalOf(ranks);
  ItemSheet idle("FreeFrequencyRanks", ClockColumns());
  ItemSheet abnormal("AbnormalFrequencyRanks", ClockColumns());
  std::vector<RankId> unknown;
  for (const auto& [id, part] : ranks) {
    if (part.mhz.empty()) {
      unknown.push_back(id);
      continue;
    }
    const ClockState state = StateOf(part, nominal);
    const RankIndex rank = BeginRank(id, report);
    if (state == ClockState::kIdle) idle.Add({id, &part}, rank);
    if (state == ClockState::kAbnormal) abnormal.Add({id, &part}, rank);
  }
  if (!unknown.empty()) {
    report.notes.push_back(
        Say("the clock of {} was not measured (rank {}); only NPUs record it, with"
            " profiler_level=Level1 and aic_metrics",
            Counted(unknown.size(), "rank"), RankName(unknown.front())));
  }
  if (unknown.size() == ranks.size()) {
    report.lines.emplace_back(Say("the clocks of the cores were not measured"));
  } else if (wanted.screen != Detail::kNone) {
    const std::size_t known = ranks.size() - unknown.size(), reduced = abnormal.sheet.rows.size();
    report.lines.push_back(
        reduced > 0 ? Say("AI cores of {} of {} ranks ran at a reduced clock, nominal is {} MHz",
                          reduced, known, nominal)
                    : Say("no AI core ran at a reduced clock: {}, nominal {} MHz",
                          Counted(known, "rank"), nominal));
    if (!idle.sheet.rows.empty())
      report.lines.push_back(Say("  {} were idle at times", idle.sheet.rows.size()));
    constexpr std::size_t kShown = 10;
    std::size_t shown = 0;
    for (const auto& [id, part] : ranks) {
      if (part.mhz.empty() || StateOf(part, nominal) != ClockState::kAbnormal) continue;
      if (shown++ == kShown) break;
      report.lines.push_back(Say("  {}: {} to {} MHz ({} values)", RankText(id), part.mhz.front(),
                                 part.mhz.back(), part.mhz.size()));
    }
  }
  if (wanted.sheets) {
    if (auto chart = ClockChart(ranks)) report.drawings.push_back(std::move(*chart));
  }
  for (Sheet* sheet : {&idle.sheet, &abnormal.sheet}) {
    if (wanted.sheets && !sheet->rows.empty()) report.sheets.push_back(std::move(*sheet));
  }
}

Verdict JudgeFreqAnalysis(const RankFacts& facts) {
  return JudgeReadable(facts)
      .Refuse(facts.kind == CaptureKind::kGpu, "only NPU clocks are examined", "")
      .RefuseKineto(facts, "have no clocks");
}

}  // namespace

Recipe FreqAnalysis() {
  return MakeRecipe<MapFreqAnalysis, ReduceFreqAnalysis, CheckClocks>(
      {.name = "freq_analysis",
       .folder = "FreqAnalysis",
       .summary = "ranks whose AI cores ran at a reduced clock",
       .needs = Tables::kCoreClocks | Tables::kChips,
       .can_run = JudgeFreqAnalysis,
       .empty_is_answer = true});
}

}  // namespace mpa::recipes::freq_analysis
