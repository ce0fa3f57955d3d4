// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "mpa/base/text.h"

namespace mpa {

/// Python calls of modules are named "nn.Module: <class>_<number>".
inline constexpr std::string_view kModulePrefix = "nn.Module:";

/// True for the name of a module's call, in whatever case. This and the ranges of the mstx domain
/// "Module" are what tells modules in every command.
inline bool IsModuleCall(std::string_view name) {
  return StartsWithIgnoringCase(name, "nn.module:");
}

/// "Linear" of "Linear_0" and of "nn.Module: Linear_0": the number tells apart modules of one
/// class.
inline std::string_view ModuleClass(std::string_view name) {
  if (IsModuleCall(name)) name.remove_prefix(kModulePrefix.size());
  return Trim(WithoutNumber(name));
}

/// How deep modules may lie in each other, and how long the path of one may be, in bytes. Models
/// stay far below; the paths of a broken or hostile capture, which grow with each level, would fill
/// the memory.
inline constexpr std::size_t kMostModuleLevels = 256;
inline constexpr std::size_t kMostModulePath = 16 << 10;
inline constexpr std::string_view kModulesTooDeep =
    "modules lie more than 256 levels deep or have paths of more than 16 KiB, as those of no model";

}  // namespace mpa
