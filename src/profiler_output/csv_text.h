// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mpa/base/time.h"

/// Numbers as the profiler's files show them, appended to a text.
namespace mpa::profiler_output {

inline constexpr double kBytesPerKilobyte = 1024, kBytesPerMegabyte = 1024 * 1024;

/// Nanoseconds as microseconds with three decimals: 1500 is "1.500".
struct Micros {
  TimeNs ns;
};

/// A point in time in µs. The tab keeps spreadsheets from rounding it.
struct Stamp {
  TimeNs ns;
};

/// A double with as many decimals as tell it from others, at least one: 8 is "8.0". What is no
/// number (JSON has none for it) is "0.0".
struct Decimal {
  double value;
};

/// Nanoseconds as microseconds like Decimal: 1500 is "1.5", 2280.0625 is "2.2800625".
struct ShortMicros {
  double ns;
};

/// A double rounded to three decimals, without zeros at the end but the first: 1.50049 is "1.5",
/// 8 is "8.0".
struct Rounded {
  double value;
};

/// The same without a decimal point after whole numbers: 8 is "8".
struct RoundedShort {
  double value;
};

/// A double with three decimals: 8 is "8.000".
struct ThreeDecimals {
  double value;
};

void PutOne(std::string& out, Micros time);
void PutOne(std::string& out, Stamp time);
void PutOne(std::string& out, Decimal number);
void PutOne(std::string& out, ShortMicros time);
void PutOne(std::string& out, Rounded number);
void PutOne(std::string& out, RoundedShort number);
void PutOne(std::string& out, ThreeDecimals number);
void PutSigned(std::string& out, std::int64_t number);
void PutUnsigned(std::string& out, std::uint64_t number);
inline void PutOne(std::string& out, std::string_view text) { out += text; }
inline void PutOne(std::string& out, std::signed_integral auto number) { PutSigned(out, number); }
inline void PutOne(std::string& out, std::unsigned_integral auto number) {
  PutUnsigned(out, number);
}

/// Appends texts, whole numbers and the forms above one after the other.
template <typename... Parts>
void Put(std::string& out, const Parts&... parts) {
  (PutOne(out, parts), ...);
}

/// One line of a CSV file, appended to a text; its end is the end of the line (CR LF).
class CsvRow {
 public:
  explicit CsvRow(std::string& out) : out_(out) {}
  ~CsvRow() { out_ += "\r\n"; }
  CsvRow(const CsvRow&) = delete;
  CsvRow& operator=(const CsvRow&) = delete;

  /// A cell of any text, in quotes where it needs them.
  void Text(std::string_view text);
  /// A cell of numbers and texts that need no quotes.
  template <typename... Parts>
  void Cell(const Parts&... parts) {
    Separate();
    Put(out_, parts...);
  }
  /// A cell for each value: a text as of Text(), a number, or an empty one for nullopt.
  template <typename... Values>
  void Cells(const Values&... values) {
    (Add(values), ...);
  }

 private:
  void Add(std::string_view text) { Text(text); }
  template <typename Value>
  void Add(const std::optional<Value>& value) {
    value ? Add(*value) : Cell();
  }
  template <typename Value>
  requires(!std::convertible_to<const Value&, std::string_view>) void Add(const Value& value) {
    Cell(value);
  }
  void Separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;
};

/// `text`, in quotes where a CSV cell needs them, with U+FFFD for bytes that are not UTF-8.
void AppendCsvText(std::string& out, std::string_view text);

}  // namespace mpa::profiler_output
