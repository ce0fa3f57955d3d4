// SPDX-License-Identifier: Apache-2.0
// The CSV files of --export_type text.

#include <string>
#include <vector>

#include "formats.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"

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
  const std::optional<double> number = NumberOf(cell);
  return number ? Cell(*number / Divisor(unit)) : cell;
}

void WriteTextFile(const Sheet& sheet, TextFile::Unit unit, const std::filesystem::path& path) {
  io::TextFile file(path);
  std::string line;
  const std::vector<writers::TextColumn> columns = writers::TextColumns(sheet, unit);
  for (const writers::TextColumn& column : columns) {
    line += (line.empty() ? "" : ",") + writers::CsvField(column.title);
  }
  writers::Print(file.stream(), "{}\n", line);
  for (const Row& row : sheet.rows) {
    line.clear();
    for (const auto& [place, title] : columns) {
      if (place != columns.front().place) line += ',';
      line += writers::CsvField(ValueOf(row.cells[place], sheet.columns[place], unit));
    }
    writers::Print(file.stream(), "{}\n", line);
  }
  file.Close();
}

void WriteDocument(const TextDocument& document, const std::filesystem::path& path) {
  if (!document.write) return io::ReplaceText(path, document.text);
  io::OutputFile output(path);
  io::TextFile file(output.temporary_path());
  document.write([&](std::string_view text) { file.Write(text); });
  file.Close();
  output.Replace(path);
}

}  // namespace

TextFile writers::TextFileOf(const Sheet& sheet) {
  if (!sheet.text_file.stem.empty()) return sheet.text_file;
  return {sheet.name, TextFile::Unit::kAsTheyAre};
}

std::vector<writers::TextColumn> writers::TextColumns(const Sheet& sheet, TextFile::Unit unit) {
  std::vector<TextColumn> columns;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    const Column& column = sheet.columns[i];
    if (column.name != sheet.text_file.without) columns.push_back({i, TitleOf(column, unit)});
  }
  return columns;
}

std::vector<std::filesystem::path> WriteTextFiles(const Report& report,
                                                  const std::filesystem::path& directory,
                                                  Sheets sheets) {
  std::vector<std::filesystem::path> paths;
  for (const Sheet& sheet : report.sheets) {
    const bool has_form = !sheet.text_file.stem.empty() && !sheet.rows.empty();
    if (sheets == Sheets::kWithTextForm && !has_form) continue;
    const TextFile text_file = writers::TextFileOf(sheet);
    const std::filesystem::path path = directory / (text_file.stem + ".csv");
    io::OutputFile file(path);
    WriteTextFile(sheet, text_file.unit, file.temporary_path());
    file.Replace(path);
    paths.push_back(path);
  }
  for (const TextDocument& document : report.documents) {
    const std::filesystem::path name = document.file_name;
    paths.push_back(directory / name);
    io::PrepareDirectoryBelow(directory, name.parent_path());
    WriteDocument(document, paths.back());
  }
  return paths;
}

}  // namespace mpa
