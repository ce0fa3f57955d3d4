// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze advisor`: what slows the step down, on which ranks, and how much time a fix
// saves.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advisor_baseline.h"
#include "advisor_output.h"
#include "choices.h"
#include "command.h"
#include "mpa/base/console.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "mpa/pipeline/cluster.h"
#include "printing.h"
#include "shards.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr int kExitFindings = 1;
constexpr std::string_view kUsage = "msprof-analyze advisor all -d DIR";

struct AdvisorOptions {
  std::vector<std::string> words;
  std::vector<std::string> captures;
  std::string baseline_captures, output, baseline, fail_on;
  std::string top, evidence, max_chars, rules;
  std::string cann_version, torch_version, profiling_type;
  bool json = false, debug = false, print_rules = false;
  RankOptions ranks;
  ShardOptions shards;
};

// What the words in front of the options ask for.
struct Question {
  std::string what = "all";  ///< all, schedule, computation, why, timeline
  std::string key{};         ///< of the finding to explain
  std::string captures{};
  std::vector<std::string> given{};  ///< on the command line: `captures` stands for them
};

// Puts into `options` which captures are looked at.
Question QuestionOf(AdvisorOptions& options) {
  Question question;
  std::vector<std::string> words = options.words;
  if (!words.empty() && std::ranges::find(kQuestions, words[0]) != std::end(kQuestions)) {
    question.what = words[0];
    words.erase(words.begin());
  }
  if (IsOneOf(question.what, {"why", "timeline"})) {
    if (words.empty()) {
      Fail(ErrorKind::kUsage,
           "advisor {0} needs the number of a finding on the screen of 'advisor all -d DIR', or its"
           " key; give msprof-analyze advisor {0} 1 -d DIR",
           question.what);
    }
    question.key = words[0];
    words.erase(words.begin());
  }
  question.given = options.captures;
  question.given.insert(question.given.end(), words.begin(), words.end());
  question.captures = PathOf(question.given,
                             fmt::format("msprof-analyze advisor {}{}{} -d DIR", question.what,
                                         question.key.empty() ? "" : " ", question.key),
                             options.ranks.open);
  const bool compares = !options.baseline.empty() || !options.baseline_captures.empty();
  if (compares && !question.key.empty()) {
    Fail(ErrorKind::kUsage,
         "advisor {} explains one finding of one run; compare runs with 'advisor all'",
         question.what);
  }
  return question;
}

// The text of a rule file that can be read as one.
std::string ThresholdsFileText(const std::string& path) {
  const fs::path file = ExpandHome(path);
  return InContext("--rules", [&] {
    std::string text = io::ReadJson(file).dump();
    (void)ParseThresholds(text);
    return text;
  });
}

// What -d has to be followed by, to get the same findings.
std::string CapturesText(const AdvisorOptions& options, const Question& question) {
  constexpr std::size_t kShown = 4;  // of more the line would fill the screen
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, question.given.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " ", ShellWord(ExpandHome(question.given[i])));
  if (question.given.size() > kShown) text += " ...";
  const std::pair<const char*, std::string> given[] = {
      {"--rank_list", options.ranks.rank_list == "all" ? "" : options.ranks.rank_list},
      {"--step_id", options.ranks.step},
      {"--rules", options.rules}};
  for (const auto& [name, value] : given) {
    if (!value.empty()) text += fmt::format(" {} {}", name, ShellWord(value));
  }
  return text;
}

RecipeArguments ArgumentsOf(const AdvisorOptions& options, const Question& question,
                            const Agent& agent) {
  RecipeArguments arguments;
  arguments.captures = CapturesText(options, question);
  const auto set = [&](const RecipeOption& option, const std::string& text) {
    if (!text.empty()) arguments.Set(option, text);
  };
  set(kQuestion, question.what);
  set(kFinding, question.key);
  set(kTopFindings, options.top);
  set(kEvidence, options.evidence);
  set(kMaxChars, agent.IsWanted() ? "" : options.max_chars);  // all of the message is bounded
  set(kRules, options.rules.empty() ? "" : ThresholdsFileText(options.rules));
  return arguments;
}

ClusterOutcome DiagnoseCaptures(const AdvisorOptions& options, const std::string& captures,
                                const RecipeArguments& arguments, OutputSelection wanted) {
  const Recipe recipe = DiagnosisRecipe();
  ClusterRequest request = options.ranks.Request(ExpandHome(captures));
  request.open.chosen = {};
  request.arguments = arguments;
  return ReduceRanks(recipe, arguments, wanted, MapRanks(recipe, request));
}

// The diagnosis of the run to compare with; nothing without one.
std::optional<nlohmann::json> BenchmarkOf(const AdvisorOptions& options,
                                          const RecipeArguments& arguments) {
  if (options.baseline_captures.empty()) return std::nullopt;
  const ClusterOutcome benchmark = DiagnoseCaptures(options, options.baseline_captures, arguments,
                                                    {.sheets = false, .screen = Detail::kNone});
  LogNotes(benchmark.report.notes);
  return WholeOf(benchmark.report);
}

