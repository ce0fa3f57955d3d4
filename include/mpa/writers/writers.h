// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/report/gate_report.h"
#include "mpa/report/page.h"
#include "mpa/report/report.h"
#include "mpa/report/timeline.h"

namespace mpa {

/// A text table, ending in a newline: bordered, with centred cells and a title over its whole
/// width; or plain, below its heading.
std::string FormatTable(const ScreenTable& table);

/// The charts of a report that are bars, drawn with letters in ScreenColumns(), as many as there is
/// room for in so many lines, at most 16 bars of each and a blank line before it.
std::vector<std::string> TextChartsOf(const Report& report, std::size_t room);

/// What the screen says of a report, a line for each row of its tables, too.
ScreenLines StoryOf(const Report& report);

/// Lines as documents for programs have them: an array of objects with the text, what it is about
/// (value, unit, rank) and all numbers of the text. Blank lines are left out.
std::string StoryJson(const ScreenLines& lines);

/// Prints the report as one JSON document, a row on each line; failures are left in the stream.
void PrintJson(const Report& report, std::FILE* stream);

/// Which reports a form is for.
enum class ReportKind { kComparison, kGate, kRecipe, kHistory };

/// A form that a report can be written in. Each writer shows the parts of a report that it can.
struct ExportType {
  std::string_view name;    ///< on the command line
  std::string_view ending;  ///< what follows the stem in the name of the file; empty: is printed
  /// Writes the report to `path`, and appends what had to be done to it to `notes`. Null for what
  /// is printed: FormatGateAnnotations().
  void (*write)(const Report& report, const std::filesystem::path& path,
                std::vector<std::string>& notes);
  std::vector<ReportKind> kinds = {ReportKind::kComparison, ReportKind::kGate, ReportKind::kRecipe,
                                   ReportKind::kHistory};

  bool IsFor(ReportKind kind) const;
  /// It makes a directory of files.
  bool IsDirectory() const { return ending.starts_with('_'); }
};

/// xlsx, db, json, csv (a directory with a file for each sheet), md, html, columns, text (a
/// directory with workbooks for each rank) and notebook, for gates junit, openmetrics and
/// github, and for histories openmetrics.
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

/// Checks, before the long work starts, that ReplaceReport() can do its own. Throws Error
/// (kOutput).
void PrepareReport(const std::filesystem::path& directory, const std::string& stem,
                   const ExportType& type);

/// Writes the report as `<stem><ending>` in `directory`, in place of what a run before left there.
/// Returns the path. Throws Error (kOutput).
std::filesystem::path ReplaceReport(const Report& report, const std::filesystem::path& directory,
                                    const std::string& stem, const ExportType& type,
                                    std::vector<std::string>& notes);

/// Writes the workbooks of each rank as `<stem>_<rank>.xlsx` into `directory`, in place of what a
/// run before left there: the sheets that have a place in them, with the rows of that rank. A
/// workbook whose first sheet has no rows is left out. Throws Error (kOutput).
std::vector<std::filesystem::path> WriteRankWorkbooks(const Report& report,
                                                      const std::filesystem::path& directory,
                                                      std::vector<std::string>& notes);

/// Which sheets become CSV files.
enum class Sheets : std::uint8_t {
  kWithTextForm,  ///< those that the form `text` has, if they have rows
  kAll,
};

/// Writes sheets as CSV files into `directory`, and the documents, in place of what a run before
/// left there. Throws Error (kOutput).
std::vector<std::filesystem::path> WriteTextFiles(const Report& report,
                                                  const std::filesystem::path& directory,
                                                  Sheets sheets = Sheets::kWithTextForm);

/// Writes all sheets as CSV files into `directory`, and stats.ipynb, a notebook that shows and
/// plots them. Returns the paths. Throws Error (kOutput).
std::vector<std::filesystem::path> WriteNotebook(const Report& report,
                                                 const std::filesystem::path& directory,
                                                 std::string_view title);

/// The same as WriteReport for a workbook alone; returns its path.
std::filesystem::path WriteXlsx(const Report& report, const std::filesystem::path& directory,
                                const std::string& stem);

/// A page of HTML that needs nothing else: lanes over a time axis, and what the colours mean.
std::string FormatPage(const Timeline& timeline);

/// A page of HTML that needs nothing else.
std::string FormatPage(const Page& page);

// What a gate found, in the forms that platforms show. Texts, not files: they are small.

/// Lines for the screen, the headline first; `brief`: in one line of kShortHeadline characters at
/// most. Names of what changed give way where a line is longer than `width`; other names from
/// captures are as they are.
std::vector<std::string> FormatGateText(const GateReport& report, bool brief = false,
                                        std::size_t width = 80);

/// One document; docs/gate.md describes it. Keys are only ever added under one schema_version.
std::string FormatGateJson(const GateReport& report);

/// At most 64 KB, the size that comments of platforms may have.
std::string FormatGateMarkdown(const GateReport& report);

/// A test case for each metric, and one for what kept the gate from judging.
std::string FormatGateJunit(const GateReport& report);

/// Gauges in seconds and bytes.
std::string FormatGateOpenMetrics(const GateReport& report);

/// Workflow commands of GitHub Actions, at most 10: what failed first.
std::string FormatGateAnnotations(const GateReport& report);

/// Throws Error (kOutput) when AppendGateSummary() could not write to this file.
void CheckGateSummary(const std::filesystem::path& path);

/// Appends the Markdown report to a file that others write to, too. Throws Error (kOutput).
void AppendGateSummary(const GateReport& report, const std::filesystem::path& path);

}  // namespace mpa
