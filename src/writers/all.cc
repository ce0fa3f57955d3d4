// SPDX-License-Identifier: Apache-2.0
// What a report can be written as.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "formats.h"
#include "mpa/base/error.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/gate_writers.h"
#include "mpa/writers/writers.h"

namespace mpa {

namespace fs = std::filesystem;

namespace {

using Notes = std::vector<std::string>;

void WriteText(const std::string& text, const fs::path& path) {
  io::TextFile file(path);
  file.Write(text);
  file.Close();
}

void WriteJson(const Report& report, const fs::path& path, Notes&) {
  if (report.gate) return WriteText(FormatGateJson(*report.gate), path);
  writers::WriteJsonFile(report, path);
}

void WriteMarkdown(const Report& report, const fs::path& path, Notes&) {
  if (report.gate) return WriteText(FormatGateMarkdown(*report.gate), path);
  writers::WriteMarkdownFile(report, path);
}

void MakeDirectory(const fs::path& path) {
  if (mkdir(path.c_str(), 0750) != 0) {
    Fail(ErrorKind::kOutput, "{}: {}", io::FinalName(path), std::strerror(errno));
  }
}

void WriteTextDirectory(const Report& report, const fs::path& path, Notes& notes) {
  MakeDirectory(path);
  WriteRankWorkbooks(report, path, notes);
  WriteTextFiles(report, path);
}

void WriteNotebookDirectory(const Report& report, const fs::path& path, Notes&) {
  MakeDirectory(path);
  WriteNotebook(report, path, path.stem().string());
}

}  // namespace

bool ExportType::IsFor(ReportKind kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

const std::vector<ExportType>& AllExportTypes() {
  using Kind = ReportKind;
  static const std::vector<ExportType> all = {
      {"xlsx", ".xlsx",
       [](const Report& report, const fs::path& path, Notes& notes) {
         writers::WriteXlsxFile(report, path, notes);
       }},
      {"db", ".db",
       [](const Report& report, const fs::path& path, Notes&) {
         writers::WriteDatabaseFile(report.sheets, path);
       }},
      {"json", ".json", WriteJson},
      {"csv", "_csv",
       [](const Report& report, const fs::path& path, Notes&) {
         writers::WriteCsvFiles(report, path);
       }},
      {"md", ".md", WriteMarkdown},
      {"html", ".html",
       [](const Report& report, const fs::path& path, Notes&) {
         writers::WriteHtmlFile(report, path);
       }},
      {"columns", "_columns.md",
       [](const Report& report, const fs::path& path, Notes&) {
         writers::WriteColumnsFile(report, path);
       }},
      {"text", "_text", WriteTextDirectory, {Kind::kRecipe}},
      {"notebook", "_notebook", WriteNotebookDirectory, {Kind::kRecipe}},
      {"junit",
       ".junit.xml",
       [](const Report& report, const fs::path& path, Notes&) {
         WriteText(FormatGateJunit(*report.gate), path);
       },
       {Kind::kGate}},
      {"openmetrics",
       ".openmetrics.txt",
       [](const Report& report, const fs::path& path, Notes&) {
         WriteText(FormatGateOpenMetrics(*report.gate), path);
       },
       {Kind::kGate}},
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
