// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "device_timeline.h"
#include "host_forest.h"
#include "mpa/model/step_bounds.h"
#include "segments.h"

namespace mpa::head {

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
  std::optional<std::int32_t> step;  ///< only calls of this step
};

/// What a call was made from, for those who look inside.
struct CallParts {
  FoundCall found;
  Boundaries bounds;
  std::vector<std::size_t> workers{};    ///< rows of runtime calls by which other threads take part
  std::vector<std::size_t> launches{};   ///< rows of the runtime's launches
  std::optional<std::size_t> execute{};  ///< row of the first Model@ModelExecute, or A6's own call
};

/// The calls of a rank with all their numbers, and what these came from.
struct HeadAnalysis {
  HeadAnalysis(const RankTrace& trace, const HeadOptions& options);

  HostForest forest;
  RuntimeCalls runtime;
  DeviceTimelines devices;
  HostSteps steps;
  std::vector<Call> calls;
  std::vector<CallParts> parts;     ///< of each call
  std::vector<std::string> graphs;  ///< names, by Call::graph
};

/// Notes which launches and executions of the runtime each call made: on its own thread, and on
/// other threads that execute its model for it.
void FindRuntimeParts(const HostForest& forest, const RuntimeCalls& runtime,
                      std::vector<CallParts>& parts);

/// Executions and replays that belong to no call, in order of thread and time: all that is seen of
/// graphs whose framework events are not in the capture. To be called behind FindRuntimeParts,
/// which it completes by the workers.
std::vector<std::size_t> FindLoneExecutions(const HostForest& forest, const RuntimeCalls& runtime,
                                            std::vector<CallParts>& parts);

/// Which machine runs the graph of a call.
Engine EngineOf(const RankTrace& trace, const HostForest& forest, const RuntimeCalls& runtime,
                const CallParts& parts, bool runs_eagerly);

/// Gives every call the graph it runs: the compiled region, with the place in it where it runs
/// several, else the model, else the number of the call in its step. Returns the names.
std::vector<std::string> NameGraphs(const RankTrace& trace, const HostForest& forest,
                                    const RuntimeCalls& runtime,
                                    const std::vector<CallParts>& parts, std::vector<Call>& calls);

}  // namespace mpa::head
