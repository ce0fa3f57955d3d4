// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/collective_tasks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>

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

}  // namespace

std::vector<std::int64_t> OperationsOfTasks(const RankTrace& trace) {
  OperationFinder finder(trace, trace.communications.RowsByStart());
  std::vector<std::int64_t> operations(trace.comm_tasks.Size(), -1);
  for (const std::size_t task : trace.comm_tasks.RowsByStart()) {
    if (const auto operation = finder.Find(task)) {
      operations[task] = static_cast<std::int64_t>(*operation);
    }
  }
  return operations;
}

bool IsLcclKernel(std::string_view name) { return EqualsIgnoringCase(name, "kernel_aivec"); }

}  // namespace mpa
