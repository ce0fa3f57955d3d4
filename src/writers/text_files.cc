// SPDX-License-Identifier: Apache-2.0
// The CSV files of --export_type text.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"
#include "print.h"
#include "sheet_values.h"

namespace mpa {
namespace {

bool IsNs(std::string_view name) { return name.ends_with("Ns"); }

double Divisor(TextFile::Unit unit) { return unit == TextFile::Unit::kMicroseconds ? 1e3 : 1e6; }

// "MeanNs" is "Mean(Us)".
std::string TitleOf(const Column& column, TextFile::Unit unit) {
  if (!column.in_workbook.title.empty()) return column.in_workbook.title;
  if (!IsNs(column.name) || unit == TextFile::Unit::kAsTheyAre) return column.name;
  return column.name.substr(0, column.name.size() - 2) +
         (unit == TextFile::Unit::kMicroseconds ? "(Us)" : "(Ms)");
}

Cell ValueOf(const Cell& cell, const Column& column, TextFile::Unit unit) {
  if (!IsNs(column.name) || unit == TextFile::Unit::kAsTheyAre) return cell;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return static_cast<double>(*whole) / Divisor(unit);
  }
  if (const auto* real = std::get_if<double>(&cell)) return *real / Divisor(unit);
  return cell;
}

void WriteTextFile(const Sheet& sheet, const std::filesystem::path& path) {
  const TextFile::Unit unit = sheet.text_file.unit;
  io::TextFile file(path);
  std::string line;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    const Column& column = sheet.columns[i];
    if (column.name == sheet.text_file.without) continue;
    line += (places.empty() ? "" : ",") + writers::CsvField(TitleOf(column, unit));
    places.push_back(i);
  }
  writers::Print(file.stream(), "{}\n", line);
  for (const Row& row : sheet.rows) {
    line.clear();
    for (const std::size_t i : places) {
      if (i != places.front()) line += ',';
      line += writers::CsvField(ValueOf(row.cells[i], sheet.columns[i], unit));
    }
    writers::Print(file.stream(), "{}\n", line);
  }
  file.Close();
}

}  // namespace

std::vector<std::filesystem::path> WriteTextFiles(const Report& report,
                                                  const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  for (const Sheet& sheet : report.sheets) {
    if (sheet.text_file.stem.empty() || sheet.rows.empty()) continue;
    const std::filesystem::path path = directory / (sheet.text_file.stem + ".csv");
    io::OutputFile file(path);
    WriteTextFile(sheet, file.temporary_path());
    file.Replace(path);
    paths.push_back(path);
  }
  for (const TextDocument& document : report.documents) {
    paths.push_back(directory / document.file_name);
    io::ReplaceText(paths.back(), document.text);
  }
  return paths;
}

}  // namespace mpa
