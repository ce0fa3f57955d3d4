// SPDX-License-Identifier: Apache-2.0
#include "advisor_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/printable.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/pages.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;
using AdvisorJson = nlohmann::ordered_json;

const std::string& DocumentOf(const Report& report, std::string_view name) {
  const auto found = std::find_if(report.documents.begin(), report.documents.end(),
                                  [&](const TextDocument& row) { return row.file_name == name; });
  if (found == report.documents.end()) Fail(ErrorKind::kInternal, "the report has no {}", name);
  return found->text;
}

}  // namespace

nlohmann::json WholeOf(const Report& report) {
  return nlohmann::json::parse(DocumentOf(report, kWholeDiagnosis));
}

bool FailsOn(const std::string& fail_on, const nlohmann::json& document) {
  static const std::vector<std::string> order = {"info", "low", "medium", "high", "critical"};
  const auto place = [&](const std::string& name) {
    return std::find(order.begin(), order.end(), name) - order.begin();
  };
  return std::any_of(document.at("findings").begin(), document.at("findings").end(),
                     [&](const nlohmann::json& finding) {
                       return finding.at("kind") == "fault" &&
                              place(finding.at("severity").get<std::string>()) >= place(fail_on);
                     });
}

std::string DocumentText(const ClusterOutcome& outcome,
                         const std::optional<FindingChanges>& changes, std::size_t most) {
  const std::string& text = DocumentOf(outcome.report, kDiagnosisDocument);
  if (!outcome.partial && !changes) return text;
  AdvisorJson document = AdvisorJson::parse(text);
  if (outcome.partial) document["complete"] = false;
  const auto dump = [&] { return PrintableJson(document.dump(most == 0 ? 1 : -1)); };
  if (!changes) return dump();
  document["changes"] = ChangesJson(changes->rows);
  if (!changes->step.children.empty()) document["step_change"] = StepChangeJson(changes->step);
  if (changes->untold > 0) document["untold_changes"] = changes->untold;
  std::string whole = dump();
  if (most == 0 || whole.size() <= most) return whole;
  document.erase("step_change");
  document["changes"] = AdvisorJson::array();
  document["omitted"]["changes"] = changes->rows.size();
  whole = dump();
  return whole.size() <= most ? whole : text;
}

AdvisorPlaces PrepareOutputs(const std::string& output, bool tables) {
  const fs::path below = output.empty() ? fs::current_path() : fs::path(ExpandHome(output));
  AdvisorPlaces places;
  places.folder = fs::absolute(below).lexically_normal();
  places.log = places.folder / "log";
  InContext("-o", [&] { io::PrepareOutputDirectory(tables ? places.log : places.folder); });
  return places;
}

void WriteTables(const AdvisorPlaces& places, const Report& report) {
  static constexpr std::string_view kStem = "mstt_advisor_";
  const fs::path tables = WriteXlsx(report, places.log, std::string(kStem) + UtcTimeStamp());
  const fs::path page = places.folder / (tables.stem().string() + ".html");
  io::ReplaceText(page, FormatPage(*report.page));
  for (const TextDocument& document : report.documents) {
    if (document.file_name != kTuningList) continue;
    const std::string time = tables.stem().string().substr(kStem.size());
    io::ReplaceText(places.folder / fmt::format("operator_tuning_file_{}.cfg", time),
                    document.text);
  }
  LogNotice("the results are in {} and {}", page.string(), tables.string());
}

void WriteTimeline(const AdvisorPlaces& places, const Report& report) {
  const TextDocument& trace = report.documents.back();
  io::ReplaceText(places.folder / trace.file_name, trace.text);
  LogNotice("the trace is in {}; https://ui.perfetto.dev opens it",
            (places.folder / trace.file_name).string());
}

}  // namespace mpa
