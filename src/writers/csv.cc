// SPDX-License-Identifier: Apache-2.0
// Reports as a directory of CSV files (RFC 4180), for programs and spreadsheets.
#include "formats.h"
#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/io/output_file.h"
#include "sheet_values.h"

namespace mpa::writers {
std::string CsvField(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return CsvCell(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  return {};
}

namespace {

void WriteSheet(const Sheet& sheet, const std::filesystem::path& directory) {
  if (sheet.name.empty() || sheet.name.find('/') != std::string::npos) {
    Fail(ErrorKind::kInternal, "bad sheet name '{}'", sheet.name);
  }
  io::TextFile file(directory / (sheet.name + ".csv"));
  std::vector<std::string> keys = ColumnKeys(sheet);
  const bool has_levels = HasLevels(sheet);
  if (has_levels) keys.emplace_back(kLevelKey);
  Print(file.stream(), "{}\r\n", fmt::join(keys, ","));
  std::string line;
  for (const Row& row : sheet.rows) {
    line.clear();
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      if (i > 0) line += ',';
      line += CsvField(ProgramCell(sheet, row, i));
    }
    if (has_levels) line += fmt::format(",{}", row.indent);
    Print(file.stream(), "{}\r\n", line);
  }
  file.Close();
}

}  // namespace

void WriteCsvFiles(const Report& report, const std::filesystem::path& path) {
  io::MakeDirectory(path);
  for (const Sheet& sheet : report.sheets) WriteSheet(sheet, path);
  if (!report.notes.empty()) WriteSheet(NotesSheet(report.notes), path);
}

}  // namespace mpa::writers
