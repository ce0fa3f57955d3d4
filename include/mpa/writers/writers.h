// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/report/report.h"

namespace mpa {

/// A bordered text table with centred cells and a title over its whole width, ending in a newline.
std::string FormatTable(const ScreenTable& table);

/// Prints the report as one JSON document, a row on each line; failures are left in the stream.
void PrintJson(const Report& report, std::FILE* stream);

/// A kind of file that a report can become.
struct ExportType {
  std::string_view name;    ///< on the command line
  std::string_view ending;  ///< what follows the stem in the name of the file
  /// Writes the report to `path`, and appends what had to be done to it to `notes`.
  void (*write)(const Report& report, const std::filesystem::path& path,
                std::vector<std::string>& notes);
};

/// xlsx, json, csv (a directory with a file for each sheet) and md.
const std::vector<ExportType>& AllExportTypes();

struct WrittenReport {
  std::vector<std::filesystem::path> paths;  ///< one for each type
  std::vector<std::string> notes;            ///< what is not in the files as it is in the report
};

/// Writes the report in every type as `<stem><ending>` in `directory`, or under the stem followed
/// by 01, 02, ... when one of the names is taken: no run overwrites another's result. The files
/// appear when all are complete. Throws Error (kOutput).
WrittenReport WriteReport(const Report& report, const std::filesystem::path& directory,
                          const std::string& stem, const std::vector<ExportType>& types);

/// Checks, before the long work starts, that WriteDatabase() can do its own. Throws Error
/// (kOutput).
void PrepareDatabase(const std::filesystem::path& path);

/// Writes the sheets as tables of the SQLite database `path`, in place of tables of the same names;
/// other tables of the database stay. All of it happens or nothing; a run that writes to the same
/// directory is waited for. Throws Error (kOutput).
void WriteDatabase(const std::vector<Sheet>& tables, const std::filesystem::path& path);

/// Writes the report as `<stem><ending>` in `directory`, in place of what a run before left there.
/// Returns the path. Throws Error (kOutput).
std::filesystem::path ReplaceReport(const Report& report, const std::filesystem::path& directory,
                                    const std::string& stem, const ExportType& type,
                                    std::vector<std::string>& notes);

/// The same as WriteReport for a workbook alone; returns its path.
std::filesystem::path WriteXlsx(const Report& report, const std::filesystem::path& directory,
                                const std::string& stem);

}  // namespace mpa
