// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "call.h"
#include "device_timeline.h"
#include "host_forest.h"
#include "mpa/measure/intervals.h"

namespace mpa::head {

/// A call with the events that make it. Nodes are those of the forest, kNone where there is none.
struct FoundCall {
  CallKind kind{};
  std::int64_t parent = -1;  ///< position of the call it is nested in
  std::int64_t node = HostNode::kNone;
  std::int64_t run = HostNode::kNone;
  std::int64_t execution = HostNode::kNone;  ///< of the graph, by GE
  std::int64_t replay = HostNode::kNone;
  std::int64_t eager_run = HostNode::kNone;
  std::int64_t assemble_inputs = HostNode::kNone;
  MaybeNs assembled{};  ///< the last end of AssembleInputs, AssembleOutputs and LoadGraph
};

/// The calls of all threads that a framework event shows (A1 to A5), each thread in order of
/// time, a call before those nested in it.
std::vector<FoundCall> FindCalls(const HostForest& forest);

/// Where a call is entered, and where TorchAir and GE take over: e0, t1, t2, t3 and t4 with their
/// flags. `executed` is where GE's execution ends.
struct Boundaries {
  TimeNs e0 = 0, t1 = 0, t4 = 0;
  MaybeNs t2, t3, executed;
  std::uint16_t flags = 0;
  std::int64_t region = HostNode::kNone;  ///< the innermost compiled region of the call
};

/// Nothing before `begin` belongs to the call; `is_call[node]` tells the nodes of calls.
Boundaries FindBoundaries(const HostForest& forest, const RuntimeCalls& runtime,
                          const FoundCall& call, MaybeNs begin, const std::vector<bool>& is_call,
                          bool runs_eagerly);

/// From where to where a segment of the call lasts; empty where it is unknown.
std::optional<Interval> SpanOf(const Call& call, Segment segment);

/// Compile work, PyTorch's lookups and waits for the device among the framework's events.
class MarkedEvents {
 public:
  explicit MarkedEvents(const HostForest& forest);
  /// The time of events for which `wanted` holds and that start on the thread within [from, to],
  /// cut to it.
  Intervals Within(std::int32_t track, TimeNs from, TimeNs to, bool (*wanted)(HostEvent)) const;

 private:
  const HostForest& forest_;
  std::vector<std::int64_t> nodes_;
};

/// Fills the segments of a call whose boundaries are set, and their parts.
void MeasureSegments(const HostForest& forest, const RuntimeCalls& runtime,
                     const MarkedEvents& marked, const FoundCall& found, const Boundaries& bounds,
                     Call& call);

/// Fills the idle times of the device up to the first kernel.
void MeasureExposure(const DeviceTimeline& device, const RuntimeCalls& runtime,
                     const MarkedEvents& marked, Call& call);

}  // namespace mpa::head
