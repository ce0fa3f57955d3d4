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
#include "mpa/model/step_bounds.h"
#include "serving.h"

namespace mpa::head {

/// What one device did for one process: when it was busy, and which run came first behind a time.
class DeviceTimeline {
 public:
  struct Run : DeviceRuns::Row {
    bool is_update = false;  ///< refreshes the arguments of a static model

    TimeNs End() const { return start + dur; }
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
  void FindBursts();

  std::vector<Run> runs_;
  std::vector<TimeNs> kernel_starts_;  // of runs other than refreshes of arguments
  Intervals busy_;
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

/// Where the front end's time begins.
enum class Policy : std::uint8_t {
  kAuto,        ///< at the end of the call before, at the begin of the step at the earliest
  kEntry,       ///< where the compiled model is entered
  kStep,        ///< of the first call of a step at the begin of the step
  kDeviceIdle,  ///< where the device ran out of work
};

struct HeadOptions {
  Policy policy = Policy::kAuto;
  /// Without steps a wait before a call that is longer than this is not the platform's.
  TimeNs max_gap = 100'000'000;
  std::optional<std::int32_t> step{};  ///< only calls of this step
};

/// What a call was made from, for those who look inside. Nodes are those of the forest, kNone where
/// there is none.
struct CallParts {
  std::int64_t node = HostNode::kNone;
  std::int64_t run = HostNode::kNone;
  std::int64_t execution = HostNode::kNone;  ///< of the graph, by GE
  std::int64_t replay = HostNode::kNone;
  std::int64_t eager_run = HostNode::kNone;
  std::int64_t assemble_inputs = HostNode::kNone;
  std::int64_t region = HostNode::kNone;  ///< the innermost compiled region of the call
  MaybeNs assembled{};  ///< the last end of AssembleInputs, AssembleOutputs and LoadGraph
  MaybeNs executed{};   ///< the end of GE's execution
  std::vector<std::size_t> workers{};   ///< rows of runtime calls by which other threads take part
  std::vector<std::size_t> launches{};  ///< rows of the runtime's launches
  std::optional<std::size_t>
      execute{};  ///< row of the first Model@ModelExecute, or the own call of kRuntimeOnly
};

/// The calls of a rank with all their numbers, and what these came from.
struct HeadAnalysis {
  /// Refers to the rank, which must outlive it.
  HeadAnalysis(const RankTrace& of_rank, const HeadOptions& options);

  const RankTrace& trace;
  HostForest forest;
  RuntimeCalls runtime;
  ServingEvents serving;
  DeviceTimelines devices;
  HostSteps steps;
  std::vector<Call> calls;
  std::vector<CallParts> parts;  ///< of each call
};

/// Finds the calls of all threads that a framework event shows, each thread in order of
/// time, a call before those nested in it.
void FindCalls(HeadAnalysis& analysis);

/// Sets where a call is entered, where TorchAir and GE take over, and where it ends, with the
/// flags. Nothing before `begin` belongs to the call; `is_call[node]` tells the nodes of
/// calls.
void FindBoundaries(const HeadAnalysis& analysis, MaybeNs begin, const std::vector<bool>& is_call,
                    bool runs_eagerly, CallParts& parts, Call& call);

/// When a part of the call's head lasts; empty where it is unknown. The platform and a serving
/// framework take turns, the others last from one time to another.
std::optional<Intervals> SpansOf(const HeadAnalysis& analysis, const Call& call, Measure part);
/// The same of parts that last from one time to another; of the platform together with what a
/// serving framework takes of its time.
std::optional<Interval> SpanOf(const Call& call, Measure part);

/// Fills the times of a call whose boundaries and first kernel are known.
void MeasureCall(const HeadAnalysis& analysis, const CallParts& parts, Call& call);

/// Notes which launches and executions of the runtime each call made: on its own thread, and on
/// other threads that execute its model for it. Returns executions and replays that belong to no
/// call, in order of thread and time: all that is seen of graphs whose framework events are not in
/// the capture.
std::vector<std::size_t> FindRuntimeParts(HeadAnalysis& analysis);

/// Which machine runs the graph of a call.
Engine EngineOf(const HeadAnalysis& analysis, std::size_t call, bool runs_eagerly);

/// Gives every call the graph it runs: the compiled region, with the place in it where it runs
/// several, else the model, else the number of the call in its step.
void NameGraphs(HeadAnalysis& analysis);

}  // namespace mpa::head
