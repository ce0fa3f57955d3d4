// SPDX-License-Identifier: Apache-2.0
#include "round_decimal.h"

#include <array>
#include <charconv>
#include <cmath>

namespace mpa::raw {

double RoundDecimal(double value, int decimals) {
  if (std::abs(value) >= 0x1p52 || !std::isfinite(value)) return value;  // has no decimals
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, decimals)
                       .ptr;
  double rounded = value;
  std::from_chars(text.data(), end, rounded);
  return rounded;
}

}  // namespace mpa::raw