// What is new, gone or has grown since the run that was given; nothing without one.
std::optional<FindingChanges> ChangesSince(const RecipeArguments& arguments,
                                           const std::optional<nlohmann::json>& earlier,
                                           const Report& report) {
  if (!earlier) return std::nullopt;
  return ChangesOf(*earlier, WholeOf(report), arguments[kRules][kGrownRatio]);
}

// From the condensed ranks to the answer.
int Answer(const AdvisorOptions& options, const Question& question,
           const RecipeArguments& arguments, const std::function<MappedRanks()>& map,
           Agent& agent) {
  const bool for_programs = options.json || agent.IsWanted();
  const bool tables = !for_programs && question.key.empty(), timeline = question.what == "timeline";
  std::optional<nlohmann::json> baseline;
  if (!options.baseline.empty()) baseline = ReadEarlierDiagnosis(options.baseline);
  AdvisorPlaces places;
  NewDirectories directories;
  std::optional<Error> unwritable;
  if (tables || timeline) {
    unwritable = PrepareOrTell(!options.output.empty(), [&] {
      places = PrepareOutputs(options.output, tables, directories);
    });
  }
  const OutputSelection wanted{.sheets = tables,
                               .screen = options.json ? Detail::kNone : Detail::kAnswer};
  std::optional<TimelinePlan> plan;
  MappedRanks mapped = map();
  if (timeline) plan = PlanTimeline(mapped.parts, arguments, question.key, mapped.absent);
  agent.IsAbout(mapped);
  ClusterOutcome outcome = ReduceRanks(DiagnosisRecipe(), arguments, wanted, std::move(mapped));
  ClearProgressLine();
  const auto benchmark = BenchmarkOf(options, arguments);
  if (tables && benchmark) {
    ClusterRequest of_baseline = options.ranks.Request(ExpandHome(options.baseline_captures));
    of_baseline.open.chosen = {};
    AddBenchmarkSheets(options.ranks.Request(question.captures), WholeOf(outcome.report),
                       of_baseline, *benchmark, outcome.report);
  }
  LogNotes(outcome.report.notes);
  const auto changes = ChangesSince(arguments, baseline ? baseline : benchmark, outcome.report);
  const bool fails = !options.fail_on.empty() && !outcome.partial &&
                     FailsOn(options.fail_on, WholeOf(outcome.report));
  const int code = outcome.partial ? kExitPartial : fails ? kExitFindings : 0;
  if (agent.IsWanted()) {
    agent.Show(outcome.report);
    TellDiagnosis(outcome.report, arguments, agent.Answer());
  } else if (options.json) {
    Print(DocumentText(outcome, changes, arguments[kMaxChars]) + "\n");
  } else {
    PrintLines(TextsOf(outcome.report.lines));
    if (changes) PrintLines(LinesOf(*changes, ScreenWidth(stdout)));
  }
  FinishStdout();
  if (unwritable) throw *unwritable;
  if (tables) WriteTables(places, outcome.report);
  if (plan) agent.Wrote({places.folder / plan->focus->file_name});
  const bool lost =
      plan && WriteTimeline(places.folder, *plan, options.ranks.Request(question.captures));
  return lost ? kExitPartial : code;
}

// The share of this process. A single finding is explained by every process that is asked.
std::optional<Sharing> SharingOf(const AdvisorOptions& options, const Question& question) {
  const bool asked = !IsOneOf(options.shards.shard, {"", "auto", "off"}) || options.shards.local;
  if (options.shards.mpi && !question.key.empty()) {
    Fail(ErrorKind::kUsage, "advisor {} explains one finding; leave --mpi out", question.what);
  }
  if (!asked && !question.key.empty()) return std::nullopt;
  const std::pair<const char*, bool> without_effect[] = {
      {"why and timeline", !question.key.empty()},
      {"--benchmark_profiling_path", !options.baseline_captures.empty()},
      {"--baseline", !options.baseline.empty()},
      {"--fail_on", !options.fail_on.empty()},
      {"--memory", !options.ranks.memory.empty()}};
  for (const auto& [name, given] : without_effect) {
    if (asked && given)
      Fail(ErrorKind::kUsage, "--shard makes parts and no report; leave {} out", name);
  }
  return SharingOf(options.shards, options.output, fs::current_path());
}

int RunAdvisor(AdvisorOptions options, Agent& agent) {
  if (options.print_rules) {
    Print(ThresholdsText(Thresholds()));
    FinishStdout();
    return 0;
  }
  const Question question = QuestionOf(options);
  const RecipeArguments arguments = ArgumentsOf(options, question, agent);
  const Recipe recipe = DiagnosisRecipe();
  ClusterRequest request = options.ranks.Request(question.captures);
  request.arguments = arguments;
  const auto sharing = SharingOf(options, question);
  if (!sharing) {
    return Answer(
        options, question, arguments, [&] { return MapRanks(recipe, request); }, agent);
  }
  const std::vector<RecipeRun> runs = {{&recipe, arguments}};
  return RunShard(runs, request, *sharing, agent, [&](const std::vector<std::string>& lost) {
    const auto read = [&] { return MappedShares(runs, request, *sharing, lost).front(); };
    return Answer(options, question, arguments, read, agent);
  });
}

