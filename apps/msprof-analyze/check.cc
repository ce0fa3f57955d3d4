// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze check`: what captures hold, and what can be done with them.
#include <algorithm>
#include <memory>

#include "check_report.h"
#include "command.h"
#include "mpa/base/console.h"
#include "mpa/base/error.h"
#include "mpa/pipeline/event_facts.h"
#include "mpa/pipeline/raw_damage.h"
#include "screen.h"

namespace mpa {
namespace {

struct CheckOptions {
  std::string path;
  bool json = false;
  OpenOptions open;
};

constexpr const char* kCheckFooter = R"(
Examples:
  msprof-analyze check -d ./result
  msprof-analyze check -d ./rank0_ascend_pt --json

Exit codes: 0 something is usable, 2 wrong command line, 3 input missing or nothing in it usable,
6 output cannot be written.)";

int RunCheck(const CheckOptions& options) {
  CheckReport report;
  report.survey = SurveyCaptures(ExpandHome(options.path), options.open);
  TellFromEvents(options.open, report.survey.ranks);
  TellRawDamage(report.survey.ranks);
  for (const RankFacts& facts : report.survey.ranks) {
    std::vector<Verdict>& verdicts = report.verdicts.emplace_back();
    for (const AnalyzerCheck& check : AllAnalyzerChecks()) verdicts.push_back(check.can_run(facts));
  }
  const std::string page =
      options.json ? FormatCheckJson(report) : FormatCheckText(report, UseColor(stdout));
  Print(page);
  FinishStdout();
  return report.Usable() ? 0 : ExitCode(ErrorKind::kInput);
}

}  // namespace

bool CheckReport::Usable() const {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const std::vector<Verdict>& of_rank) {
    return std::any_of(of_rank.begin(), of_rank.end(), [](const Verdict& verdict) {
      return verdict.ability != Ability::kCannotRun;
    });
  });
}

Command AddCheck(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "check", "What captures hold, which analyzers can use them, and what to collect differently");
  app->footer(kCheckFooter);
  const auto options = std::make_shared<CheckOptions>();
  app->add_option("-d,--profiling_path", options->path,
                  "One capture (a *_ascend_pt or *_ascend_ms directory, parsed or raw, a PROF_* "
                  "directory, a trace, a database), or a directory with those of many ranks")
      ->required()
      ->type_name("PATH");
  app->add_flag("--json", options->json, "Print one JSON document instead of the text");
  AddOpenOptions(*app, options->open);
  return {app, [options] { return RunCheck(*options); }};
}

}  // namespace mpa
