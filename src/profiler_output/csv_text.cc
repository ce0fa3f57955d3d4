// SPDX-License-Identifier: Apache-2.0
// Cells of tables. Prints numbers without going through format strings: traces hold several of
// them in each of millions of events.
#include "csv_text.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"

namespace mpa::profiler_output {
namespace {

// Below this a double holds whole numbers and their thousandths exactly enough to print either way.
constexpr double kExact = 1e15;

std::uint64_t Magnitude(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  return number < 0 ? 0 - bits : bits;
}

/// "<sign><whole>.<three decimals>" of a number of thousandths.
void PutThousandths(std::string& out, std::int64_t thousandths) {
  const std::uint64_t magnitude = Magnitude(thousandths);
  const auto rest = static_cast<unsigned>(magnitude % 1000);
  if (thousandths < 0) out += '-';
  PutUnsigned(out, magnitude / 1000);
  const char decimals[] = {'.', static_cast<char>('0' + rest / 100),
                           static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  out.append(decimals, sizeof decimals);
}

/// Takes off the zeros at the end of a text with a decimal point, but for `kept` decimals.
void TrimZeros(std::string& out, std::size_t kept) {
  std::size_t decimals = out.size() - 1 - out.rfind('.');
  while (decimals > kept && out.back() == '0') {
    out.pop_back();
    --decimals;
  }
}

/// Rounds halves away from zero, as the profiler does.
void PutThreeDecimals(std::string& out, double value) {
  // A half may come out of a division a little too small.
  constexpr double kHair = 1e-12;
  if (!std::isfinite(value)) value = 0;
  if (std::abs(value) < kExact / 1000) {
    PutThousandths(out, std::llround(value * 1000 * (1 + kHair)));
  } else {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{:.3f}"), value);
  }
}

}  // namespace

void PutSigned(std::string& out, std::int64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

void PutUnsigned(std::string& out, std::uint64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

void PutOne(std::string& out, Micros time) { PutThousandths(out, time.ns); }

void PutOne(std::string& out, Stamp time) {
  PutThousandths(out, time.ns);
  out += '\t';
}

void PutOne(std::string& out, Decimal number) {
  if (!std::isfinite(number.value)) number.value = 0;
  const std::size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), number.value);
  if (out.find_first_of(".e", begin) == std::string::npos) out += ".0";
}

void PutOne(std::string& out, ShortMicros time) {
  if (std::abs(time.ns) < kExact && time.ns == std::floor(time.ns)) {
    PutThousandths(out, static_cast<std::int64_t>(time.ns));
    TrimZeros(out, 1);
  } else {
    PutOne(out, Decimal{time.ns / 1000});
  }
}

void PutOne(std::string& out, ThreeDecimals number) { PutThreeDecimals(out, number.value); }

void PutOne(std::string& out, Rounded number) {
  PutThreeDecimals(out, number.value);
  TrimZeros(out, 1);
}

void PutOne(std::string& out, RoundedShort number) {
  PutThreeDecimals(out, number.value);
  TrimZeros(out, 0);
  if (out.back() == '.') out.pop_back();
}

void CsvRow::Text(std::string_view text) {
  Separate();
  AppendCsvText(out_, text);
}

void AppendCsvText(std::string& out, std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) {
    return ('.' <= c && c <= '<') || ('A' <= c && c <= 'z') || c == ' ' || c == '*';
  });
  if (plain) {
    out += text;
  } else {  // damaged names need not be UTF-8, but tools do not open tables with other bytes
    out += CsvCell(ValidUtf8(text));
  }
}

}  // namespace mpa::profiler_output
