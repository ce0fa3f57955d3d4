// SPDX-License-Identifier: Apache-2.0
// The names of the events around a compiled call, in all versions of TorchAir, PyTorch and CANN.
#include "host_forest.h"

#include <algorithm>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/step_bounds.h"

namespace mpa::head {
namespace {

constexpr std::string_view kRegionName = "Torch-Compiled Region";

// Older texts write "_inference" with an underscore where programs write a blank.
bool IsInference(std::string_view name, std::string_view callable) {
  constexpr std::string_view kWord = "inference";
  if (name.size() != callable.size() + 1 + kWord.size() || !name.starts_with(callable))
    return false;
  const char separator = name[callable.size()];
  return (separator == ' ' || separator == '_') && name.ends_with(kWord);
}

HostEvent HostEventOf(std::string_view name) {
  if (IsStepMark(name)) return HostEvent::kStep;
  if (IsInference(name, "npu_fx_compiler")) return HostEvent::kCompiledCall;
  if (IsInference(name, "cache_compiler")) return HostEvent::kCachedCall;
  if (name == "TorchNpuGraphBase::Run") return HostEvent::kRun;
  if (name == "AssembleInputs") return HostEvent::kAssembleInputs;
  if (name == "AssembleOutputs") return HostEvent::kAssembleOutputs;
  if (name == "LoadGraph") return HostEvent::kLoadGraph;
  if (IsOneOf(name, {"ExecuteGraph", "RunGraph", "RunGraphWithStreamAsync"})) {
    return HostEvent::kGraphExecution;
  }
  if (IsOneOf(name, {"RefreshAtTensorFromGeTensor", "RefreshAtTensorFromGearsGeTensor"})) {
    return HostEvent::kRefreshOutputs;
  }
  if (name == "acl_graph_replay") return HostEvent::kReplay;
  if (name == "fx_run_eagerly") return HostEvent::kEagerRun;
  if (IsOneOf(name, {"TorchNpuGraphBase::Load", "TorchNpuGraphBase::SetHintShape",
                     "TorchNpuGraphBase::Compile", "TorchNpuGraphBase::AutoTune"})) {
    return HostEvent::kCompileStep;
  }
  if (IsOneOf(name, {"acl_graph_warm_up", "acl_graph_capture"})) return HostEvent::kCapture;
  if (name.starts_with(kRegionName)) return HostEvent::kRegion;
  if (name == "TorchDynamo Cache Lookup") return HostEvent::kLookup;
  if (name.ends_with(" (dynamo_timed)")) return HostEvent::kDynamoCompile;
  if (name.starts_with("CompiledFunction")) return HostEvent::kCompiledFunction;
  if (IsOneOf(name, {"Pregraph bytecode", "AOTDispatcher Runtime Wrapper Prologue"})) {
    return HostEvent::kPrologue;
  }
  if (IsOneOf(name, {"aten::item", "aten::_local_scalar_dense"})) return HostEvent::kBlocking;
  return HostEvent::kOther;
}

RuntimeCall RuntimeCallOf(std::string_view name) {
  if (name == "Node@launch") return RuntimeCall::kLaunch;
  if (name == "Model@InputCopy") return RuntimeCall::kInputCopy;
  if (name == "Node@step_info") return RuntimeCall::kStepInfo;
  if (name == "Model@ModelExecute") return RuntimeCall::kModelExecute;
  if (name == "Model@OutputCopy") return RuntimeCall::kOutputCopy;
  if (name == "Model@ModelLoad") return RuntimeCall::kModelLoad;
  if (name == "AscendCL@aclmdlRIExecuteAsync") return RuntimeCall::kReplay;
  if (IsOneOf(name, {"Node@InferShape", "Node@CompatibleInferShape"})) {
    return RuntimeCall::kInferShape;
  }
  if (IsOneOf(name, {"Node@Tiling", "Node@CompatibleTiling"}) || name.ends_with("_Tiling")) {
    return RuntimeCall::kTiling;
  }
  if (name.starts_with("AscendCL@aclrtSynchronize")) return RuntimeCall::kSync;
  if (name.starts_with("AscendCL@aclrtMemcpy")) {
    return name.find("Async") == std::string_view::npos ? RuntimeCall::kMemcpy
                                                        : RuntimeCall::kMemcpyAsync;
  }
  return RuntimeCall::kOther;
}

}  // namespace

bool IsOperator(std::string_view name) {
  return name.starts_with("aten::") || name.starts_with("npu::");
}

bool IsCompileEvent(HostEvent event) {
  return event == HostEvent::kDynamoCompile || event == HostEvent::kCompileStep ||
         event == HostEvent::kLoadGraph || event == HostEvent::kCapture;
}

std::optional<RegionId> RegionIdOf(std::string_view name) {
  if (!name.starts_with(kRegionName)) return std::nullopt;
  name.remove_prefix(kRegionName.size());
  if (!name.starts_with(":")) return std::nullopt;
  const std::string_view ids = Trim(name.substr(1));
  const std::size_t slash = ids.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto frame = WholeNumber<std::int64_t>(ids.substr(0, slash));
  const auto variant = WholeNumber<std::int64_t>(ids.substr(slash + 1));
  if (!frame || !variant) return std::nullopt;
  return RegionId{*frame, *variant};
}

bool IsParameterUpdate(std::string_view name) { return name.starts_with("UpdateModelParam"); }

HostForest::HostForest(const RankTrace& trace) {
  const HostOps& ops = trace.host_ops;
  NamedClasses meanings(trace.strings, HostEventOf);
  std::vector<HostNode> events;
  std::vector<NestSpan> spans;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    const HostEvent event = meanings.Of(ops.name[i]);
    if (event == HostEvent::kStep) continue;
    const NestSpan& span =
        spans.emplace_back(NestSpan{ops.start[i], ops.start[i] + ops.dur[i], ops.track[i]});
    events.push_back({.start = span.start,
                      .end = span.end,
                      .name = ops.name[i],
                      .track = span.track,
                      .event = event});
  }
  const Nesting nesting(std::move(spans));
  crossings_ = nesting.Crossings();
  std::vector<std::size_t> level(events.size());
  std::vector<std::int64_t> node_of(events.size(), HostNode::kNone);
  std::vector<std::int64_t> last_child(events.size(), HostNode::kNone);
  nodes_.reserve(events.size());
  for (std::int32_t track = -1; track < nesting.Tracks(); ++track) {
    std::int64_t last_root = HostNode::kNone;
    for (const std::uint32_t event : nesting.OnTrack(track)) {
      const std::int64_t outer = nesting.Parent(event);
      const auto around = static_cast<std::size_t>(outer);
      level[event] = outer == Nesting::kNone ? 1 : level[around] + 1;
      if (level[event] > kMaxLevels) {
        ++too_deep_;
        continue;
      }
      node_of[event] = static_cast<std::int64_t>(nodes_.size());
      HostNode& node = nodes_.emplace_back(events[event]);
      if (outer != Nesting::kNone) {
        node.parent = node_of[around];
        node.end = std::min(node.end, At(node.parent).end);  // what exporters round times by
      }
      std::int64_t& last_sibling = outer == Nesting::kNone ? last_root : last_child[around];
      node.previous = std::exchange(last_sibling, node_of[event]);
    }
    begin_of_track_.push_back(static_cast<std::int64_t>(nodes_.size()));
  }
  begin_of_track_.resize(trace.tracks.Size() + 1, static_cast<std::int64_t>(nodes_.size()));
  for (auto node = static_cast<std::int64_t>(nodes_.size()) - 1; node >= 0; --node) {
    HostNode& at = nodes_[static_cast<std::size_t>(node)];
    at.subtree_end = std::max(at.subtree_end, node + 1);
    if (at.parent == HostNode::kNone) continue;
    std::int64_t& outer_end = nodes_[static_cast<std::size_t>(at.parent)].subtree_end;
    outer_end = std::max(outer_end, at.subtree_end);
  }
  for (std::int64_t node = 0; node < static_cast<std::int64_t>(nodes_.size()); ++node) {
    const HostEvent event = At(node).event;
    const bool marked = event == HostEvent::kLookup || event == HostEvent::kBlocking;
    if (marked || IsCompileEvent(event)) marked_.push_back(node);
  }
}

