// SPDX-License-Identifier: Apache-2.0
#include "advisor_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/printable.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
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

namespace {

Cell CellOf(const AdvisorJson& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array() || value.empty()) return {};
  std::string joined;
  for (const AdvisorJson& one : value) joined += (joined.empty() ? "" : ",") + one.dump();
  return joined;
}

// The members of these names of each object of a list, "text/title" of an object within.
// `omitted` more are not in the document.
AgentTable TableOf(std::string name, const AdvisorJson& list, std::vector<std::string> columns,
                   std::size_t omitted = 0) {
  AgentTable table{
      .name = std::move(name), .columns = std::move(columns), .of = list.size() + omitted};
  for (const AdvisorJson& one : list) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const std::string& column : table.columns) {
      const AdvisorJson::json_pointer place("/" + column);
      row.push_back(one.contains(place) ? CellOf(one[place]) : Cell());
    }
  }
  for (std::string& column : table.columns) column = column.substr(column.rfind('/') + 1);
  return table;
}

}  // namespace

void TellDiagnosis(const Report& report, const RecipeArguments& arguments, AgentAnswer& answer) {
  const AdvisorJson document = AdvisorJson::parse(DocumentOf(report, kDiagnosisDocument));
  const AdvisorJson& findings = document.at("findings");
  const AdvisorJson& capture = document.at("capture");
  const auto omitted = [&](const char* list) {
    return document.at("omitted").value(list, std::size_t{0});
  };
  if (capture.at("world") > 0) answer.scope.emplace_back("ranks_of_job", CellOf(capture["world"]));
  for (const char* key : {"step_ns", "floor_ns"}) {
    if (document.contains(key)) answer.scope.emplace_back(key, CellOf(document[key]));
  }
  answer.scope.emplace_back("steps", CellOf(capture.at("steps")));
  answer.question = "what slows the step down, on which ranks, and what mending it wins";
  answer.tables = {TableOf(
      "findings", findings,
      {"key", "severity", "confidence", "gain_ns", "share", "ranks", "text/title", "text/advice"},
      omitted("findings"))};
  if (findings.empty()) return;
  const std::string key = findings[0].at("key").get<std::string>();
  if (!arguments.Has(kFinding.name)) {
    std::string skipped;
    for (const AdvisorJson& one : document.at("skipped"))
      skipped += (skipped.empty() ? "" : ", ") + one.at("id").get<std::string>();
    if (!skipped.empty())
      answer.caveats.push_back("not judged, what they need was not recorded: " + skipped);
    answer.next =
        fmt::format("msprof-analyze advisor why {} -d {}", ShellWord(key), arguments.captures);
    return;
  }
  answer.question = fmt::format("the evidence of {}, and what would refute it", key);
  answer.answer = {report.lines.front().Text()};
  for (const FindingType* type : Catalogue()) {
    if (type->id == findings[0].at("id").get<std::string>())
      answer.caveats.push_back(fmt::format("not if {}", Translated(type->refuted_by)));
  }
  if (arguments[kQuestion] != "timeline")
    answer.next =
        fmt::format("msprof-analyze advisor timeline {} -d {}", ShellWord(key), arguments.captures);
  const AdvisorJson& one = findings[0];
  const auto add = [&](const char* name, const char* place, std::vector<std::string> columns) {
    const AdvisorJson::json_pointer pointer(place);
    if (one.contains(pointer) && one[pointer].is_array() && !one[pointer].empty())
      answer.tables.push_back(TableOf(name, one[pointer], std::move(columns), omitted(name)));
  };
  add("metrics", "/metrics", {"name", "value", "unit"});
  add("slower_than_peers", "/chain/late/leaves", {"leaf", "own_ns", "usual_ns", "excess_ns"});
  add("waiting", "/chain/late/waiting", {"rank", "wait_ns"});
  add("evidence", "/evidence",
      {"rank", "name", "table", "start_ns", "dur_ns", "time_per_step_ns", "source_line",
       "capture"});
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
