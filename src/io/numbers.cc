// SPDX-License-Identifier: Apache-2.0
// Numbers from text without a detour over double: at today's epoch a double of microseconds steps
// by a quarter of a microsecond.
#include "mpa/io/numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "mpa/base/text.h"

namespace mpa::io {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// value * 10 + digit, or false when it does not fit.
bool AppendDigit(std::int64_t& value, int digit) {
  if (value > (kMax - digit) / 10) return false;
  value = value * 10 + digit;
  return true;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads "e+05" at `at`; an exponent beyond +-1000 is cut there (the value is 0 or too large
// anyway).
std::optional<int> ReadExponent(std::string_view text, std::size_t at) {
  if (at == text.size()) return 0;
  if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
  ++at;
  bool negative = false;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) negative = text[at++] == '-';
  if (at == text.size()) return std::nullopt;
  int exponent = 0;
  for (; at < text.size(); ++at) {
    if (!IsDigit(text[at])) return std::nullopt;
    if (exponent < 1000) exponent = exponent * 10 + (text[at] - '0');
  }
  return negative ? -exponent : exponent;
}

// Eight characters at a time; characters are bytes of `word`, the first one the lowest.
bool AreDigits(std::uint64_t word) {
  return ((word & (word + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u) == 0x3030303030303030u;
}
std::uint64_t ValueOfDigits(std::uint64_t word) {
  word = (word & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
  word = (word & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
  return (word & 0x0000ffff0000ffffu) * 42949672960001 >> 32;
}

// The value in the form of nearly all numbers: some digits, and no more decimals than wanted.
bool ReadPlainDecimal(std::string_view text, int decimals, std::int64_t& result) {
  constexpr int kDigitsThatFit = 19;  // in 64 bits without sign
  std::uint64_t value = 0;
  std::size_t at = 0;
  const auto take_digit = [&] {
    value = value * 10 + static_cast<std::uint64_t>(text[at++] - '0');
  };
  if constexpr (std::endian::native == std::endian::little) {
    for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if (!AreDigits(word)) break;
      value = value * 100'000'000 + ValueOfDigits(word);
    }
  }
  while (at < text.size() && IsDigit(text[at])) take_digit();
  if (at == 0 || decimals < 0 || at + static_cast<std::size_t>(decimals) > kDigitsThatFit) {
    return false;
  }
  int missing = decimals;
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && missing > 0 && IsDigit(text[at]); --missing) take_digit();
  }
  if (at < text.size()) return false;
  for (; missing > 0; --missing) value *= 10;
  if (value > static_cast<std::uint64_t>(kMax)) return false;
  result = static_cast<std::int64_t>(value);
  return true;
}

}  // namespace

bool ReadScaledDecimal(std::string_view text, int decimals, std::int64_t& result) {
  if (ReadPlainDecimal(text, decimals, result)) return true;
  text = Trim(text);
  std::size_t at = 0;
  bool negative = false;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
  const std::size_t digits_from = at;
  std::size_t point = std::string_view::npos;
  for (; at < text.size() && (IsDigit(text[at]) || text[at] == '.'); ++at) {
    if (text[at] != '.') continue;
    if (point != std::string_view::npos) return false;
    point = at;
  }
  const std::size_t digits_to = at;
  const bool has_point = point != std::string_view::npos;
  const std::size_t digit_count = digits_to - digits_from - (has_point ? 1 : 0);
  if (digit_count == 0) return false;
  const std::optional<int> exponent = ReadExponent(text, at);
  if (!exponent) return false;

  // How many digits, counted from the left, form the whole part of the scaled value.
  const auto whole_digits =
      static_cast<std::ptrdiff_t>((has_point ? point : digits_to) - digits_from);
  const std::ptrdiff_t kept = whole_digits + decimals + *exponent;
  std::int64_t value = 0;
  std::ptrdiff_t index = 0;
  for (std::size_t i = digits_from; i < digits_to; ++i) {
    if (i == point) continue;
    const int digit = text[i] - '0';
    if (index < kept) {
      if (!AppendDigit(value, digit)) return false;
    } else {
      if (index == kept && digit >= 5) {
        if (value == kMax) return false;
        ++value;
      }
      break;
    }
    ++index;
  }
  for (; index < kept && value != 0; ++index) {
    if (!AppendDigit(value, 0)) return false;
  }
  result = negative ? -value : value;
  return true;
}

float MicrosBeyondNs(std::string_view text) {
  constexpr std::size_t kDigitsOfNs = 3;
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() - point <= kDigitsOfNs + 1) return 0;
  const auto whole = NsFromMicros(text);
  const auto micros = WholeNumber<double>(text);
  if (!whole || !micros) return 0;
  return static_cast<float>(*micros * 1e3 - static_cast<double>(*whole));
}

std::optional<double> ParseReal(std::string_view text) {
  const auto value = WholeNumber<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  text = Trim(text);
  if (text.size() > 1 && text[0] == '+' && IsDigit(text[1])) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos && point > 0 && point + 1 < text.size() &&
      text.find_first_not_of('0', point + 1) == std::string_view::npos) {
    text = text.substr(0, point);
  }
  return WholeNumber<std::int64_t>(text);
}

}  // namespace mpa::io
