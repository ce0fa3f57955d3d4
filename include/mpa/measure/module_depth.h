// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace mpa {

/// How deep modules may lie in each other, and how long the path of one may be, in bytes. Models
/// stay far below; the paths of a broken or hostile capture, which grow with each level, would fill
/// the memory.
inline constexpr std::size_t kMostModuleLevels = 256;
inline constexpr std::size_t kMostModulePath = 16 << 10;
inline constexpr std::string_view kModulesTooDeep =
    "modules lie more than 256 levels deep or have paths of more than 16 KiB, as those of no model";

}  // namespace mpa
