// SPDX-License-Identifier: Apache-2.0
// The names of the events around a compiled call, in all versions of TorchAir, PyTorch and CANN.
#include "host_events.h"

#include <algorithm>
#include <charconv>

#include "mpa/base/text.h"
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

std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

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
  const auto frame = Number(ids.substr(0, slash));
  const auto variant = Number(ids.substr(slash + 1));
  if (!frame || !variant) return std::nullopt;
  return RegionId{*frame, *variant};
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

bool IsParameterUpdate(std::string_view name) { return name.starts_with("UpdateModelParam"); }

}  // namespace mpa::head
