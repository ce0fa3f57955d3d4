// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mpa/io/numbers.h"

namespace mpa::readers {

/// Bytes from decimal text of units of `unit` bytes, rounded; six decimals count. Empty for invalid
/// numbers and for more than 8 EiB.
inline std::optional<std::int64_t> BytesFrom(std::string_view text, std::int64_t unit) {
  const auto millionths = io::ScaledDecimal(text, 6);
  if (!millionths) return std::nullopt;
  constexpr std::int64_t kMillion = 1'000'000;
  std::int64_t whole = 0;
  if (__builtin_mul_overflow(*millionths / kMillion, unit, &whole)) return std::nullopt;
  return whole + (*millionths % kMillion * unit + kMillion / 2) / kMillion;
}

/// True for a plausible size of memory. Larger values of a broken file would overflow the sums.
constexpr bool IsMemorySize(std::int64_t bytes) {
  return bytes >= 0 && bytes <= std::int64_t{1} << 50;
}

/// The CSV files write MB and mean 2^20 bytes, KB and mean 2^10.
inline std::optional<std::int64_t> BytesFromMebibytes(std::string_view text) {
  return BytesFrom(text, std::int64_t{1} << 20);
}
inline std::optional<std::int64_t> BytesFromKibibytes(std::string_view text) {
  return BytesFrom(text, std::int64_t{1} << 10);
}

}  // namespace mpa::readers
