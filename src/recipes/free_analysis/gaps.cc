// SPDX-License-Identifier: Apache-2.0
#include "gaps.h"

#include <algorithm>

#include "mpa/base/first_seen.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/memory_copies.h"

namespace mpa::free_analysis {
namespace {

// What the device did in order of start, asked for what lies next to a gap.
class Neighbours {
 public:
  explicit Neighbours(const RankTrace& trace) : trace_(trace) {
    for (const Dispatch& dispatch : FindDispatches(trace)) {
      if (dispatch.work.end > dispatch.work.begin) work_.push_back(dispatch);
    }
    for (std::size_t i = 0; i < work_.size(); ++i) {
      const bool outlasts = i > 0 && work_[last_[i - 1]].work.end > work_[i].work.end;
      last_.push_back(outlasts ? last_[i - 1] : i);
    }
  }

  // Of the work that begins before the gap what ends last.
  HostSide Before(const Interval& gap) const {
    const std::size_t next = FirstFrom(gap.begin);
    return next > 0 ? SideOf(work_[last_[next - 1]]) : HostSide();
  }
  HostSide Behind(const Interval& gap) const {
    const std::size_t next = FirstFrom(gap.begin);
    return next < work_.size() ? SideOf(work_[next]) : HostSide();
  }

 private:
  std::size_t FirstFrom(TimeNs time) const {
    const auto at = std::partition_point(
        work_.begin(), work_.end(), [&](const Dispatch& one) { return one.work.begin < time; });
    return static_cast<std::size_t>(at - work_.begin());
  }

  HostSide SideOf(const Dispatch& dispatch) const {
    HostSide side;
    if (dispatch.call >= 0) {
      const auto row = static_cast<std::size_t>(dispatch.call);
      const TimeNs begin = trace_.host_calls.start[row];
      side.call = Interval{begin, begin + trace_.host_calls.dur[row]};
    }
    if (dispatch.op >= 0) {
      const auto row = static_cast<std::size_t>(dispatch.op);
      side.op_end = trace_.host_ops.start[row] + trace_.host_ops.dur[row];
    }
    return side;
  }

  const RankTrace& trace_;
  std::vector<Dispatch> work_;
  std::vector<std::size_t> last_;  // by work: of it and those before what ends last
};

// Tasks that take time, in order of start. Ranges that the program marked are not tasks.
std::vector<std::size_t> RunningTasks(const RankTrace& trace) {
  const DeviceTasks& tasks = trace.device_tasks;
  std::vector<std::size_t> rows = tasks.RowsByStart();
  std::erase_if(rows, [&](std::size_t row) {
    return tasks.dur[row] <= 0 || trace.strings.View(tasks.type[row]).starts_with("MSTX_");
  });
  return rows;
}

void AddTasks(const RankTrace& trace, const std::vector<std::size_t>& by_start, Gap& gap) {
  const DeviceTasks& tasks = trace.device_tasks;
  FirstSeen<std::string, std::size_t> counts;
  std::vector<Interval> running;
  auto at = std::partition_point(by_start.begin(), by_start.end(), [&](std::size_t row) {
    return tasks.start[row] < gap.time.begin;
  });
  for (; at != by_start.end() && tasks.start[*at] < gap.time.end; ++at) {
    const TimeNs end = tasks.start[*at] + tasks.dur[*at];
    if (end > gap.time.end) continue;
    ++counts[std::string(TaskKind(trace, *at))];
    running.push_back({tasks.start[*at], end});
  }
  gap.tasks = counts.rows();
  std::stable_sort(gap.tasks.begin(), gap.tasks.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const Interval& rest : Difference({gap.time}, Union(std::move(running)))) {
    gap.longest_rest = std::max(gap.longest_rest, rest.end - rest.begin);
  }
}

}  // namespace

std::vector<Gap> FindGaps(const RankTrace& trace, std::size_t most) {
  const Activities activities = ActivitiesOf(trace);
  const Intervals busy =
      Union(Union(activities.computing, activities.exposed), Union(activities.lccl));
  std::vector<Gap> longest;
  if (busy.empty()) return longest;
  Intervals free = Difference({{busy.front().begin, busy.back().end}}, busy);
  std::stable_sort(free.begin(), free.end(), [](const Interval& a, const Interval& b) {
    return a.end - a.begin > b.end - b.begin;
  });
  if (free.size() > most) free.resize(most);
  if (free.empty()) return longest;
  const Neighbours neighbours(trace);
  const std::vector<std::size_t> tasks = RunningTasks(trace);
  for (const Interval& time : free) {
    Gap& gap = longest.emplace_back();
    gap.time = time;
    gap.before = neighbours.Before(time);
    gap.behind = neighbours.Behind(time);
    AddTasks(trace, tasks, gap);
  }
  return longest;
}

}  // namespace mpa::free_analysis
