// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "mpa/measure/memory_copies.h"

/// How the formats write missing facts of a collective's pieces.
namespace mpa::readers {

/// A rank within a group; records without one hold the largest number of 32 bits. Larger ones than
/// fit are the largest that does: LoadRank() names those that no group has.
constexpr std::int32_t RankInGroup(std::int64_t recorded) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  const bool is_rank = recorded >= 0 && recorded < std::numeric_limits<std::uint32_t>::max();
  return is_rank ? static_cast<std::int32_t>(std::min(recorded, kLargest)) : -1;
}

/// Bytes that were moved; -1 for what is not a size.
constexpr std::int64_t SizeOrNone(std::int64_t recorded) {
  return IsSize(recorded) ? recorded : -1;
}

/// The number of a signal; records without one hold the largest number of 32 or 64 bits, which
/// databases cut to the largest they can hold.
constexpr std::int64_t NotifyOrNone(std::uint64_t recorded) {
  constexpr auto kLargest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  const bool is_none =
      recorded >= kLargest || recorded == std::numeric_limits<std::uint32_t>::max();
  return is_none ? -1 : static_cast<std::int64_t>(recorded);
}

/// The name of a kind of link or transport; empty for text that is not such a name.
constexpr std::string_view KindOrNone(std::string_view name) {
  const bool is_none = name == "N/A" || name == "INVALID_TYPE" || name == "RESERVED";
  return is_none ? std::string_view() : name;
}

}  // namespace mpa::readers
