// SPDX-License-Identifier: Apache-2.0
// Per communication group: how much of its time nothing hides, and how much of that is waiting.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "mpa/measure/intervals.h"
#include "mpa/measure/overall_metrics.h"

namespace mpa {
namespace {

// The last four tasks of a plane. A Notify_Wait that ends an RDMA handshake (RDMASend, RDMASend,
// Notify_Wait, RDMASend, Notify_Wait, or its first three) is transfer, not waiting.
class Handshake {
 public:
  // Takes the next task of the plane; true when it is a Notify_Wait that counts as waiting.
  bool IsWait(std::string_view task) {
    const bool notify_wait = task == "Notify_Wait";
    const bool in_handshake =
        (last_[2] == 'R' && last_[3] == 'R') || last_ == std::array{'R', 'R', 'N', 'R'};
    std::rotate(last_.begin(), last_.begin() + 1, last_.end());
    last_[3] = task == "RDMASend" ? 'R' : notify_wait ? 'N' : 'O';
    return notify_wait && !in_handshake;
  }

 private:
  std::array<char, 4> last_ = {'O', 'O', 'O', 'O'};
};

struct Plane {
  Handshake handshake;
  std::vector<Interval> waits;
  TimeNs total = 0;
};

// Everything about one group that the tasks tell.
struct GroupTasks {
  std::map<std::int64_t, Plane> planes;
  std::vector<std::int64_t> planes_by_first_wait;

  // The waits of the plane that waited least, because it transferred longest and so decided when
  // the operation was done. Planes that never waited say nothing about waiting.
  Intervals Waits() const {
    const Plane* least = nullptr;
    for (const std::int64_t id : planes_by_first_wait) {
      const Plane& plane = planes.at(id);
      if (least == nullptr || plane.total < least->total) least = &plane;
    }
    return least != nullptr ? Union(least->waits) : Intervals();
  }
};

// By group.
std::vector<GroupTasks> SurveyTasks(const RankTrace& trace) {
  const CommTasks& tasks = trace.comm_tasks;
  std::vector<std::size_t> order(tasks.Size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tasks.start[a] < tasks.start[b]; });
  std::vector<GroupTasks> groups(trace.comm_groups.Size());
  for (const std::size_t row : order) {
    GroupTasks& group = groups[static_cast<std::size_t>(tasks.group[row])];
    Plane& plane = group.planes[tasks.plane[row]];
    if (!plane.handshake.IsWait(trace.strings.View(tasks.name[row]))) continue;
    if (plane.waits.empty()) group.planes_by_first_wait.push_back(tasks.plane[row]);
    plane.waits.push_back({tasks.start[row], tasks.start[row] + tasks.dur[row]});
    plane.total += tasks.dur[row];
  }
  return groups;
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
  metrics.has_waits = std::any_of(trace.comm_tasks.name.begin(), trace.comm_tasks.name.end(),
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

  const std::vector<GroupTasks> tasks = SurveyTasks(trace);
  const std::vector<std::size_t> order = GroupOrder(trace);
  for (const std::size_t group : order) {
    metrics.groups.push_back(
        {.name = std::string(trace.strings.View(groups.name[group])),
         .process_group = std::string(trace.strings.View(groups.process_group[group])),
         .exposed = Length(exposed_of[group]),
         .wait = Length(Intersection(exposed_of[group], tasks[group].Waits())),
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
