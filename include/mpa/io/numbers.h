// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mpa/base/time.h"

namespace mpa::io {

/// Decimal text of microseconds as nanoseconds, rounded half up at the fourth decimal: "12.3456" is
/// 12346. Accepts the forms that captures contain: blanks and tabs around it, a sign, an exponent,
/// any number of decimals. Empty for anything else and for invalid times, see IsTime().
std::optional<TimeNs> NsFromMicros(std::string_view text);

/// The part that NsFromMicros rounds away, in nanoseconds from -0.5 to 0.5; 0 for invalid times.
float MicrosBeyondNs(std::string_view text);

/// The same for any power of ten, within 64 bits: ScaledDecimal("1.5", 3) is 1500.
std::optional<std::int64_t> ScaledDecimal(std::string_view text, int decimals);

/// A finite real number and nothing else.
std::optional<double> ParseReal(std::string_view text);

/// A whole number, blanks around it allowed; empty for anything else.
std::optional<std::int64_t> ParseInt(std::string_view text);

}  // namespace mpa::io
