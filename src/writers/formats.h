// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "mpa/report/report.h"

/// The write functions of all.cc; see ExportType.
namespace mpa::writers {

/// What the sheets of a workbook can hold. Tests set less.
struct WorkbookLimits {
  std::size_t rows = 1048576;      ///< of a sheet, with its headers
  std::size_t characters = 32767;  ///< of a cell
};

/// Rows beyond the limit continue on further sheets, longer texts are cut; notes tell both. Notes
/// make a sheet of their own.
void WriteXlsxFile(const Report& report, const std::filesystem::path& path,
                   std::vector<std::string>& notes, const WorkbookLimits& limits = {});

/// Adds the sheets to the database as tables, in place of those of the same names; `path` is the
/// caller's alone. Numbers are those of the columns' units, names are the columns'.
void WriteDatabaseFile(const std::vector<Sheet>& tables, const std::filesystem::path& path);

void WriteJsonFile(const Report& report, const std::filesystem::path& path);

/// A cell as a field of a CSV file (RFC 4180): real numbers with all digits, texts that spreadsheet
/// programs would run as formulas made harmless.
std::string CsvField(const Cell& cell);

/// The CSV file of a sheet of the form `text` or `notebook`; one that has none there is named as
/// the sheet.
TextFile TextFileOf(const Sheet& sheet);

/// A column of that file.
struct TextColumn {
  std::size_t place = 0;  ///< in the sheet
  std::string title;
};
std::vector<TextColumn> TextColumns(const Sheet& sheet, TextFile::Unit unit);

/// `path` becomes a directory with a file for each sheet, and one for the notes.
void WriteCsvFiles(const Report& report, const std::filesystem::path& path);

/// What each column of each sheet says, as Markdown: its key, its name in databases, unit, meaning.
void WriteColumnsFile(const Report& report, const std::filesystem::path& path);

/// The story, the tables of the screen, the first rows of each sheet and the notes.
void WriteMarkdownFile(const Report& report, const std::filesystem::path& path);

/// A page that needs nothing else: the page of the report, if it has one; else the answer of the
/// screen, the findings, the story, the first rows of each sheet and the notes.
void WriteHtmlFile(const Report& report, const std::filesystem::path& path);

/// fmt::print without its exception: whoever closes the stream asks it for failures, once.
template <typename... Args>
void Print(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  (void)std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace mpa::writers
