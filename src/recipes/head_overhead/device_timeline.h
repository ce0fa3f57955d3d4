// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "call.h"
#include "host_forest.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

namespace mpa::head {

/// What one device did for one process: when it was busy, and which run came first behind a time.
/// Runs are named by their position in order of start.
class DeviceTimeline {
 public:
  struct Run {
    TimeNs start = 0, end = 0;
    std::int64_t connection = -1, model = -1, stream = -1;
    StringId name{};
    bool is_update = false;  ///< refreshes the arguments of a static model
    bool is_collective = false;
  };

  DeviceTimeline(std::vector<Run> runs, std::int64_t device);

  const std::vector<Run>& Runs() const { return runs_; }
  const Run& At(std::size_t run) const { return runs_[run]; }
  std::int64_t Device() const { return device_; }
  const Intervals& Busy() const { return busy_; }
  /// Time without work in [from, to).
  TimeNs Idle(TimeNs from, TimeNs to) const;
  /// Time without work in `spans` before `until`.
  TimeNs Idle(const Intervals& spans, TimeNs until) const;
  /// Until when the device was busy with what began before `time`: at the latest `time` itself.
  std::optional<TimeNs> LastBusyBefore(TimeNs time) const;

  /// The first run that starts at `time` or later; with `kernels_only` no argument refresh.
  std::optional<std::size_t> FirstFrom(TimeNs time, bool kernels_only) const;
  /// The same, of a model.
  std::optional<std::size_t> FirstOfModel(std::int64_t model, TimeNs time, bool kernels_only) const;
  /// The same, of the runs that a call launched; empty as well when there are none at all.
  std::optional<std::size_t> FirstOfConnection(std::int64_t connection, TimeNs time,
                                               bool kernels_only) const;
  bool HasConnection(std::int64_t connection) const;
  /// The runs with which the executions of a model begin: where its first kernel comes again after
  /// its last one.
  const std::vector<std::size_t>& BurstsOf(std::int64_t model) const;
  /// Those of all models, in order of start.
  const std::vector<std::size_t>& AllBursts() const { return all_bursts_; }

 private:
  using Keyed = std::vector<std::pair<std::int64_t, std::size_t>>;  // in order of key and start
  std::optional<std::size_t> FirstOf(const Keyed& keyed, std::int64_t key, TimeNs time,
                                     bool kernels_only) const;
  TimeNs BusyUntil(TimeNs time) const;
  void FindBursts();

  std::vector<Run> runs_;
  std::vector<std::size_t> next_kernel_;  // of each run: itself or the next that is not a refresh
  Intervals busy_;
  std::vector<TimeNs> busy_before_;  // of each busy interval: the sum of those before it
  Keyed by_connection_, by_model_;
  std::map<std::int64_t, std::vector<std::size_t>> bursts_;
  std::vector<std::size_t> all_bursts_;
  std::int64_t device_;
};

/// The timelines of a rank.
class DeviceTimelines {
 public:
  explicit DeviceTimelines(const RankTrace& trace);
  /// That of the device which works for the process: of several the one with the lowest number.
  /// Null when no work of the process is known.
  const DeviceTimeline* Of(std::int64_t pid) const;
  const std::vector<DeviceTimeline>& All() const { return timelines_; }

 private:
  std::vector<DeviceTimeline> timelines_;
  std::map<std::int64_t, std::size_t> of_pid_;
};

/// What the search for the first kernel has to know of a call.
struct KernelSearch {
  std::int64_t pid = -1;
  const DeviceTimeline* device = nullptr;
  MaybeNs t3;                          ///< none before it
  std::vector<std::size_t> launches;   ///< rows of the runtime's launches by the call
  std::optional<std::size_t> execute;  ///< row of its first Model@ModelExecute
};

struct FirstKernel {
  MaybeNs task{}, kernel{};
  KernelSource task_source = KernelSource::kNone, kernel_source = KernelSource::kNone;
  bool skewed = false;  ///< device work before its cause: the clocks disagree
};

/// Finds the first device task and the first kernel of every call: by its launches, the iteration
/// of its model, the order of executions and bursts of the model, or else by time alone.
std::vector<FirstKernel> FindFirstKernels(const RankTrace& trace, const RuntimeCalls& runtime,
                                          const std::vector<KernelSearch>& calls);

}  // namespace mpa::head