std::int64_t HostForest::FirstFrom(std::int32_t track, TimeNs time) const {
  const auto at = static_cast<std::size_t>(track);
  const auto first = std::partition_point(nodes_.begin() + begin_of_track_[at],
                                          nodes_.begin() + begin_of_track_[at + 1],
                                          [&](const HostNode& node) { return node.start < time; });
  return first - nodes_.begin();
}

Intervals HostForest::Within(std::int32_t track, const Interval& window,
                             bool (*wanted)(HostEvent)) const {
  std::vector<Interval> spans;
  const std::int64_t first = FirstFrom(track, window.begin);
  for (auto at = std::lower_bound(marked_.begin(), marked_.end(), first);
       at != marked_.end() && *at < EndOf(track); ++at) {
    const HostNode& node = At(*at);
    if (node.start > window.end) break;
    if (wanted(node.event)) spans.push_back({node.start, std::min(node.end, window.end)});
  }
  return Union(std::move(spans));
}

std::int64_t HostForest::EndOf(std::int32_t track) const {
  return begin_of_track_[static_cast<std::size_t>(track) + 1];
}

RuntimeCalls::RuntimeCalls(const RankTrace& trace)
    : calls_(trace.host_calls), rows_of_track_(trace.tracks.Size()) {
  NamedClasses meanings(trace.strings, RuntimeCallOf);
  for (std::size_t row = 0; row < calls_.Size(); ++row) {
    meanings_.push_back(meanings.Of(calls_.name[row]));
    const std::int32_t track = calls_.track[row];
    if (track >= 0) rows_of_track_[static_cast<std::size_t>(track)].push_back(row);
  }
  for (std::vector<std::size_t>& rows : rows_of_track_) {
    StableSort(rows, [&](std::size_t a, std::size_t b) {
      return std::pair{Start(a), End(b)} < std::pair{Start(b), End(a)};
    });
  }
}

std::span<const std::size_t> RuntimeCalls::Starting(std::int32_t track,
                                                    const Interval& window) const {
  const std::vector<std::size_t>& rows = OfTrack(track);
  const auto at = [&](TimeNs time) {
    return std::partition_point(rows.begin(), rows.end(),
                                [&](std::size_t row) { return Start(row) < time; });
  };
  if (window.end <= window.begin) return {};
  return {at(window.begin), at(window.end)};
}

}  // namespace mpa::head
