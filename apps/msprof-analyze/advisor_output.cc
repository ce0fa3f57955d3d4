// SPDX-License-Identifier: Apache-2.0
#include "advisor_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/printable.h"
#include "mpa/base/progress.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"
#include "timeline_export.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

using AdvisorJson = nlohmann::ordered_json;

const std::string& DocumentOf(const Report& report, std::string_view name) {
  const auto found = std::ranges::find_if(
      report.documents, [&](const TextDocument& row) { return row.file_name == name; });
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
    return std::ranges::find(order, name) - order.begin();
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
  if (!changes->causes.children.empty())
    document["cause_changes"] = CauseChangesJson(changes->causes);
  const bool settings_differ = !changes->settings.differing.empty();
  if (settings_differ) document["setting_changes"] = SettingChangesJson(changes->settings);
  if (changes->untold > 0) document["untold_changes"] = changes->untold;
  std::string whole = dump();
  if (most == 0 || whole.size() <= most) return whole;
  document.erase("step_change");
  document.erase("cause_changes");
  if (settings_differ) document["setting_changes"]["differing"] = AdvisorJson::array();
  document["changes"] = AdvisorJson::array();
  document["omitted"]["changes"] = changes->rows.size();
  whole = dump();
  return whole.size() <= most ? whole : text;
}

AdvisorPlaces PrepareOutputs(const std::string& output, bool tables, NewDirectories& directories) {
  const fs::path below = output.empty() ? fs::current_path() : fs::path(ExpandHome(output));
  AdvisorPlaces places;
  places.folder = fs::absolute(below).lexically_normal();
  places.log = places.folder / "log";
  directories.Add(places.folder);
  directories.Add(places.log);
  InContext("-o", [&] { io::PrepareDirectoryBelow(places.folder, tables ? "log" : ""); });
  return places;
}

void WriteTables(const AdvisorPlaces& places, const Report& report) {
  static constexpr std::string_view kStem = "mstt_advisor_";
  const fs::path tables = WriteXlsx(report, places.log, std::string(kStem) + UtcTimeStamp());
  const fs::path page = places.folder / (tables.stem().string() + ".html");
  Page shown = *report.page;
  shown.facts = report.facts;
  io::ReplaceText(page, FormatPage(shown));
  for (const TextDocument& document : report.documents) {
    if (document.file_name != kTuningList) continue;
    const std::string time = tables.stem().string().substr(kStem.size());
    io::ReplaceText(places.folder / fmt::format("operator_tuning_file_{}.cfg", time),
                    document.text);
  }
  LogNotice("the results are in {} and {}", page.string(), tables.string());
}

bool WriteTimeline(const fs::path& folder, const TimelinePlan& plan, ClusterRequest request) {
  const TimelinePlan::Focus& focus = *plan.focus;
  const fs::path path = folder / focus.file_name;
  request.ranks = {focus.ranks.begin(), focus.ranks.end()};
  const ExportedTimeline exported =
      ExportTimeline(plan, {request, std::nullopt, focus.step, false, kUsualSlices, path});
  ClearProgressLine();
  LogNotes(plan.notes);
  for (const std::string& line : exported.lines) LogInfo("{}", line);
  LogNotice("the trace is in {}; https://ui.perfetto.dev opens it", path.string());
  return exported.partial;
}

}  // namespace mpa
