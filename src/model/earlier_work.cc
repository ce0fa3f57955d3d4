// SPDX-License-Identifier: Apache-2.0
// Work of a device that was queued before the profiler began.
#include "mpa/model/earlier_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/model/launches.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

// Work runs in order on a stream, and the operations of a group do.
using DeviceQueue = std::pair<bool, std::int64_t>;  // whether it is a group, and its number

template <typename Table>
DeviceQueue DeviceQueueOf(const Table& table, std::size_t row) {
  if constexpr (std::is_same_v<Table, Communications>) {
    return {true, table.group[row]};
  } else {
    return {false, table.stream[row]};
  }
}

class EarlierWork {
 public:
  explicit EarlierWork(RankTrace& trace)
      : trace_(trace), index_(trace), busiest_(mpa::BusiestStream(trace, index_)) {
    VisitTables([&](const auto& table) { NoteLaunched(table); });
    // Work without a launch may belong to a launch without work.
    for (const TimeNs launch : trace.unanswered_launches.time) latest_ = std::min(latest_, launch);
  }

  std::int64_t BusiestStream() const { return busiest_; }

  bool IsKnown() { return first_launched_ != kNever && FirstStepLaunches() && RunsAtTheBegin(); }
  // Most of what runs later has a launch.
  bool LaterWorkHasLaunches() {
    TimeNs launched = 0, others = 0;
    VisitTables([&](const auto& table) {
      for (std::size_t row = 0; row < table.Size(); ++row) {
        if (!IsEarlier(table, row)) (HasLaunch(table, row) ? launched : others) += table.dur[row];
      }
    });
    return others <= launched / 10;
  }

  TimeNs End() {
    TimeNs end = 0;
    VisitTables([&](const auto& table) {
      for (std::size_t row = 0; row < table.Size(); ++row) {
        if (IsEarlier(table, row)) end = std::max(end, table.End(row));
      }
    });
    return std::min(end, FirstOfBusiestStream().first_launched);
  }
  void LeaveOut() {
    VisitTables([&](auto& table) {
      table.Filter([&](std::size_t row) { return !IsEarlier(table, row); });
    });
  }
  // Until when the device worked on what was launched before and is not recorded; 0: not at all, or
  // it is not known.
  TimeNs EndOfUnrecorded() {
    if (first_launched_ == kNever || !FirstStepLaunches() || HasEarlier()) return 0;
    const TimeNs waited = EndOfQueue();
    if (waited != 0 || trace_.device == DeviceKind::kNpu) return waited;
    return EndOfSynchronisation();
  }

 private:
  static constexpr TimeNs kLong = 1'000'000;  // streams hand over to each other in a few us

  struct OfDeviceQueue {
    TimeNs first_launched = kNever;
    std::size_t launch = 0;  // of that work
  };

  // When the busiest stream began its first work, if it did not for a long time after the host had
  // handed it over, although nothing that was recorded ran.
  TimeNs EndOfQueue() {
    const OfDeviceQueue& busiest = FirstOfBusiestStream();
    const bool is_npu = trace_.device == DeviceKind::kNpu;
    const TimeNs handed_over =
        is_npu ? EndOfCall(busiest.first_launched) : NextLaunch(busiest.launch);
    if (handed_over == kNever) return 0;
    TimeNs done = handed_over;
    const auto look = [&](const auto& table) {
      for (std::size_t row = 0; row < table.Size(); ++row) {
        if (table.start[row] < busiest.first_launched) done = std::max(done, table.End(row));
      }
    };
    look(trace_.kernels);
    look(trace_.communications);
    look(trace_.device_tasks);
    return busiest.first_launched - done >= kLong ? busiest.first_launched : 0;
  }

