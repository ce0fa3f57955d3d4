// SPDX-License-Identifier: Apache-2.0
#include "csv_text.h"

#include <algorithm>

#include "mpa/base/utf8.h"

namespace mpa::profiler_output {

void CsvRow::Text(std::string_view text) {
  Separate();
  AppendCsvText(out_, text);
}

void AppendCsvText(std::string& out, std::string_view text) {
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  // Damaged names need not be UTF-8, but tools do not open tables with other bytes.
  const std::string valid = ascii ? "" : ValidUtf8(text);
  if (!ascii) text = valid;
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string ListLines(std::string_view list) {
  std::string lines;
  lines.reserve(list.size() * 2);
  for (const char c : list) {
    lines += c;
    if (c == ';') lines += "\r\n";
  }
  return lines;
}

}  // namespace mpa::profiler_output
