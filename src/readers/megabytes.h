// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "mpa/io/numbers.h"
#include "mpa/model/issues.h"

namespace mpa::readers {

/// Bytes from decimal text of units of `unit` bytes, rounded; so many decimals count. Empty for
/// invalid numbers and for more than 2^63 of the last decimal.
template <int kDecimals>
std::optional<std::int64_t> BytesFrom(std::string_view text, std::int64_t unit) {
  const auto scaled = io::ScaledDecimal(text, kDecimals);
  if (!scaled) return std::nullopt;
  std::int64_t scale = 1;
  for (int i = 0; i < kDecimals; ++i) scale *= 10;
  std::int64_t whole = 0;
  if (__builtin_mul_overflow(*scaled / scale, unit, &whole)) return std::nullopt;
  return whole + (*scaled % scale * unit + scale / 2) / scale;
}

/// The CSV files write MB and mean 2^20 bytes, KB and mean 2^10. The decimals tell single bytes.
inline std::optional<std::int64_t> BytesFromMebibytes(std::string_view text) {
  return BytesFrom<9>(text, std::int64_t{1} << 20);
}
inline std::optional<std::int64_t> BytesFromKibibytes(std::string_view text) {
  return BytesFrom<6>(text, std::int64_t{1} << 10);
}

/// Bytes or ns of traffic, rounded; 0 for an invalid amount, which is counted by what it is called:
/// values beyond a petabyte or 11 days would overflow the sums.
inline std::int64_t TrafficOrZero(double amount, std::string_view name, Issues& issues) {
  constexpr double kMax = 1e15;
  if (amount >= 0 && amount <= kMax) return std::llround(amount);
  issues.Count("invalid traffic, taken as 0", name);
  return 0;
}

/// True for a frequency that a core can run at.
constexpr bool IsClock(std::int64_t mhz) {
  constexpr std::int64_t kMax = 1'000'000;
  return mhz > 0 && mhz <= kMax;
}

}  // namespace mpa::readers
