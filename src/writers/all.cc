// SPDX-License-Identifier: Apache-2.0
// What a report can be written as.
#include "formats.h"
#include "mpa/base/error.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"

namespace mpa {

namespace fs = std::filesystem;

const std::vector<ExportType>& AllExportTypes() {
  using Notes = std::vector<std::string>;
  static const std::vector<ExportType> all = {
      {"xlsx", ".xlsx",
       [](const Report& report, const fs::path& path, Notes& notes) {
         writers::WriteXlsxFile(report, path, notes);
       }},
      {"json", ".json",
       [](const Report& report, const fs::path& path, Notes&) {
         writers::WriteJsonFile(report, path);
       }},
      {"csv", "_csv",
       [](const Report& report, const fs::path& path, Notes&) {
         writers::WriteCsvFiles(report, path);
       }},
      {"md", ".md",
       [](const Report& report, const fs::path& path, Notes&) {
         writers::WriteMarkdownFile(report, path);
       }},
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