  // When a call returned that waited for the device for a long time before anything was launched,
  // in a run that had made steps before.
  TimeNs EndOfSynchronisation() const {
    if (trace_.steps.Empty() || std::ranges::min(trace_.steps.id) <= 0) return 0;
    const HostOps& ops = trace_.host_ops;
    const TimeNs launched = std::min(std::ranges::min(trace_.launches.host_time), latest_);
    TimeNs end = 0;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      const TimeNs returned = ops.start[i] + ops.dur[i];
      if (ops.dur[i] < kLong || returned > launched || returned > first_launched_) continue;
      if (IsOneOf(trace_.strings.View(ops.name[i]),
                  {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                   "hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize"}))
        end = std::max(end, returned);
    }
    return end;
  }

  template <typename Visit>
  void VisitTables(Visit visit) {
    visit(trace_.kernels);
    if (trace_.device == DeviceKind::kNpu) return;  // not all its captures link anything else
    visit(trace_.communications);
    visit(trace_.device_tasks);
  }

  template <typename Table>
  void NoteLaunched(const Table& table) {
    for (std::size_t row = 0; row < table.Size(); ++row) {
      const auto launch = index_.Find(table.link[row]);
      if (!launch) continue;
      OfDeviceQueue& queue = device_queues_[DeviceQueueOf(table, row)];
      if (table.start[row] < queue.first_launched) queue = {table.start[row], *launch};
      first_launched_ = std::min(first_launched_, table.start[row]);
    }
  }

  template <typename Table>
  bool IsEarlier(const Table& table, std::size_t row) const {
    if (table.start[row] > latest_ || HasLaunch(table, row)) return false;
    const auto queue = device_queues_.find(DeviceQueueOf(table, row));
    return table.start[row] <
           (queue != device_queues_.end() ? queue->second.first_launched : first_launched_);
  }

  bool FirstStepLaunches() const {
    const HostSteps steps(trace_.steps);
    return steps.Count() == 0 || std::ranges::any_of(trace_.launches.host_time, [&](TimeNs time) {
             return steps.OfHostTime(time) == std::size_t{0};
           });
  }

  // Nothing kept queued work waiting but a kernel that ran when the profiler began, which it does
  // not record.
  bool RunsAtTheBegin() {
    constexpr TimeNs kLongKernel = 20'000'000;
    TimeNs first = kNever;
    VisitTables([&](const auto& table) {
      for (std::size_t row = 0; row < table.Size(); ++row) {
        if (IsEarlier(table, row)) first = std::min(first, table.start[row]);
      }
    });
    return first < std::ranges::min(trace_.launches.host_time) + kLongKernel;
  }

  bool HasEarlier() {
    bool has = false;
    VisitTables([&](const auto& table) {
      for (std::size_t row = 0; row < table.Size() && !has; ++row) has = IsEarlier(table, row);
    });
    return has;
  }

  // Where only copies and collectives were launched, the queue of any of them.
  const OfDeviceQueue& FirstOfBusiestStream() const {
    const auto busiest = device_queues_.find({false, busiest_});
    return busiest != device_queues_.end() ? busiest->second : device_queues_.begin()->second;
  }

  // Operators of NPUs ask another thread to launch. Its call is known by the task of the kernel.
  TimeNs EndOfCall(TimeNs start) const {
    const DeviceTasks& tasks = trace_.device_tasks;
    const HostCalls& calls = trace_.host_calls;
    for (std::size_t task = 0; task < tasks.Size(); ++task) {
      if (tasks.start[task] != start || tasks.stream[task] != busiest_) continue;
      if (tasks.connection[task] < 0) continue;
      const auto found = std::ranges::find(calls.connection, tasks.connection[task]);
      if (found != calls.connection.end())
        return calls.End(static_cast<std::size_t>(found - calls.connection.begin()));
    }
    return kNever;
  }

  // The next of its thread: by then the call had returned.
  TimeNs NextLaunch(std::size_t launch) const {
    const TimeNs time = trace_.launches.host_time[launch];
    const std::int32_t track = trace_.launches.host_track[launch];
    TimeNs next = kNever;
    const auto look = [&](const std::vector<TimeNs>& times,
                          const std::vector<std::int32_t>& tracks) {
      for (std::size_t i = 0; i < times.size(); ++i) {
        if (times[i] > time && tracks[i] == track && track >= 0) next = std::min(next, times[i]);
      }
    };
    look(trace_.launches.host_time, trace_.launches.host_track);
    look(trace_.unanswered_launches.time, trace_.unanswered_launches.track);
    return next;
  }

  template <typename Table>
  bool HasLaunch(const Table& table, std::size_t row) const {
    return index_.Find(table.link[row]).has_value();
  }

  RankTrace& trace_;
  const LaunchIndex index_;
  const std::int64_t busiest_;
  std::map<DeviceQueue, OfDeviceQueue> device_queues_;  // with launches
  TimeNs first_launched_ = kNever, latest_ = kNever;
};

}  // namespace

void FindEarlierWork(RankTrace& trace) {
  if (trace.launches.Empty()) return;
  EarlierWork work(trace);
  trace.busiest_stream = work.BusiestStream();
  if (!trace.issues.Lines(Promise::kWorkHasLaunch).empty()) return;  // numbers are missing
  if (const TimeNs end = work.EndOfUnrecorded(); end != 0) {
    trace.earlier_work_end = end;
    trace.earlier_work_was_recorded = false;
    return;
  }
  if (!work.IsKnown()) return;
  if (trace.device == DeviceKind::kNpu) {
    if (work.LaterWorkHasLaunches()) trace.earlier_work_end = work.End();
    return;
  }
  trace.earlier_work_end = work.End();
  work.LeaveOut();
}

}  // namespace mpa
