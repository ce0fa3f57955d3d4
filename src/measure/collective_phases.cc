// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/collective_phases.h"

#include <algorithm>
#include <utility>

#include "mpa/measure/collectives.h"

namespace mpa {
namespace {

Intervals PartsWithin(std::span<const CollectivePart> parts, bool waits, const Interval& bounds) {
  std::vector<Interval> found;
  for (const CollectivePart& part : parts) {
    const Interval cut{std::max(part.begin, bounds.begin), std::min(part.end, bounds.end)};
    if (part.waits == waits && cut.begin < cut.end) found.push_back(cut);
  }
  return Union(std::move(found));
}

}  // namespace

bool IsReceive(const RankTrace& trace, std::size_t operation) {
  const std::string kind = CollectiveKindOf(trace, operation);
  return kind == "receive" || kind == "recv";
}

std::vector<CollectivePhase> PhasesOf(const Interval& operation, const LastArrival& arrival,
                                      std::span<const CollectivePart> parts, bool receives,
                                      TimeNs tolerance, TimeNs slow) {
  std::vector<CollectivePhase> phases;
  const auto add = [&](const Intervals& intervals, Leaf leaf) {
    for (const Interval& part : intervals) phases.push_back({part.begin, part.end, leaf});
  };
  if (operation.begin >= operation.end) return phases;
  if (!arrival.known) {
    add({operation}, Leaf::kUnsplit);
    return phases;
  }
  TimeNs met = std::clamp(arrival.time, operation.begin, operation.end);
  if (met <= operation.begin + tolerance) met = operation.begin;
  if (operation.begin < met) {
    add({{operation.begin, met}}, receives ? Leaf::kBubble : Leaf::kWaitPeer);
  }
  const TimeNs slow_from = std::max(met, operation.end - std::max<TimeNs>(slow, 0));
  if (met < slow_from && parts.empty()) {
    add({{met, slow_from}}, Leaf::kTransfer);
  } else if (met < slow_from) {
    const Interval within{met, slow_from};
    const Intervals transfers = PartsWithin(parts, /*waits=*/false, within);
    const Intervals waits = Difference(PartsWithin(parts, /*waits=*/true, within), transfers);
    add(transfers, Leaf::kTransfer);
    add(waits, Leaf::kInnerWait);
    add(Difference({within}, Union(transfers, waits)), Leaf::kInnerIdle);
  }
  if (slow_from < operation.end) add({{slow_from, operation.end}}, Leaf::kSlow);
  std::sort(phases.begin(), phases.end(),
            [](const CollectivePhase& a, const CollectivePhase& b) { return a.begin < b.begin; });
  return phases;
}

}  // namespace mpa
