// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "call.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

namespace mpa::head {

/// What one device did for one process: when it was busy, and which run came first behind a time.
class DeviceTimeline {
 public:
  struct Run {
    TimeNs start = 0, end = 0;
    std::int64_t connection = -1, model = -1, stream = -1;
    StringId name{};
    bool is_update = false;  ///< refreshes the arguments of a static model
    bool is_collective = false;
  };
  /// When the first run starts, and the first apart from refreshes of arguments.
  struct First {
    MaybeNs task{}, kernel{};
  };

  DeviceTimeline(std::vector<Run> runs, std::int64_t device);

  /// In order of start.
  const std::vector<Run>& Runs() const { return runs_; }
  std::int64_t Device() const { return device_; }
  const Intervals& Busy() const { return busy_; }
  /// Time without work in `spans` before `until`.
  TimeNs Idle(const Intervals& spans, TimeNs until) const;
  /// Until when the device was busy with what began before `time`: at the latest `time` itself.
  MaybeNs LastBusyBefore(TimeNs time) const;

  /// Of the runs that start at `time` or later.
  First FirstFrom(TimeNs time) const;
  /// The same, of a model.
  First FirstOfModel(std::int64_t model, TimeNs time) const {
    return FirstOf(by_model_, model, time);
  }
  /// The same, of the runs that a call launched.
  First FirstOfConnection(std::int64_t connection, TimeNs time) const {
    return FirstOf(by_connection_, connection, time);
  }
  bool HasConnection(std::int64_t connection) const;
  /// When the executions of a model begin: where its first kernel comes again after its last one.
  /// Those of all models for -1.
  const std::vector<TimeNs>& BurstsOf(std::int64_t model) const;

 private:
  using Keyed = std::vector<std::pair<std::int64_t, std::size_t>>;  // in order of key and start
  First FirstOf(const Keyed& keyed, std::int64_t key, TimeNs time) const;
  TimeNs BusyUntil(TimeNs time) const;
  void FindBursts();

  std::vector<Run> runs_;
  std::vector<TimeNs> kernel_starts_;  // of runs other than refreshes of arguments
  Intervals busy_;
  std::vector<TimeNs> busy_before_;  // of each busy interval: the sum of those before it
  Keyed by_connection_, by_model_;
  std::map<std::int64_t, std::vector<TimeNs>> bursts_;
  std::int64_t device_;
};

/// The timelines of a rank.
class DeviceTimelines {
 public:
  explicit DeviceTimelines(const RankTrace& trace);
  /// That of the device which works for the process: of several the one with the lowest number.
  /// Null when no work of the process is known.
  const DeviceTimeline* Of(std::int64_t pid) const;

 private:
  std::vector<DeviceTimeline> timelines_;
  std::map<std::int64_t, std::size_t> of_pid_;
};

struct HeadAnalysis;

/// Finds the first device task and the first kernel of every call: by its launches, the iteration
/// of its model, the order of executions and bursts of the model, or else by time alone.
void FindFirstKernels(HeadAnalysis& analysis);

}  // namespace mpa::head
