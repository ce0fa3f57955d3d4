// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mpa/base/time.h"

namespace mpa::io {

/// Sets `value` to the number in the text times 10^decimals; false if the text is not a number, see
/// ScaledDecimal(). (An optional that a function returns costs a stall of the processor.)
bool ReadScaledDecimal(std::string_view text, int decimals, std::int64_t& value);

/// Decimal text times a power of ten, within 64 bits: ScaledDecimal("1.5", 3) is 1500. Rounded half
/// up: ScaledDecimal("12.3456", 3) is 12346. Accepts the forms that captures contain: blanks and
/// tabs around it, a sign, an exponent, any number of decimals. Empty for anything else.
inline std::optional<std::int64_t> ScaledDecimal(std::string_view text, int decimals) {
  std::int64_t value = 0;
  if (ReadScaledDecimal(text, decimals, value)) return value;
  return std::nullopt;
}

/// Decimal text of microseconds as nanoseconds; empty also for invalid times, see IsTime().
inline std::optional<TimeNs> NsFromMicros(std::string_view text) {
  TimeNs time = 0;
  if (ReadScaledDecimal(text, 3, time) && IsTime(time)) return time;
  return std::nullopt;
}

/// The part that NsFromMicros rounds away, in nanoseconds from -0.5 to 0.5; 0 for invalid times.
float MicrosBeyondNs(std::string_view text);

/// A finite real number and nothing else.
std::optional<double> ParseReal(std::string_view text);

/// A whole number, blanks around it allowed, also as programs write it that keep numbers as reals:
/// "6.0". Empty for anything else.
std::optional<std::int64_t> ParseInt(std::string_view text);

}  // namespace mpa::io
