// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/diagnosis/replay/replay.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// What a node of the graph of a rank is.
enum class NodeKind : std::uint8_t {
  kHost,    ///< a moment on the threads that issue work
  kQueue,   ///< a moment on the thread of the task queue
  kLaunch,  ///< a call that launches work on the device
  kKernel,
  kCopy,
  kWait,
  kArrive,
  kLeave,  ///< of a collective
};

struct GraphNode {
  static constexpr bool kInColumns = true;
  TimeNs start = 0, dur = 0;
  NodeKind kind{};
  TimeCategory category{};    ///< of a kernel or copy
  bool in_optimizer = false;  ///< the host asked for it within Optimizer.step
  bool adds_gradients =
      false;  ///< the host asked for it to add gradients to those of earlier passes
  bool clears_gradients = false;  ///< the host asked for it within Optimizer.zero_grad
  bool pinned = false;            ///< a copy from or to memory of the host that is pinned
  std::int32_t step = -1;         ///< position of the step that it belongs to
  std::int32_t row = -1;          ///< of the table it comes from
  std::int32_t graph = -1;        ///< see GraphItem
  std::int32_t stream = -1;       ///< of a kernel or copy
};

struct GraphEdge {
  static constexpr std::uint32_t kMostNodes = 0x7fffffff;

  /// Throws Error (kInput) for a node beyond the first kMostNodes.
  GraphEdge(std::uint32_t of, std::uint32_t waits_for, WaitsFor since, TimeNs lasts)
      : node(of), on(waits_for & kMostNodes), from(since), weight(lasts) {
    if (std::max(of, waits_for) >= kMostNodes) {
      Fail(ErrorKind::kInput, "the rank has more than {} moments; analyse one step with --step_id",
           kMostNodes);
    }
  }

  // A graph has more edges than anything else: one takes 16 bytes.
  std::uint32_t node;
  std::uint32_t on : 31;
  WaitsFor from : 1;
  TimeNs weight;
};

/// A call that waited for the device, or where calls are not recorded, an operator that did.
struct BlockedCall {
  std::uint32_t edge = 0;     ///< on the device work it waited for
  TimeNs begin = 0, dur = 0;  ///< in host time
  std::int32_t track = -1;
  StringId name{};
  bool is_op = false;          ///< an operator, which launches the work itself that it waits for
  std::uint32_t own_edge = 0;  ///< on what its thread did before
  TimeNs own = 0;              ///< time on that edge: what the call takes without waiting
};

struct RankCollective {
  static constexpr bool kInColumns = true;
  std::uint32_t arrive = 0, leave = 0;
  std::int32_t row = -1;  ///< of the communications
};

/// The moments of one rank on its own clocks; host times are moved by the offset to the device's.
struct RankGraph {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  std::vector<BlockedCall> blocked;
  std::vector<RankCollective> collectives;       ///< in order of start
  std::vector<std::vector<std::uint32_t>> last;  ///< by step, see ReplaySteps
  /// The first device work of a capture without steps, which begins with it; else empty.
  std::vector<std::uint32_t> opening;
};

/// Work of the host between two of its moments, in host time.
struct HostStretch {
  std::uint32_t edge = 0;
  TimeNs begin = 0, end = 0;
  std::int32_t track = -1;   ///< the thread that made the later moment
  std::int32_t before = -1;  ///< and the earlier one; -1: unknown
};

/// When the host was within Optimizer.step, and when it added up gradients (AccumulateGrad).
Intervals OptimizerSpans(const RankTrace& trace);
Intervals GradientSpans(const RankTrace& trace);
/// When it was within Optimizer.zero_grad.
Intervals ClearingSpans(const RankTrace& trace);

/// Builds the graph. `host_offset`: how far the host's clock is ahead of the device's. `host` gets
/// the stretches of its threads.
RankGraph BuildRankGraph(const RankTrace& trace, TimeNs host_offset,
                         std::vector<HostStretch>& host);

}  // namespace mpa
