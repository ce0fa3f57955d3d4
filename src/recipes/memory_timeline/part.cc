// SPDX-License-Identifier: Apache-2.0
#include "part.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "holders.h"
#include "mpa/measure/memory_growth.h"
#include "mpa/model/step_bounds.h"

namespace mpa::recipes::memory_timeline {
namespace {

constexpr std::size_t kMaxLeaks = 50;

std::vector<Leak> LeaksOf(const HostSteps& steps, const std::vector<Life>& lives,
                          const HolderNames& names) {
  struct Found {
    Leak leak;
    std::set<std::size_t> steps;
  };
  std::map<Holder, Found> found;
  for (const Life& life : lives) {
    if (life.category == Category::kOptimizerState || life.category == Category::kParameter)
      continue;
    const auto step = steps.OfHostTime(life.asked);
    if (!step || *step + 1 >= steps.Count() || life.end <= steps.HostEnd(*step + 1)) continue;
    Found& one = found[names.Of(life)];
    one.steps.insert(*step);
    ++one.leak.count;
    one.leak.bytes += life.bytes;
    if (life.end == kNever) one.leak.still_held += life.bytes;
  }
  std::vector<Leak> leaks;
  for (auto& [holder, one] : found) {
    if (one.steps.size() < 2) continue;  // a state that is kept from then on
    one.leak.holder = holder;
    one.leak.steps = static_cast<std::int64_t>(one.steps.size());
    one.leak.first_step = steps.Id(*one.steps.begin());
    one.leak.last_step = steps.Id(*one.steps.rbegin());
    leaks.push_back(std::move(one.leak));
  }
  SortByBytes(leaks, kMaxLeaks);
  return leaks;
}

StepMemory MemoryIn(const Window& window, std::int32_t id, const Curve& curve) {
  StepMemory step{.id = id,
                  .begin = window.begin,
                  .end = window.end,
                  .at_begin = curve.At(window.begin),
                  .at_end = curve.At(window.end)};
  if (const auto peak = curve.PeakWithin(window)) {
    step.peak = curve.bytes[*peak];
    step.peak_time = std::max(curve.times[*peak], window.begin);
  }
  return step;
}

std::int64_t BeyondTotals(const std::vector<Life>& lives, const MemoryTotals& totals) {
  const auto last = std::find_if(totals.All().rbegin(), totals.All().rend(),
                                 [](const auto& total) { return total.allocated >= 0; });
  if (last == totals.All().rend()) return 0;
  std::int64_t held = 0;
  for (const Life& life : lives) {
    if (!life.of_runtime && life.Holds(last->time)) held += life.bytes;
  }
  return std::max<std::int64_t>(held - last->allocated, 0);
}

}  // namespace

std::optional<std::int64_t> RankMemory::GrowthPerStep() const {
  std::vector<std::int64_t> levels;
  for (const StepMemory& step : steps) levels.push_back(step.at_begin);
  return UsualGrowth(levels);
}

RankMemory MemoryOf(const RankTrace& trace, std::optional<std::int32_t> chosen) {
  RankMemory part;
  part.snapshots = SnapshotsOf(trace);
  part.is_snapshot = trace.source == "snapshot";
  part.lacks_addresses = trace.lacks_addresses;
  if (part.lacks_addresses) return part;
  const OpTree ops(trace);
  const std::vector<Life> lives = LivesOf(ops);
  const MemoryTotals totals(trace);
  part.allocations = static_cast<std::int64_t>(lives.size());
  part.has_totals = totals.HasAllocated();
  if (lives.empty()) return part;
  const HostSteps steps(trace.steps);
  part.is_listed = std::ranges::any_of(
      trace.allocations.role, [](TensorRole role) { return role != TensorRole::kNotListed; });
  part.events = EventsOf(trace, lives, totals);
  if (!part.is_listed) EstimateBefore(trace, part.events);
  for (const Event& event : part.events) {
    if (event.time >= 0) break;
    part.before += event.bytes;
    if (event.category != Category::kBefore) part.before_explained += event.bytes;
  }
  const auto first = std::ranges::find_if(part.events, [](const Event& e) { return e.time >= 0; });
  Window window{first->time, part.events.back().time};
  if (steps.Count() > 0) window.begin = std::min(window.begin, steps.HostBegin(0));
  if (chosen) {
    const auto step = steps.Find(*chosen);
    window = {steps.HostBegin(*step), steps.HostEnd(*step)};
    part.events = CutTo(window, part.events);
  }
  part.begin = window.begin;
  part.end = window.end;
  const HolderNames names(ops);
  const auto holder_of = [&](const Life& life) { return names.Of(life); };
  part.leaks = LeaksOf(steps, lives, names);
  const Curve curve = CurveOf(part.events, window.begin);
  const auto peak = curve.PeakWithin(window);
  if (!peak) return part;
  part.points = LevelsAt(Thinned(curve, kMaxPoints), curve, part.events, totals);
  part.peak = LevelsAt({*peak}, curve, part.events, totals).front();
  part.holders = HoldersAt(*part.peak, lives, holder_of);
  part.bands = BandsOf(*part.peak, part.holders, part.points, lives, holder_of);
  if (const auto step = steps.OfHostTime(part.peak->time)) part.peak_step = steps.Id(*step);
  part.most_recorded = totals.MostAllocated();
  part.most_reserved = totals.MostReserved();
  part.beyond_totals = BeyondTotals(lives, totals);
  for (std::size_t step = 0; step < steps.Count(); ++step) {
    if (chosen && steps.Id(step) != *chosen) continue;
    part.steps.push_back(
        MemoryIn({steps.HostBegin(step), steps.HostEnd(step)}, steps.Id(step), curve));
  }
  if (part.steps.empty()) part.steps.push_back(MemoryIn(window, -1, curve));
  return part;
}

}  // namespace mpa::recipes::memory_timeline
