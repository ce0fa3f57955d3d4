// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "number_text.h"

namespace mpa::profiler_output {

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
  /// A point in time in µs. The tab keeps spreadsheets from rounding it.
  void Time(TimeNs time) { Cell(Micros{time}, "\t"); }

 private:
  void Separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;
};

/// `text`, in quotes where a CSV cell needs them, with U+FFFD for bytes that are not UTF-8.
void AppendCsvText(std::string& out, std::string_view text);

/// Lists of the framework are shown one entry a line: ";" becomes ";" CR LF.
std::string ListLines(std::string_view list);

}  // namespace mpa::profiler_output
