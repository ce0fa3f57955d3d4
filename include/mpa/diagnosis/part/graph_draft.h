// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "mpa/diagnosis/part/rank_graph.h"
#include "mpa/measure/device_work.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/step_bounds.h"

namespace mpa {

/// Device work, or a wait of a stream for an event, with what is known of its launch.
struct GraphItem {
  DeviceItem work;
  bool waits = false;  ///< for an event
  /// Of the launch of the captured or compiled graph that it is part of, a number; -1: of none.
  std::int32_t graph = -1;
  TimeNs launched = -1;      ///< when the host asked for it, in host time; -1: unknown
  std::int32_t launch = -1;  ///< position in GraphItems::launches
  bool IsOperation() const { return work.table == PieceTable::kCommunications; }
};

/// A call that launched device work.
struct GraphLaunch {
  TimeNs begin = 0;
  std::int32_t track = -1;
  std::int32_t queued = -1;  ///< row of the queued work that made the call; -1: none did
  bool is_call = true;       ///< false: only the operator is known that asked for it
};

struct GraphItems {
  std::vector<GraphItem> items;  ///< in order of begin
  std::vector<GraphLaunch> launches;

  /// Positions of the items whose launch is known, in its order.
  std::vector<std::size_t> ByLaunch() const;
};

/// `host_offset`: how far the host's clock is ahead of the device's.
GraphItems FindGraphItems(const RankTrace& trace, TimeNs host_offset);

/// Device times may contradict each other by so much.
inline constexpr TimeNs kDeviceTolerance = 2'000;

inline constexpr auto kNoNode = std::numeric_limits<std::uint32_t>::max();

/// The graph of a rank while it is made: what the parts that make it share.
struct GraphDraft {
  GraphDraft(const RankTrace& rank_trace, TimeNs host_offset)
      : trace(rank_trace),
        offset(host_offset),
        found(FindGraphItems(rank_trace, host_offset)),
        steps(rank_trace, kAsRecorded) {}

  /// Adds a node; of the step at `host_time`, of none if that is negative.
  std::uint32_t Add(TimeNs start, TimeNs dur, NodeKind kind, TimeNs host_time, std::int32_t row);
  std::uint32_t AddOfStep(TimeNs start, TimeNs dur, NodeKind kind, std::optional<std::size_t> step,
                          std::int32_t row);
  /// Adds an edge and returns its number.
  std::uint32_t Wait(std::uint32_t node, std::uint32_t on, WaitsFor from, TimeNs weight);
  TimeNs OnDevice(TimeNs host_time) const { return host_time - offset; }
  TimeNs StartOf(std::uint32_t node) const { return graph.nodes[node].start; }

  const RankTrace& trace;
  const TimeNs offset;  ///< how far the host's clock is ahead of the device's
  const GraphItems found;
  const StepBounds steps;
  RankGraph graph;
};

/// A waiting call on its thread.
struct HostBlock {
  std::int32_t call = -1;            ///< position in HostChain::waiting
  std::uint32_t begin = 0, end = 0;  ///< its nodes
  std::uint32_t thread = 0;  ///< edge to its end from what its thread did before; kNoNode: none
};

/// What the device's part of the graph refers to.
struct HostChain {
  std::vector<std::uint32_t> node_of_launch;  ///< by position in GraphItems::launches
  std::vector<BlockedCall> waiting;
  std::vector<HostBlock> blocks;
};

/// Adds the moments of the host. `host` gets the stretches of its threads.
HostChain AddHost(GraphDraft& draft, std::vector<HostStretch>& host);

/// By position of the item: the nodes at which it begins and ends, and its stream, or one for
/// operations that follow each other.
struct DeviceNodes {
  std::vector<std::uint32_t> begin, end;
  std::vector<std::int64_t> device_queue;
};

/// Adds the work of the device, and what it waited for.
DeviceNodes AddDevice(GraphDraft& draft, const HostChain& chain);

/// Adds what waited for the device. `host` gets the blocking calls that did not wait: all of them
/// is work of the host.
void AddBlockedCalls(GraphDraft& draft, const HostChain& chain, const DeviceNodes& nodes,
                     std::vector<HostStretch>& host);

}  // namespace mpa
