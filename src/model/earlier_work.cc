// SPDX-License-Identifier: Apache-2.0
// Work of a device that was queued before the profiler began.
#include "mpa/model/earlier_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "mpa/model/launches.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

// Work runs in order on a stream, and the operations of a group do.
using Lane = std::pair<bool, std::int64_t>;  // whether it is a group, and its number

template <typename Table>
Lane LaneOf(const Table& table, std::size_t row) {
  if constexpr (std::is_same_v<Table, Communications>) {
    return {true, table.group[row]};
  } else {
    return {false, table.stream[row]};
  }
}

class EarlierWork {
 public:
  explicit EarlierWork(RankTrace& trace) : trace_(trace), index_(trace) {
    VisitTables([&](const auto& table) { NoteLaunched(table); });
    // What has no launch may be the work of a launch that has none.
    for (const TimeNs launch : trace.unanswered_launches.time) latest_ = std::min(latest_, launch);
  }

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
    return std::min(end, FirstOfBusiestStream());
  }
  void LeaveOut() {
    VisitTables([&](auto& table) {
      table.Filter([&](std::size_t row) { return !IsEarlier(table, row); });
    });
  }

 private:
  struct OfLane {
    TimeNs first_launched = kNever;
    TimeNs computing = 0;
  };

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
      if (!HasLaunch(table, row)) continue;
      OfLane& lane = lanes_[LaneOf(table, row)];
      lane.first_launched = std::min(lane.first_launched, table.start[row]);
      first_launched_ = std::min(first_launched_, table.start[row]);
      if constexpr (std::is_same_v<Table, Kernels>) lane.computing += table.dur[row];
    }
  }

  template <typename Table>
  bool IsEarlier(const Table& table, std::size_t row) const {
    if (table.start[row] > latest_ || HasLaunch(table, row)) return false;
    const auto lane = lanes_.find(LaneOf(table, row));
    return table.start[row] <
           (lane != lanes_.end() ? lane->second.first_launched : first_launched_);
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

  TimeNs FirstOfBusiestStream() const {
    const auto busiest = std::ranges::max_element(
        lanes_, {}, [](const auto& lane) { return lane.second.computing; });
    return busiest->second.first_launched;
  }

  template <typename Table>
  bool HasLaunch(const Table& table, std::size_t row) const {
    return index_.Find(table.link[row]).has_value();
  }

  RankTrace& trace_;
  const LaunchIndex index_;
  std::map<Lane, OfLane> lanes_;  // with launches
  TimeNs first_launched_ = kNever, latest_ = kNever;
};

}  // namespace

void FindEarlierWork(RankTrace& trace) {
  if (!trace.issues.Lines(Promise::kWorkHasLaunch).empty()) return;  // numbers are missing
  EarlierWork work(trace);
  if (!work.IsKnown()) return;
  if (trace.device == DeviceKind::kNpu) {
    if (work.LaterWorkHasLaunches()) trace.earlier_work_end = work.End();
    return;
  }
  trace.earlier_work_end = work.End();
  work.LeaveOut();
}

}  // namespace mpa
