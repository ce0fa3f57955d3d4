// SPDX-License-Identifier: Apache-2.0
// Per communication group: how much of its time nothing hides, and how much of that is waiting.
#include <algorithm>
#include <limits>
#include <numeric>

#include "mpa/measure/collective_phases.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/overall_metrics.h"

namespace mpa {
namespace {

// By group: when the rank had come to an operation and another member had not, and nothing of the
// group was on its way. One definition with the accounting of the step.
std::vector<Intervals> WaitsOfGroups(const RankTrace& trace, const CollectiveParts& parts) {
  const Communications& comms = trace.communications;
  const std::vector<LastArrival> arrivals = OwnLastArrivals(trace, parts);
  std::vector<std::vector<Interval>> waits(trace.comm_groups.Size()), others(waits.size());
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (comms.group[i] < 0) continue;
    const auto group = static_cast<std::size_t>(comms.group[i]);
    const Interval operation{comms.start[i], comms.start[i] + comms.dur[i]};
    for (const CollectivePhase& phase :
         PhasesOf(operation, arrivals[i], parts.Of(i), /*receives=*/false, kArrivalTolerance,
                  /*slow=*/0)) {
      (phase.leaf == Leaf::kWaitPeer ? waits : others)[group].push_back({phase.begin, phase.end});
    }
  }
  std::vector<Intervals> of_groups;
  for (std::size_t group = 0; group < waits.size(); ++group) {
    of_groups.push_back(
        Difference(Union(std::move(waits[group])), Union(std::move(others[group]))));
  }
  return of_groups;
}

// By their first operations: the numbers of groups mean something else in each format.
std::vector<std::size_t> GroupOrder(const RankTrace& trace) {
  const Communications& comms = trace.communications;
  std::vector<TimeNs> first(trace.comm_groups.Size(), std::numeric_limits<TimeNs>::max());
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (comms.group[i] < 0) continue;
    TimeNs& its_first = first[static_cast<std::size_t>(comms.group[i])];
    its_first = std::min(its_first, comms.start[i]);
  }
  std::vector<std::size_t> order(first.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return first[a] < first[b]; });
  return order;
}

std::string LabelOf(const RankTrace& trace, std::size_t group) {
  const std::string_view process_group = trace.strings.View(trace.comm_groups.process_group[group]);
  return std::string(!process_group.empty() ? process_group
                                            : trace.strings.View(trace.comm_groups.name[group]));
}

}  // namespace

void ComputeGroupTimes(const RankTrace& trace, const Intervals& exposed, OverallMetrics& metrics) {
  const CommGroups& groups = trace.comm_groups;
  const Communications& comms = trace.communications;
  metrics.has_too_many_groups = groups.Size() > kMostGroups;
  if (metrics.has_too_many_groups) return;
  const CollectiveParts parts(trace);
  metrics.has_waits =
      !parts.Empty() || std::any_of(trace.comm_tasks.name.begin(), trace.comm_tasks.name.end(),
                                    [](StringId name) { return name != StringId::kEmpty; });

  std::vector<std::vector<Interval>> operations(groups.Size());
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (comms.group[i] < 0) continue;
    operations[static_cast<std::size_t>(comms.group[i])].push_back(
        {comms.start[i], comms.start[i] + comms.dur[i]});
  }
  std::vector<Intervals> exposed_of(groups.Size());
  for (std::size_t group = 0; group < groups.Size(); ++group) {
    exposed_of[group] = Intersection(exposed, Union(std::move(operations[group])));
  }

  const std::vector<Intervals> waits = WaitsOfGroups(trace, parts);
  const std::vector<std::size_t> order = GroupOrder(trace);
  for (const std::size_t group : order) {
    metrics.groups.push_back(
        {.name = std::string(trace.strings.View(groups.name[group])),
         .process_group = std::string(trace.strings.View(groups.process_group[group])),
         .exposed = Length(exposed_of[group]),
         .wait = Length(Intersection(exposed_of[group], waits[group])),
         .ranks = groups.ranks[group]});
  }

  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const std::size_t first = order[i];
      const std::size_t second = order[j];
      const TimeNs time = Length(Intersection(exposed_of[first], exposed_of[second]));
      if (time == 0) continue;
      metrics.group_overlaps.push_back({LabelOf(trace, first), LabelOf(trace, second), time});
    }
  }
}

}  // namespace mpa
