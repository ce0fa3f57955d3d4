// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze check`: what captures hold, and what can be done with them.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "agent.h"
#include "check_report.h"
#include "command.h"
#include "mpa/base/console.h"
#include "mpa/base/enum_name.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/base/text.h"
#include "mpa/pipeline/analyzer_checks.h"
#include "mpa/writers/writers.h"
#include "printing.h"

namespace mpa {
namespace {

struct CheckOptions {
  CaptureArgument captures;
  bool try_all = false, json = false;
  OpenOptions open;
};

HelpPage CheckPage() {
  HelpPage page;
  page.summary =
      "Shows what captures hold, which analyses can use them, and how to collect what is missing.";
  page.usage = {"check PATH [OPTIONS]", "check -d PATH [OPTIONS]"};
  page.after_options = {ExitCodeList(
      {{"0", "an analysis can run"}, {"3", "input missing, or no analysis can run"}, {"5", ""}})};
  page.examples = {"check ./result", "check ./rank0_ascend_pt --try"};
  page.documents = {"formats.md", "broken-input.md"};
  return page;
}

int RunCheck(CheckOptions options, Agent& agent) {
  agent.RefuseJson(options.json);
  CheckReport report;
  report.survey = SurveyCaptures(options.captures.Path("msprof-analyze check PATH", options.open),
                                 options.open);
  report.tried = options.try_all;
  TellRawDamage(report.tried, report.survey.ranks);
  report.groups = GroupCaptures(report.survey);
  report.judged = report.tried ? TryCaptures(report.survey.path, options.open, report.survey.ranks)
                               : JudgeCaptures(report.survey.ranks);
  // Which tables there are is all that analyses of them depend on.
  for (RankFacts& server : report.survey.servers) {
    report.judged.push_back(std::move(JudgeCaptures({server}).front()));
    report.survey.ranks.push_back(std::move(server));
  }
  report.survey.servers.clear();
  const int exit_code = report.Usable() ? 0 : ExitCode(ErrorKind::kInput);
  if (agent.IsWanted()) {
    TellAgent(report, agent.Answer());
  } else {
    Print(options.json ? FormatCheckJson(report) : FormatCheckText(report, UseColor(stdout)));
  }
  FinishStdout();
  return exit_code;
}

}  // namespace

std::string_view Name(CaptureKind kind) {
  return EnumName<CaptureKind::kNpuKineto>(
      kind, {"unknown", "npu_text", "npu_db", "npu_raw", "gpu_trace", "memory_snapshot",
             "server_records", "npu_torch_trace"});
}

std::string_view Name(Ability ability) {
  return EnumName<Ability::kCannotRun>(ability,
                                       {"can_run", "runs_with_less", "may_run", "cannot_run"});
}

std::vector<std::string> CheckLines(const CheckReport& report) {
  const std::string text = FormatCheckText(report, false);
  std::vector<std::string> lines;
  for (const std::string_view line : Split(Trim(text), '\n')) lines.emplace_back(line);
  return lines;
}

bool CheckReport::Usable() const {
  return std::ranges::any_of(judged, [](const JudgedCapture& of_rank) {
    return std::ranges::any_of(of_rank.verdicts, [](const Verdict& verdict) {
      return verdict.ability != Ability::kCannotRun;
    });
  });
}

Command AddCheck(CLI::App& program, Agent& agent) {
  CLI::App* app =
      program.add_subcommand("check", "Show what captures hold, and which analyses can use them");
  const auto options = std::make_shared<CheckOptions>();
  options->captures.AddTo(*app,
                          "A capture (a *_ascend_pt or *_ascend_ms directory, parsed or raw, a"
                          " PROF_* directory, a trace, a database), or a directory with captures of"
                          " many ranks");
  app->add_flag("--try", options->try_all,
                "Read the captures and try every analysis, which takes as long as the analyses do")
      ->group(kMaxUsed);
  app->add_flag("--json", options->json, "Print one JSON document instead of the text")
      ->group(kMaxUsed);
  AddOpenOptions(*app, options->open);
  return {app, [options, &agent] { return RunCheck(*options, agent); }, CheckPage};
}

// The report of `check` as a JSON document.

namespace {

using Json = nlohmann::ordered_json;

// An empty text means that the capture does not say.
Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json OrNull(Recorded recorded) {
  return recorded == Recorded::kUnknown ? Json() : Json(recorded == Recorded::kYes);
}

Json ToJson(const std::optional<ProfilerSchedule>& schedule) {
  if (!schedule) return {};
  return {{"skip_first", schedule->skip_first},
          {"wait", schedule->wait},
          {"warmup", schedule->warmup},
          {"active", schedule->active},
          {"repeat", schedule->repeat}};
}

Json ToJson(const std::optional<ProfilerInfo>& settings) {
  if (!settings) return {};
  return {{"source", settings->path.string()},
          {"profiler_level", OrNull(settings->level)},
          {"aic_metrics", OrNull(settings->aic_metrics)},
          {"activities", settings->activities},
          {"schedule", ToJson(settings->schedule)},
          {"record_shapes", settings->record_shapes},
          {"profile_memory", settings->profile_memory},
          {"with_stack", settings->with_stack},
          {"with_modules", settings->with_modules},
          {"mstx", settings->mstx}};
}

Json ToJson(const RecordedSettings& settings) {
  Json kinds = Json::object();
  for (const SettingKind kind : kSettingKinds) {
    const auto found = settings.find(kind);
    kinds[std::string(NameOf(kind))] = found == settings.end() ? Json() : Json(found->second);
  }
  return kinds;
}

Json ToJson(const Contents& recorded) {
  Json contents;
  for (const RecordedContent& content : kRecordedContents)
    contents[content.key] = OrNull(recorded.*content.state);
  return contents;
}

std::string_view Name(RecordSide side) {
  return EnumName<RecordSide::kFramework>(side, {"host", "device", "framework"});
}

Json ToJson(const RecordInventory& records) {
  Json kinds = Json::array(), unknown = Json::array();
  for (const RecordInventory::Entry& entry : records.kinds) {
    kinds.push_back({{"side", Name(entry.kind->side)},
                     {"kind", entry.kind->name},
                     {"holds", Translated(entry.kind->holds)},
                     {"read", entry.kind->use == RecordUse::kRead},
                     {"files", entry.files},
                     {"bytes", entry.bytes}});
  }
  constexpr std::size_t kFiles = 100;
  for (std::size_t i = 0; i < std::min(kFiles, records.unknown.size()); ++i) {
    unknown.push_back(records.unknown[i].string());
  }
  return {{"kinds", std::move(kinds)},
          {"unknown_count", records.unknown.size()},
          {"unknown_files", std::move(unknown)}};
}

Json ToJson(const std::vector<Warning>& warnings) {
  Json list = Json::array();
  for (const Warning& warning : warnings) {
    Json paths = Json::array();
    for (const auto& path : warning.paths) paths.push_back(path.string());
    list.push_back({{"id", warning.id},
                    {"text", Translated(warning.text)},
                    {"advice", Translated(warning.advice)},
                    {"paths", std::move(paths)}});
  }
  return list;
}

Json ToJson(const std::vector<Verdict>& verdicts) {
  Json list = Json::array();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    Json lacks = Json::array();
    for (const Lack& lack : verdicts[i].lacks) {
      lacks.push_back({{"reason", Translated(lack.reason)},
                       {"setting", OrNull(std::string(Translated(lack.setting)))}});
    }
    list.push_back({{"name", AllAnalyzerChecks()[i].name},
                    {"ability", Name(verdicts[i].ability)},
                    {"lacks", std::move(lacks)}});
  }
  return list;
}

std::string_view Name(Kept kept) {
  return EnumName<Kept::kNotChecked>(kept, {"kept", "broken", "not_checked"});
}

Json ToJson(const std::vector<KeptPromise>& promises) {
  Json list = Json::array();
  for (const KeptPromise& promise : promises) {
    list.push_back({{"name", promise.rule->name},
                    {"promise", Translated(promise.rule->says)},
                    {"state", Name(promise.kept)},
                    {"broken_by", promise.lines}});
  }
  return list;
}

// Results of msprof consist of tables, as databases do.
bool HasTables(const RankFacts& facts) {
  return facts.kind == CaptureKind::kNpuDb || !facts.unread_tables.empty();
}

Json ToJson(const RankFacts& facts, const JudgedCapture& judged) {
  return {{"rank", OrNull(facts.rank)},
          {"label", facts.id.IsLabel() ? Json(RankName(facts.id)) : Json()},
          {"path", facts.path.string()},
          {"kind", Name(facts.kind)},
          {"parsed", facts.kind != CaptureKind::kNpuRaw && facts.kind != CaptureKind::kUnknown},
          {"complete", OrNull(facts.complete)},
          {"state", NameOf(facts.problem.empty() ? RankState::kCaptured : RankState::kDamaged)},
          {"problem", OrNull(facts.problem)},
          {"bytes", facts.bytes},
          {"devices", facts.devices},
          {"device_name", OrNull(facts.device_name)},
          {"host", OrNull(facts.host)},
          {"framework", OrNull(facts.framework)},
          {"torch_npu_version", OrNull(facts.torch_npu_version)},
          {"cann_version", OrNull(facts.cann_version)},
          {"settings", ToJson(facts.settings)},
          {"recorded_settings", ToJson(facts.all_settings)},
          {"steps", OrNull(facts.steps)},
          {"recorded", ToJson(facts.recorded)},
          {"records", facts.kind == CaptureKind::kNpuRaw ? ToJson(facts.records) : Json()},
          {"unread_tables", HasTables(facts) ? Json(facts.unread_tables) : Json()},
          {"analyzers", ToJson(judged.verdicts)},
          {"promises", ToJson(judged.promises)},
          {"warnings", ToJson(facts.warnings)}};
}

}  // namespace

std::string FormatCheckJson(const CheckReport& report) {
  Json ranks = Json::array();
  for (std::size_t i = 0; i < report.survey.ranks.size(); ++i) {
    ranks.push_back(ToJson(report.survey.ranks[i], report.judged[i]));
  }
  Json groups = Json::array();
  for (const CheckedGroup& group : report.groups) {
    Json paths = Json::array();
    for (const auto& path : group.captures) paths.push_back(path.string());
    Json members = Json::array();
    for (const RankId rank : group.ranks) members.push_back(rank.Number());
    groups.push_back(
        {{"name", group.name}, {"ranks", std::move(members)}, {"captures", std::move(paths)}});
  }
  const Json document = {{"schema_version", 1},
                         {"path", report.survey.path.string()},
                         {"tried", report.tried},
                         {"usable", report.Usable()},
                         {"ranks", std::move(ranks)},
                         {"groups", std::move(groups)},
                         {"warnings", ToJson(report.survey.warnings)},
                         {"story", Json::parse(StoryJson(ScreenLinesOf(CheckLines(report))))}};
  // Names in captures need not be UTF-8.
  return PrintableJson(document.dump(2, ' ', false, Json::error_handler_t::replace)) + '\n';
}

}  // namespace mpa
