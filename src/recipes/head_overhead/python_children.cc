// SPDX-License-Identifier: Apache-2.0
// What TorchAir's Python does before the graph runs: mostly conversions of inputs.
#include "mpa/base/text.h"
#include "summary.h"

namespace mpa::head {
namespace {

// Building a tensor from a Python value takes several operators, among them one of this name; in
// newer versions it is the only one.
constexpr std::string_view kLift = "aten::lift_fresh";

bool MayBuildTensor(std::string_view name) {
  return IsOneOf(
      name, {"aten::empty", "aten::to", "aten::_to_copy", "aten::copy_", kLift, "aten::detach_"});
}

std::string_view KindOfAlone(const PyChild& child, Engine engine) {
  const std::string_view name = child.name;
  if (child.event == HostEvent::kCompiledCall || child.event == HostEvent::kCachedCall) {
    return "nested_call";
  }
  if (IsCompileEvent(child.event)) return "compile";
  if (engine == Engine::kEagerFx) return "other_op";  // the graph itself
  if (engine == Engine::kAclGraph &&
      IsOneOf(name, {"aten::_foreach_copy_", "aten::copy_", "process_input"})) {
    return "input_copy";
  }
  if (name == "aten::contiguous" || name.starts_with("contiguous_") ||
      name.starts_with("cached_contiguous_") || name.starts_with("format_contiguous")) {
    return kContiguous;
  }
  if (name == "aten::clone") return kClone;
  if (IsOneOf(name, {"aten::to", "aten::_to_copy", "aten::copy_"}) ||
      (name.starts_with("npu::") && name.find("copy") != std::string_view::npos)) {
    return kToCopy;
  }
  return "other_op";
}

}  // namespace

void ClassifyPyChildren(Engine engine, std::vector<PyChild>& children) {
  std::size_t run = 0;  // where operators that may build the next tensor begin
  for (std::size_t i = 0; i < children.size(); ++i) {
    PyChild& child = children[i];
    child.kind = KindOfAlone(child, engine);
    if (child.kind == kContiguous) child.counts = child.name == "aten::contiguous";
    if (!MayBuildTensor(child.name) || engine == Engine::kEagerFx) {
      run = i + 1;
      continue;
    }
    const bool ends = i > 0 && child.name == "aten::detach_" && children[i - 1].name == kLift;
    if (ends) {
      child.kind = kTensorConstruct;
      child.counts = false;
      run = i + 1;
    }
    if (child.name != kLift) continue;
    for (; run <= i; ++run) {
      children[run].kind = kTensorConstruct;
      children[run].counts = run == i;
    }
  }
}

}  // namespace mpa::head
