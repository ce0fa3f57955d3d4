// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze check`: what captures hold, and what can be done with them.
#include <algorithm>
#include <memory>

#include "check_report.h"
#include "command.h"
#include "mpa/base/console.h"
#include "mpa/base/error.h"
#include "mpa/pipeline/raw_damage.h"
#include "screen.h"

namespace mpa {
namespace {

struct CheckOptions {
  CaptureArgument captures;
  bool json = false;
  OpenOptions open;
};

HelpPage CheckPage() {
  HelpPage page;
  page.summary =
      "Shows what captures hold, which analyses can use them, and how to collect what is missing.";
  page.usage = {"check PATH [OPTIONS]", "check -d PATH [OPTIONS]"};
  page.after_options = {ExitCodeList(
      {{"0", "an analysis can run"}, {"3", "input missing, or no analysis can run"}, {"5", ""}})};
  page.examples = {"check ./result", "check ./rank0_ascend_pt --json"};
  page.documents = {"formats.md", "broken-input.md"};
  return page;
}

int RunCheck(const CheckOptions& options) {
  CheckReport report;
  report.survey = SurveyCaptures(options.captures.Path("msprof-analyze check PATH"), options.open);
  TellRawDamage(report.survey.ranks);
  report.verdicts = JudgeCaptures(options.open, report.survey.ranks);
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
  CLI::App* app =
      program.add_subcommand("check", "Show what captures hold, and which analyses can use them");
  const auto options = std::make_shared<CheckOptions>();
  options->captures.AddTo(*app,
                          "A capture (a *_ascend_pt or *_ascend_ms directory, parsed or raw, a "
                          "PROF_* directory, a trace, a database), or a directory with captures of "
                          "many ranks");
  app->add_flag("--json", options->json, "Print one JSON document instead of the text")
      ->group(kMostUsed);
  AddOpenOptions(*app, options->open);
  return {app, [options] { return RunCheck(*options); }, CheckPage};
}

}  // namespace mpa