HelpPage AdvisorPage() {
  HelpPage page;
  page.summary = "Finds what slows the step down, on which ranks, and how much time a fix saves.";
  page.usage = {"advisor [all|schedule|computation] -d DIR [OPTIONS]",
                "advisor why N|KEY -d DIR [OPTIONS]", "advisor timeline N|KEY -d DIR [-o DIR]"};
  page.first = [](const CLI::Option& option) {
    return IsMostUsed(option) || IsNamed(option, {"rank_list", "json"});
  };
  page.after_options = {ExitCodeList({{"1", "--fail_on: a fault has that severity"}})};
  page.examples = {"advisor all -d ./result", "advisor all -d ./result --json --top 3",
                   "advisor why 1 -d ./result",
                   "advisor timeline rank.late_host/r5 -d ./result -o ./out",
                   "advisor all -d ./result --fail_on high --baseline main.json"};
  page.notes = {"The savings come from a replay: the step is computed again without the cause."};
  page.documents = {"advisor.md"};
  return page;
}

constexpr const char* kPrograms = "For programs";
constexpr const char* kPythonTool = "Options of the Python tool without effect";

}  // namespace

int MergeAdvisor(PartSet set, const std::string& output, bool json, Agent& agent) {
  AdvisorOptions options;
  options.output = output;
  options.json = json;
  const Question question{.what = set.arguments[kQuestion]};
  return Answer(
      options, question, set.arguments, [&] { return std::move(set.mapped); }, agent);
}

Command AddAdvisor(CLI::App& program, Agent& agent) {
  CLI::App* app = program.add_subcommand(
      "advisor", "Find what slows the step down and how much time a fix saves");
  const auto options = std::make_shared<AdvisorOptions>();
  const OptionAdder add(*app);
  app->add_option("words", options->words)
      ->expected(-1)
      ->type_name("WORD")
      ->check(Suggested(kQuestions))
      ->group("");
  add("-d,--profiling_path", options->captures,
      "Directory with the captures of all ranks, or one capture, trace, database or table; several"
      " together form one job",
      "PATH", kMaxUsed)
      ->allow_extra_args(false);
  add("--benchmark_profiling_path", options->baseline_captures,
      "Captures of another run to compare with: shows which findings are new, gone or larger, and"
      " sheets of the differences",
      "PATH", kMaxUsed);
  add("-o,--output_path", options->output,
      "Directory for the page, tables and traces [default: the current one]", "DIR", kMaxUsed);
  add("--fail_on", options->fail_on, "Exit with 1 if a fault has this severity or a higher one",
      "SEVERITY", kMaxUsed)
      ->check(OneOf({"info", "low", "medium", "high", "critical"}));
  add("--rank_list", options->ranks.rank_list, "Ranks, such as 0,1,4-7 [default: all]", "LIST",
      kReading);
  add("--step_id", options->ranks.step, "Analyse one step of every rank [default: all]", "ID",
      kReading);
  add.Flag("--json", options->json, "Print the diagnosis as JSON; see docs/diagnosis.schema.json",
           kPrograms);
  add("--baseline", options->baseline,
      "An earlier diagnosis (--json) to compare with: shows which parts of the step changed, and"
      " which findings are new, gone or larger",
      "FILE", kPrograms);
  const auto declared = [&](const RecipeOption& option, std::string& text, const char* group) {
    add(fmt::format("--{}", option.name).c_str(), text, option.help, option.type_name.data(),
        group);
  };
  declared(kTopFindings, options->top, kPrograms);
  declared(kEvidence, options->evidence, kPrograms);
  declared(kMaxChars, options->max_chars, kPrograms);
  declared(kRules, options->rules, kReading);
  add.Flag("--print_rules", options->print_rules,
           "Print the built-in thresholds as a rule file and exit", kReading);
  options->shards.AddTo(add);
  AddOpenOptions(*app, options->ranks.open);
  AddMemoryOption(*app, options->ranks.memory_limit)->group(kReading);
  AddReplayMemoryOption(add, options->ranks.memory);
  add("--cann_version", options->cann_version, "Read from the capture", "VERSION", kPythonTool)
      ->check(Version("8.0.RC1"));
  add("--torch_version", options->torch_version, "Read from the capture", "VERSION", kPythonTool)
      ->check(Version("2.1.0"));
  add("--profiling_type", options->profiling_type, "Read from the capture", "TYPE", kPythonTool)
      ->check(OneOf({"pytorch", "mslite", "msprof", "mindspore"}));
  add.Flag("--debug", options->debug, "See -v", kPythonTool);
  return {app, [options, &agent] { return RunAdvisor(*options, agent); }, AdvisorPage};
}

}  // namespace mpa
