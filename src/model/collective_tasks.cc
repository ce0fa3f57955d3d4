// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/collective_tasks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "mpa/base/text.h"

namespace mpa {
namespace {

// Operations in order of start, asked for times that never go back.
class Timeline {
 public:
  explicit Timeline(const Communications& comms) : comms_(&comms) {}

  void Append(std::size_t row) { rows_.push_back(row); }

  // The first operation that holds `time`; both of its ends belong to it. Where none does, the
  // nearest one: operations are timed by one of their planes, and tasks of others may run before or
  // behind it, but not further away than it is long.
  std::optional<std::size_t> At(TimeNs time) {
    while (next_ < rows_.size() && End(rows_[next_]) < time) {
      if (!ended_ || End(rows_[next_]) > End(*ended_)) ended_ = rows_[next_];
      ++next_;
    }
    std::optional<std::size_t> nearest;
    TimeNs least = 0;
    const auto consider = [&](std::size_t row, TimeNs distance) {
      if (distance > comms_->dur[row] || (nearest && distance >= least)) return;
      nearest = row;
      least = distance;
    };
    if (ended_) consider(*ended_, time - End(*ended_));
    if (next_ < rows_.size()) {
      consider(rows_[next_], std::max<TimeNs>(0, comms_->start[rows_[next_]] - time));
    }
    return nearest;
  }

 private:
  TimeNs End(std::size_t row) const { return comms_->start[row] + comms_->dur[row]; }

  const Communications* comms_;
  std::vector<std::size_t> rows_;
  std::size_t next_ = 0;
  std::optional<std::size_t> ended_;  // of those before `next_` the one that ended last
};

// Finds the operation of a task: by the operation's id where the task has one, else by the time
// within the task's group. Only where the group is unknown the time alone decides.
class OperationFinder {
 public:
  OperationFinder(const RankTrace& trace, const std::vector<std::size_t>& by_start)
      : trace_(trace), of_group_(trace.comm_groups.Size(), Timeline(trace.communications)) {
    const Communications& comms = trace.communications;
    for (const std::size_t row : by_start) {
      if (comms.op_id[row] >= 0) by_id_.try_emplace(comms.op_id[row], row);
      if (comms.group[row] >= 0) of_group_[static_cast<std::size_t>(comms.group[row])].Append(row);
      of_all_.Append(row);
    }
  }

  // To be asked for tasks in order of start.
  std::optional<std::size_t> Find(std::size_t task) {
    const CommTasks& tasks = trace_.comm_tasks;
    if (tasks.op_id[task] >= 0) {
      const auto found = by_id_.find(tasks.op_id[task]);
      return found != by_id_.end() ? std::optional(found->second) : std::nullopt;
    }
    return TimelineOf(tasks.group[task]).At(tasks.start[task]);
  }

 private:
  Timeline& TimelineOf(std::int32_t group) {
    if (group < 0) return of_all_;
    const auto number = static_cast<std::size_t>(group);
    const bool unknown = trace_.strings.View(trace_.comm_groups.name[number]) == kUnknownGroup;
    return unknown ? of_all_ : of_group_[number];
  }

  const RankTrace& trace_;
  std::unordered_map<std::int64_t, std::size_t> by_id_;
  std::vector<Timeline> of_group_;
  Timeline of_all_{trace_.communications};
};

// Operations of a group that run at one time, such as sending and receiving, have streams of their
// own. A task belongs to the one whose beginning its stream shows.
class StreamOwners {
 public:
  StreamOwners(const RankTrace& trace, const std::vector<std::size_t>& by_start) : trace_(trace) {
    const Communications& comms = trace.communications;
    for (const std::size_t row : by_start) operations_[comms.group[row]].push_back(row);
    const CommTasks& tasks = trace.comm_tasks;
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      if (IsOpen(i)) starts_[{tasks.group[i], tasks.stream[i]}].push_back(tasks.start[i]);
    }
    for (auto& [place, starts] : starts_) std::ranges::sort(starts);
  }

  // The better owner of a task than `found`, if there is one.
  std::int64_t OwnerOf(std::size_t task, std::int64_t found) const {
    const CommTasks& tasks = trace_.comm_tasks;
    const Communications& comms = trace_.communications;
    const auto operations = operations_.find(tasks.group[task]);
    if (!IsOpen(task) || operations == operations_.end()) return found;
    const std::vector<TimeNs>& starts = starts_.at({tasks.group[task], tasks.stream[task]});
    const TimeNs time = tasks.start[task];
    const std::vector<std::size_t>& rows = operations->second;
    auto at = std::partition_point(rows.begin(), rows.end(),
                                   [&](std::size_t row) { return comms.start[row] <= time; });
    std::int64_t best = found;
    TimeNs least = 0;
    std::size_t running = 0;
    for (int i = 0; i < kMaxAtOnce && at != rows.begin(); ++i) {
      const std::size_t row = *--at;
      if (comms.start[row] + comms.dur[row] < time) continue;
      ++running;
      const auto first = std::lower_bound(starts.begin(), starts.end(), comms.start[row]);
      const TimeNs away = *first - comms.start[row];  // not beyond the task itself
      if (running > 1 && away >= least) continue;
      best = static_cast<std::int64_t>(row);
      least = away;
    }
    return running > 1 ? best : found;
  }

 private:
  static constexpr int kMaxAtOnce = 8;

  bool IsOpen(std::size_t task) const {
    const CommTasks& tasks = trace_.comm_tasks;
    return tasks.op_id[task] < 0 && tasks.stream[task] >= 0 && tasks.group[task] >= 0;
  }

  const RankTrace& trace_;
  std::map<std::int32_t, std::vector<std::size_t>> operations_;                  // by group
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<TimeNs>> starts_;  // of tasks
};

}  // namespace

std::vector<std::int64_t> OperationsOfTasks(const RankTrace& trace) {
  const std::vector<std::size_t> by_start = trace.communications.RowsByStart();
  OperationFinder finder(trace, by_start);
  const StreamOwners owners(trace, by_start);
  std::vector<std::int64_t> operations(trace.comm_tasks.Size(), -1);
  for (const std::size_t task : trace.comm_tasks.RowsByStart()) {
    if (const auto operation = finder.Find(task)) {
      operations[task] = owners.OwnerOf(task, static_cast<std::int64_t>(*operation));
    }
  }
  return operations;
}

bool IsLcclKernel(std::string_view name) { return EqualsIgnoringCase(name, "kernel_aivec"); }

}  // namespace mpa
