// SPDX-License-Identifier: Apache-2.0
// What the screen says of counters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/screen_line.h"
#include "mpa/report/screen_list.h"
#include "part.h"
#include "value_text.h"

namespace mpa::recipes::hardware {
namespace {

constexpr std::size_t kMostRows = 14;

// A counter and the rank that reaches most.
struct Reached {
  RankId rank;
  const Counter* counter = nullptr;
};

Reached MostOf(const CounterOfRanks& counter, const Ranks& ranks) {
  const auto most = std::ranges::max_element(
      counter.counters, {}, [](const auto& of_rank) { return of_rank.second->max; });
  return {ranks[most->first].rank, most->second};
}

constexpr std::string_view kBandwidth = "B/s";

// Of one group what is nearer to a known limit, else bandwidths, else of the same unit what is
// more.
bool SaysMore(const Counter& counter, const Counter& other) {
  constexpr double kAlike = 1e-6;  // a port's rate and its share of the bandwidth say the same
  const double nearer = counter.OfLimit() - other.OfLimit();
  if (std::abs(nearer) > kAlike) return nearer > 0;
  if (counter.id.unit != other.id.unit) return counter.id.unit == kBandwidth;
  return counter.max > other.max;
}

// The counter of each group that says most of it, in order of the groups.
std::vector<Reached> ForemostOfGroups(const std::vector<CounterOfRanks>& counters,
                                      const Ranks& ranks) {
  std::vector<Reached> foremost;
  for (const CounterOfRanks& counter : counters) {
    const Reached most = MostOf(counter, ranks);
    if (most.counter->id.kind == CounterKind::kTotal) continue;
    if (foremost.empty() || foremost.back().counter->id.group != most.counter->id.group) {
      foremost.push_back(most);
    } else if (SaysMore(*most.counter, *foremost.back().counter)) {
      foremost.back() = most;
    }
  }
  return foremost;
}

// Close to a known limit, a counter says most; else the first group has the word. Empty: there are
// totals alone.
std::optional<Reached> Foremost(const std::vector<Reached>& groups) {
  constexpr double kClose = 0.8;
  std::optional<Reached> best;
  for (const Reached& reached : groups) {
    if (reached.counter->OfLimit() < kClose) continue;
    if (!best || reached.counter->OfLimit() > best->counter->OfLimit()) best = reached;
  }
  if (!best && !groups.empty()) best = groups.front();
  return best;
}

std::string Sentence(const Reached& reached, bool several) {
  const Counter& counter = *reached.counter;
  const std::string label =
      several ? Say("{0} on {1}", counter.id.Label(), RankText(reached.rank)) : counter.id.Label();
  const std::string value = ValueText(counter.id, counter.max);
  if (counter.id.kind == CounterKind::kLevel && counter.min == counter.max && counter.limit <= 0)
    return Say("{} is {} all the time", label, value);
  // What runs a little of that time is not what the counter tells of.
  const bool runs = counter.id.unit == kBandwidth && !counter.ran.empty() &&
                    2 * counter.ran.front().time >= counter.high;
  if (counter.limit > 0 && counter.id.unit != "%") {
    const std::string share = PercentText(counter.OfLimit());
    return runs ? Say("{} reaches {}, {} of its peak, while {} runs", label, value, share,
                      counter.ran.front().type)
                : Say("{} reaches {}, {} of its peak", label, value, share);
  }
  return runs ? Say("{} reaches {} while {} runs", label, value, counter.ran.front().type)
              : Say("{} reaches {}", label, value);
}

std::vector<ScreenColumn> ValueColumns() {
  return {ScreenText("counter", 30), ScreenText("unit", 9),  ScreenNumber("mean", 8),
          ScreenNumber("p95", 8),    ScreenNumber("max", 8), ScreenPercent("of peak", 9)};
}

void AddCounters(const std::vector<CounterOfRanks>& counters, ScreenLines& lines) {
  const ScreenList list(2, ValueColumns());
  lines.push_back(list.Heading());
  std::size_t rows = 0;
  for (const CounterOfRanks& of_ranks : counters) {
    const Counter& counter = *of_ranks.counters.front().second;
    if (counter.id.kind == CounterKind::kTotal) continue;
    if (rows++ == kMostRows) break;
    const ValueUnit unit = UnitOf(counter.id, counter.max);
    const auto text = [&](double value) {
      return fmt::format("{:.{}f}", value / unit.size, unit.decimals);
    };
    const bool has_peak = counter.limit > 0 && counter.id.unit != "%";
    lines.push_back(list.Line(counter.id.Label(), unit.name, text(counter.mean), text(counter.p95),
                              text(counter.max),
                              has_peak ? Cell(100 * counter.OfLimit()) : Cell()));
  }
}

void AddSpreads(const std::vector<CounterOfRanks>& counters, ScreenLines& lines) {
  const ScreenList list(
      2, {ScreenText("mean of", 30), ScreenText("unit", 9), ScreenNumber("min", 8),
          ScreenNumber("median", 8), ScreenNumber("max", 8), ScreenNumber("rank", 6)});
  lines.push_back(list.Heading());
  std::size_t rows = 0;
  OutlierLines outliers;
  for (const CounterOfRanks& counter : counters) {
    if (counter.first->id.kind == CounterKind::kTotal) continue;
    if (rows++ == kMostRows) break;
    const RankSpread spread = SpreadOf(counter.means);
    const ValueUnit unit = UnitOf(counter.first->id, spread.max.value);
    const auto text = [&](double value) {
      return fmt::format("{:.{}f}", value / unit.size, unit.decimals);
    };
    lines.push_back(list.Line(counter.first->id.Label(), unit.name, text(spread.min.value),
                              text(spread.median), text(spread.max.value),
                              RankName(spread.max.rank)));
    outliers.Add(counter.first->id.Label(), counter.means,
                 [id = counter.first->id](double value) { return ValueText(id, value); });
  }
  outliers.AppendTo(lines);
}

// "  while HBM read and write is high: MatMulV3 61.0 %, Add 12.3 %". What runs explains bandwidths;
// other counters are high most of the time.
void AddWork(const std::vector<Reached>& groups, ScreenLines& lines) {
  constexpr std::size_t kMostTypes = 3;
  for (const Reached& reached : groups) {
    const Counter& counter = *reached.counter;
    if (counter.ran.empty() || counter.id.unit != kBandwidth) continue;
    std::string types;
    for (std::size_t i = 0; i < std::min(kMostTypes, counter.ran.size()); ++i) {
      types += fmt::format("{}{} {}", i > 0 ? ", " : "", counter.ran[i].type,
                           PercentText(static_cast<double>(counter.ran[i].time) /
                                       static_cast<double>(counter.high)));
    }
    const std::string line = Say("  while {} is high: {}", counter.id.Label(), types);
    lines.push_back(CutEnd(line, ScreenColumns()));
  }
}

// The longest of the rank whose kernels take most, with what the counter says of their time where
// they took most of it.
void AddKernels(const Ranks& ranks, ScreenLines& lines) {
  constexpr std::size_t kMostKernels = 5;
  constexpr double kMostOfSamples = 0.5, kGigabyte = 1e9;
  const auto longest = std::ranges::max_element(ranks, {}, [](const auto& rank) {
    TimeNs time = 0;
    for (const MemoryKernels& kernels : rank.part.kernels) time += kernels.time;
    return time;
  });
  if (longest == ranks.end() || longest->part.kernels.empty()) return;
  const std::string heading = ranks.size() > 1
                                  ? Say("held up by memory, {}", RankText(longest->rank))
                                  : Say("kernels that memory holds up");
  const ScreenList list(2, {ScreenText(heading, 30), ScreenNumber("ms", 9), ScreenNumber("GB/s", 8),
                            ScreenPercent("of peak", 9), ScreenNumber("HBM GB/s", 9)});
  lines.push_back(list.Heading());
  const RankCounters& part = longest->part;
  for (std::size_t i = 0; i < std::min(kMostKernels, part.kernels.size()); ++i) {
    const MemoryKernels& kernels = part.kernels[i];
    const double rate = kernels.Rate();
    const auto number = [](double value) { return Cell(fmt::format("{:.1f}", value)); };
    lines.push_back(list.Line(
        kernels.type, fmt::format("{:.2f}", InMs(kernels.time)),
        rate > 0 ? number(rate / kGigabyte) : Cell(),
        rate > 0 && part.memory_peak > 0 ? Cell(100 * rate / part.memory_peak) : Cell(),
        kernels.of_samples >= kMostOfSamples ? number(kernels.counter / kGigabyte) : Cell()));
  }
}

// Losses are evidence however small they are; that more was sent is none.
bool IsLoss(const Counter& counter) {
  return counter.id.kind == CounterKind::kTotal && counter.grown > 0 &&
         ContainsAny(counter.id.name, {"errors", "dropped", "ErrPkt", "BadByte", "PktRty"});
}

void AddLosses(const std::vector<CounterOfRanks>& counters, const Ranks& ranks,
               ScreenLines& lines) {
  for (const CounterOfRanks& of_ranks : counters) {
    for (const auto& [rank, counter] : of_ranks.counters) {
      if (!IsLoss(*counter)) continue;
      lines.push_back(Say("  {}: {} grew by {}", RankText(ranks[rank].rank), counter->id.Label(),
                          ValueText(counter->id, counter->grown)));
      break;  // of several ranks the sheet has all
    }
  }
}

}  // namespace

void AddLines(const Ranks& ranks, Detail detail, Report& report) {
  const bool any =
      std::ranges::any_of(ranks, [](const auto& rank) { return !rank.part.counters.empty(); });
  if (!any) {
    report.notes.push_back(
        Say("no counters of the hardware were recorded; {}", Translated(kHowToRecord)));
  }
  if (detail == Detail::kNone || !any) return;
  ScreenLines& lines = report.lines;
  const std::vector<CounterOfRanks> counters = MainCounters(ranks);
  const std::vector<Reached> groups = ForemostOfGroups(counters, ranks);
  if (const auto foremost = Foremost(groups))
    AddSentence(Sentence(*foremost, ranks.size() > 1), lines);
  if (ranks.size() == 1) {
    AddCounters(counters, lines);
  } else {
    AddSpreads(counters, lines);
  }
  AddWork(groups, lines);
  AddKernels(ranks, lines);
  AddLosses(counters, ranks, lines);
  std::int64_t silent = 0;
  for (const auto& [id, part] : ranks) silent = std::max(silent, part.silent);
  if (silent > 0)
    lines.emplace_back(Say("  up to {} counters were 0 all the time and are left out", silent));
}

}  // namespace mpa::recipes::hardware
