// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mpa/measure/intervals.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/rank_trace.h"

/// Who owns the time between the start of a compiled call and the first kernel of its graph.
namespace mpa::head {

/// What a framework event means for a compiled call.
enum class HostEvent : std::uint8_t {
  kOther,
  kStep,              ///< ProfilerStep#n
  kCompiledCall,      ///< the anchor: TorchAir's compiled callable
  kCachedCall,        ///< the anchor of cache_compile
  kRun,               ///< TorchNpuGraphBase::Run
  kAssembleInputs,    ///< filling of GE's input tensors
  kAssembleOutputs,   ///< binding of the outputs
  kLoadGraph,         ///< first run of a graph
  kGraphExecution,    ///< GE: ExecuteGraph and its older names
  kRefreshOutputs,    ///< wrapping of the outputs
  kReplay,            ///< acl_graph_replay
  kEagerRun,          ///< fx_run_eagerly
  kCompileStep,       ///< of the first call: Load, SetHintShape, Compile, AutoTune
  kCapture,           ///< acl_graph_warm_up, acl_graph_capture
  kRegion,            ///< Torch-Compiled Region
  kLookup,            ///< TorchDynamo Cache Lookup
  kDynamoCompile,     ///< "... (dynamo_timed)"
  kCompiledFunction,  ///< autograd's wrapper
  kPrologue,          ///< of the compiled code, before its first graph
  kBlocking,          ///< an operator that waits for the device
};

/// "aten::add", "npu::npu_fusion_attention".
bool IsOperator(std::string_view name);
/// True for what runs once per graph or captured shape.
bool IsCompileEvent(HostEvent event);

/// "i" and "j" of "Torch-Compiled Region: i/j".
struct RegionId {
  std::int64_t frame = 0, variant = 0;
};
std::optional<RegionId> RegionIdOf(std::string_view name);

/// What a call of the runtime means.
enum class RuntimeCall : std::uint8_t {
  kOther,
  kLaunch,
  kInputCopy,
  kStepInfo,
  kModelExecute,
  kOutputCopy,
  kModelLoad,
  kReplay,  ///< aclmdlRIExecuteAsync
  kInferShape,
  kTiling,
  kSync,         ///< aclrtSynchronize*
  kMemcpy,       ///< aclrtMemcpy* that block
  kMemcpyAsync,  ///< and those that do not
};

/// Whether the host waits for the device in it.
inline bool IsWait(RuntimeCall call) {
  return call == RuntimeCall::kSync || call == RuntimeCall::kMemcpy;
}
/// True for the operator that refreshes the arguments of a static model.
bool IsParameterUpdate(std::string_view name);

/// A framework event in the tree of its thread. Nodes are named by their position.
struct HostNode {
  static constexpr std::int64_t kNone = Nesting::kNone;
  TimeNs start = 0, end = 0;  ///< within the parent's
  StringId name{};
  std::int32_t track = -1;
  HostEvent event{};
  std::int64_t parent = kNone;
  std::int64_t previous = kNone;  ///< the sibling before it
  std::int64_t subtree_end = 0;   ///< one beyond the last node below it
};

/// The framework events of a rank as trees, each thread for itself (see Nesting): a node is
/// followed by all below it. Steps are left out, they may overlap calls.
class HostForest {
 public:
  explicit HostForest(const RankTrace& trace);

  const std::vector<HostNode>& Nodes() const { return nodes_; }
  const HostNode& At(std::int64_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
  /// The first node of the thread that starts at `time` or later.
  std::int64_t FirstFrom(std::int32_t track, TimeNs time) const;
  /// One beyond the last node of the thread.
  std::int64_t EndOf(std::int32_t track) const;
  /// The time of events that compile, look compiled code up or wait for the device, for which
  /// `wanted` holds, and that start on the thread within the window or at its end; cut to it.
  Intervals Within(std::int32_t track, const Interval& window, bool (*wanted)(HostEvent)) const;
  /// Events that outlive one in which they begin, and so are not within it.
  std::int64_t Crossings() const { return crossings_; }
  /// Events that were left out because they lie in more than kMaxLevels others, as no program's
  /// do: what is around an event is looked up one by one.
  std::int64_t TooDeep() const { return too_deep_; }
  static constexpr std::size_t kMaxLevels = 1000;

 private:
  std::vector<HostNode> nodes_;
  std::vector<std::int64_t> begin_of_track_;  // with one more at the end
  std::vector<std::int64_t> marked_;          // nodes that Within() may give
  std::int64_t crossings_ = 0, too_deep_ = 0;
};

/// The runtime's calls of each thread in order of start, the longest first. Calls are named by
/// their row in the table of the rank.
class RuntimeCalls {
 public:
  explicit RuntimeCalls(const RankTrace& trace);

  /// Those of a thread that start within the window.
  std::span<const std::size_t> Starting(std::int32_t track, const Interval& window) const;
  RuntimeCall Meaning(std::size_t row) const { return meanings_[row]; }
  TimeNs Start(std::size_t row) const { return calls_.start[row]; }
  TimeNs End(std::size_t row) const { return calls_.start[row] + calls_.dur[row]; }
  Interval Span(std::size_t row) const { return {Start(row), End(row)}; }
  /// The first of those that start on a thread within the window and mean one of these.
  template <typename... Meanings>
  std::optional<std::size_t> First(std::int32_t track, const Interval& window,
                                   Meanings... wanted) const {
    for (const std::size_t row : Starting(track, window)) {
      if (((Meaning(row) == wanted) || ...)) return row;
    }
    return std::nullopt;
  }
  const HostCalls& Table() const { return calls_; }
  std::int32_t TrackOf(std::size_t row) const { return calls_.track[row]; }
  /// Threads that made calls.
  std::int32_t Tracks() const { return static_cast<std::int32_t>(rows_of_track_.size()); }
  /// All calls of a thread.
  const std::vector<std::size_t>& OfTrack(std::int32_t track) const {
    return rows_of_track_[static_cast<std::size_t>(track)];
  }

 private:
  const HostCalls& calls_;
  std::vector<RuntimeCall> meanings_;  // by row
  std::vector<std::vector<std::size_t>> rows_of_track_;
};

/// Calls `on_outermost(row)` for those of `rows`, in order, that no earlier one of them encloses.
template <typename OnOutermost>
void ForEachOutermost(const RuntimeCalls& calls, std::span<const std::size_t> rows,
                      OnOutermost on_outermost) {
  TimeNs covered_until = std::numeric_limits<TimeNs>::min();
  for (const std::size_t row : rows) {
    if (calls.End(row) <= covered_until && calls.Start(row) < covered_until) continue;
    covered_until = calls.End(row);
    on_outermost(row);
  }
}

}  // namespace mpa::head
