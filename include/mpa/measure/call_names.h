// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/base/text.h"

namespace mpa {

/// "aclrtMemcpy" for "AscendCL@aclrtMemcpy".
inline std::string_view WithoutLevel(std::string_view name) {
  const std::size_t level = name.find('@');
  return level == std::string_view::npos ? name : name.substr(level + 1);
}

/// True for a call that looks up, compiles and launches an operator in one, in any of its versions:
/// aclopCompileAndExecute, aclopCompileAndExecuteV2.
inline bool IsOpCompileAndExecute(std::string_view name) {
  return WithoutLevel(name).starts_with("aclopCompileAndExecute");
}

/// True for a call that starts a whole graph.
inline bool StartsGraph(std::string_view name) {
  return ContainsAny(name, {"ModelExecute", "aclmdlRIExecute", "aclmdlExecute", "GraphLaunch"});
}

}  // namespace mpa
