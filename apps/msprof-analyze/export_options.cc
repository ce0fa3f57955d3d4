// SPDX-License-Identifier: Apache-2.0
// What becomes of reports.
#include "export_options.h"

#include <algorithm>
#include <cstdio>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/text.h"
#include "screen.h"

namespace mpa {
namespace {

std::string KnownTypes() {
  std::vector<std::string_view> names;
  for (const ExportType& type : AllExportTypes()) names.push_back(type.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

ExportType TypeOf(std::string_view name) {
  const auto& all = AllExportTypes();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ExportType& type) { return type.name == name; });
  if (found == all.end()) {
    Fail(ErrorKind::kUsage, "--export_type: '{}' is unknown; known are {}", name, KnownTypes());
  }
  return *found;
}

}  // namespace

void ExportOptions::AddTo(CLI::App& command) {
  command
      .add_option("--export_type", types_,
                  "Files to write, a list of " + KnownTypes() +
                      " [default: xlsx]; of a gate json, md, junit, openmetrics, github [default: "
                      "none]")
      ->join(',')  // given twice is one list
      ->type_name("LIST");
  command.add_flag("--json", json_,
                   "Print the report as one JSON document instead of the table; write no files but "
                   "those that --export_type lists");
}

std::vector<std::string> ExportOptions::Names() const {
  std::vector<std::string> names;
  if (types_.empty()) return names;
  for (std::size_t from = 0; from <= types_.size();) {
    const std::size_t comma = std::min(types_.find(',', from), types_.size());
    std::string name = ToLower(Trim(types_.substr(from, comma - from)));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
    from = comma + 1;
  }
  return names;
}

std::vector<ExportType> ExportOptions::Types() const {
  if (types_.empty()) return json_ ? std::vector<ExportType>() : std::vector{TypeOf("xlsx")};
  std::vector<ExportType> types;
  for (const std::string& name : Names()) types.push_back(TypeOf(name));
  return types;
}

void ExportOptions::Deliver(const Report& report, const std::filesystem::path& directory,
                            const std::string& stem) const {
  const std::vector<ExportType> types = Types();
  WrittenReport written;
  if (!types.empty()) written = WriteReport(report, directory, stem, types);
  for (const std::string& note : written.notes) LogWarning("{}", note);
  if (json_) {
    PrintJson(report, stdout);
  } else {
    PrintWrapped(report.preface);
    for (const ScreenTable& screen : report.screens) Print(FormatTable(screen));
    PrintLines(report.story);
  }
  FinishStdout();
  for (const auto& path : written.paths) LogNotice("the details are in {}", path.string());
}

}  // namespace mpa
