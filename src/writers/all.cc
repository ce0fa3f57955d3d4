// SPDX-License-Identifier: Apache-2.0
// What a report can be written as.
#include <algorithm>

#include "formats.h"
#include "mpa/base/error.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"

namespace mpa {

namespace fs = std::filesystem;

namespace {

using Notes = std::vector<std::string>;

// The forms that never have notes.
template <void (*kWrite)(const Report& report, const fs::path& path)>
void WithoutNotes(const Report& report, const fs::path& path, Notes&) {
  kWrite(report, path);
}

template <std::string (*kFormat)(const GateReport& report)>
void WriteGate(const Report& report, const fs::path& path, Notes&) {
  io::WriteText(path, kFormat(*report.gate));
}

void WriteJson(const Report& report, const fs::path& path) {
  if (report.gate) return io::WriteText(path, FormatGateJson(*report.gate));
  writers::WriteJsonFile(report, path);
}

void WriteMarkdown(const Report& report, const fs::path& path) {
  if (report.gate) return io::WriteText(path, FormatGateMarkdown(*report.gate));
  writers::WriteMarkdownFile(report, path);
}

void WriteDatabase(const Report& report, const fs::path& path) {
  writers::WriteDatabaseFile(report.sheets, path);
}

void WriteTextDirectory(const Report& report, const fs::path& path, Notes& notes) {
  io::MakeDirectory(path);
  WriteRankWorkbooks(report, path, notes);
  WriteTextFiles(report, path);
}

void WriteNotebookDirectory(const Report& report, const fs::path& path) {
  io::MakeDirectory(path);
  WriteNotebook(report, path, path.stem().string());
}

}  // namespace

bool ExportType::IsFor(ReportKind kind) const {
  return std::ranges::find(kinds, kind) != kinds.end();
}

const std::vector<ExportType>& AllExportTypes() {
  using Kind = ReportKind;
  static const std::vector<ExportType> all = {
      {"xlsx", ".xlsx",
       [](const Report& report, const fs::path& path, Notes& notes) {
         writers::WriteXlsxFile(report, path, notes);
       }},
      {"db", ".db", WithoutNotes<WriteDatabase>},
      {"json", ".json", WithoutNotes<WriteJson>},
      {"csv", "_csv", WithoutNotes<writers::WriteCsvFiles>},
      {"md", ".md", WithoutNotes<WriteMarkdown>},
      {"html", ".html", WithoutNotes<writers::WriteHtmlFile>},
      {"columns", "_columns.md", WithoutNotes<writers::WriteColumnsFile>},
      {"text", "_text", WriteTextDirectory, {Kind::kRecipe}},
      {"notebook", "_notebook", WithoutNotes<WriteNotebookDirectory>, {Kind::kRecipe}},
      {"junit", ".junit.xml", WriteGate<FormatGateJunit>, {Kind::kGate}},
      {"openmetrics",
       ".openmetrics.txt",
       WriteGate<FormatGateOpenMetrics>,
       {Kind::kGate, Kind::kHistory}},
      {"github", "", nullptr, {Kind::kGate}},
  };
  return all;
}

WrittenReport WriteReport(const Report& report, const fs::path& directory, const std::string& stem,
                          const std::vector<ExportType>& types) {
  return InContext(directory.string(), [&] {
    WrittenReport written;
    io::OutputSet outputs(directory, stem);
    for (const ExportType& type : types) {
      type.write(report, outputs.Add(std::string(type.ending)), written.notes);
    }
    written.paths = outputs.Commit();
    return written;
  });
}

void PrepareReport(const fs::path& directory, const std::string& stem, const ExportType& type) {
  const fs::path path = directory / (stem + std::string(type.ending));
  type.IsDirectory() ? io::PrepareOutputTree(path) : io::PrepareOutputFile(path);
}

fs::path ReplaceReport(const Report& report, const fs::path& directory, const std::string& stem,
                       const ExportType& type, std::vector<std::string>& notes) {
  return InContext(directory.string(), [&] {
    fs::path path = directory / (stem + std::string(type.ending));
    io::OutputFile file(path);
    type.write(report, file.temporary_path(), notes);
    file.Replace(path);
    return path;
  });
}

fs::path WriteXlsx(const Report& report, const fs::path& directory, const std::string& stem) {
  return WriteReport(report, directory, stem, {AllExportTypes().front()}).paths.front();
}

}  // namespace mpa
