// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze advisor`: what costs the step, whose it is, and what mending it wins.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/writers/writers.h"
#include "screen.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;
using AdvisorJson = nlohmann::json;

constexpr int kExitFindings = 1;
constexpr std::string_view kUsage = "msprof-analyze advisor all -d DIR";
// Documents for language models are no longer.
constexpr const char* kCharsForAgents = "8000";

struct AdvisorOptions {
  std::vector<std::string> words;
  std::string captures, baseline_captures, output, baseline, fail_on, language, memory_limit;
  std::string rank_list = "all", step, top, evidence, max_chars;
  std::string cann_version, torch_version, profiling_type;
  bool json = false, agent = false, debug = false;
  OpenOptions open;
};

// What the words in front of the options ask for.
struct Question {
  std::string what = "all";  ///< all, schedule, computation, why
  std::string key;           ///< of the finding to explain
  std::string captures;
};

Question QuestionOf(const AdvisorOptions& options) {
  Question question;
  std::vector<std::string> words = options.words;
  if (!words.empty() && IsOneOf(words[0], {"all", "schedule", "computation", "why"})) {
    question.what = words[0];
    words.erase(words.begin());
  }
  if (question.what == "why") {
    if (words.empty()) {
      Fail(ErrorKind::kUsage, "advisor why needs the key of a finding; see 'advisor all -d DIR --json'");
    }
    question.key = words[0];
    words.erase(words.begin());
  }
  question.captures = options.captures;
  if (question.captures.empty() && !words.empty()) {
    question.captures = words[0];
    words.erase(words.begin());
  }
  if (!words.empty()) Fail(ErrorKind::kUsage, "unexpected argument '{}': give {}", words[0], kUsage);
  if (question.captures.empty()) {
    Fail(ErrorKind::kUsage, "-d,--profiling_path is required; give the captures: {}", kUsage);
  }
  question.captures = ExpandHome(question.captures);
  return question;
}

bool InChinese(const AdvisorOptions& options) {
  if (!options.language.empty()) return options.language == "cn";
  const char* lang = std::getenv("LANG");
  return lang != nullptr && std::string_view(lang).starts_with("zh");
}

void AddCount(const char* option, const std::string& text, std::string_view name,
              RecipeArguments& arguments) {
  if (text.empty()) return;
  if (io::ParseInt(text).value_or(0) <= 0) {
    Fail(ErrorKind::kUsage, "{} {}: give a whole number above 0", option, text);
  }
  arguments[std::string(name)] = text;
}

RecipeArguments ArgumentsOf(const AdvisorOptions& options, const Question& question) {
  constexpr std::int64_t kLeastChars = 600;
  RecipeArguments arguments = {{"dimension", question.what}, {"language", InChinese(options) ? "cn" : "en"}};
  if (!question.key.empty()) arguments["key"] = question.key;
  AddCount("--top", options.top, "top", arguments);
  AddCount("--evidence", options.evidence, "evidence", arguments);
  AddCount("--max_chars", options.max_chars, "max_chars", arguments);
  if (options.agent) arguments.try_emplace("max_chars", kCharsForAgents);
  const auto chars = arguments.find("max_chars");
  if (chars != arguments.end() && io::ParseInt(chars->second).value_or(0) < kLeastChars) {
    Fail(ErrorKind::kUsage, "--max_chars {}: give {} or more", chars->second, kLeastChars);
  }
  return arguments;
}

ClusterRequest RequestOf(const AdvisorOptions& options, const std::string& captures,
                         const RecipeArguments& arguments) {
  ClusterRequest request;
  request.directory = captures;
  request.ranks = ParseRanks("--rank_list", options.rank_list);
  request.step = ParseStep("--step_id", options.step, StepForm::kNumberOrAll);
  request.open = options.open;
  request.memory_bytes = ApplyMemoryLimit("--memory_limit", options.memory_limit);
  request.arguments = arguments;
  return request;
}

ClusterOutcome DiagnoseCaptures(const AdvisorOptions& options, const std::string& captures,
                                const RecipeArguments& arguments, Wanted wanted) {
  const Recipe recipe = DiagnosisRecipe();
  const ClusterRequest request = RequestOf(options, captures, arguments);
  ClusterOutcome outcome = ReduceRanks(recipe, arguments, wanted, MapRanks(recipe, request));
  ClearProgressLine();
  return outcome;
}

AdvisorJson DocumentOf(const Report& report) { return AdvisorJson::parse(report.documents.at(0).text); }

std::map<std::string, std::int64_t> GainsOf(const AdvisorJson& document) {
  std::map<std::string, std::int64_t> gains;
  for (const AdvisorJson& finding : io::Member(document, "findings")) {
    const AdvisorJson& key = io::Member(finding, "key");
    const AdvisorJson& gain = io::Member(finding, "gain_ns");
    if (key.is_string() && gain.is_number_integer()) gains[key.get<std::string>()] = gain.get<std::int64_t>();
  }
  return gains;
}

// The document of an earlier run.
AdvisorJson ReadBaseline(const std::string& path) {
  return InContext("--baseline", [&] {
    const fs::path file = ExpandHome(path);
    AdvisorJson document = io::ReadJson(file);
    const AdvisorJson& schema = io::Member(document, "schema");
    if (!schema.is_string() || !schema.get<std::string>().starts_with("mpa.diagnosis/1")) {
      Fail(ErrorKind::kCorrupt, "{}: not a diagnosis; make one with 'advisor all -d DIR --json'", file.string());
    }
    return document;
  });
}

// What is new, gone or has grown since another run.
std::vector<std::string> ChangeLines(const AdvisorJson& before, const AdvisorJson& now) {
  constexpr double kGrown = 1.2;
  std::vector<std::string> lines;
  const std::map<std::string, std::int64_t> old_gains = GainsOf(before), gains = GainsOf(now);
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  for (const auto& [key, gain] : gains) {
    const auto old = old_gains.find(key);
    if (old == old_gains.end()) {
      lines.push_back(fmt::format("new    {}: {:.1f} ms", key, ms(gain)));
    } else if (static_cast<double>(gain) > kGrown * static_cast<double>(old->second)) {
      lines.push_back(fmt::format("grown  {}: {:.1f} -> {:.1f} ms", key, ms(old->second), ms(gain)));
    }
  }
  for (const auto& [key, gain] : old_gains) {
    if (!gains.contains(key)) lines.push_back(fmt::format("gone   {}: {:.1f} ms", key, ms(gain)));
  }
  if (lines.empty()) lines.emplace_back("no finding is new, gone or has grown since the baseline");
  return lines;
}

// True when a finding is as severe as --fail_on says, or more.
bool Fails(const std::string& fail_on, const AdvisorJson& document) {
  static const std::vector<std::string> order = {"info", "low", "medium", "high", "critical"};
  const auto place = [&](const std::string& name) { return std::find(order.begin(), order.end(), name) - order.begin(); };
  if (fail_on.empty()) return false;
  return std::any_of(document.at("findings").begin(), document.at("findings").end(), [&](const AdvisorJson& finding) {
    return finding.at("kind") == "fault" && place(finding.at("severity").get<std::string>()) >= place(fail_on);
  });
}

// The tables of the Python tool: <output>/log/mstt_advisor_<time>.xlsx.
void WriteTables(const AdvisorOptions& options, const Report& report) {
  const fs::path below = options.output.empty() ? fs::current_path() : fs::path(ExpandHome(options.output));
  const fs::path folder = fs::absolute(below).lexically_normal() / "log";
  InContext("-o", [&] { io::PrepareOutputDirectory(folder); });
  LogNotice("the results are in {}", WriteXlsx(report, folder, "mstt_advisor_" + UtcTimeStamp()).string());
}

void PrintForAgent(const ClusterOutcome& outcome, const AdvisorJson& document) {
  const AdvisorJson envelope = {{"status", outcome.partial ? "warning" : "success"},
                         {"code", 0},
                         {"message", document},
                         {"suggestion", "mend the findings in their order; advisor why KEY shows the evidence of one"}};
  Print(envelope.dump() + "\n");
}

int RunAdvisor(const AdvisorOptions& options) {
  const Question question = QuestionOf(options);
  const RecipeArguments arguments = ArgumentsOf(options, question);
  const bool for_programs = options.json || options.agent;
  const Wanted wanted{.sheets = !for_programs, .screen = for_programs ? Detail::kNone : Detail::kAnswer};
  const ClusterOutcome outcome = DiagnoseCaptures(options, question.captures, arguments, wanted);
  LogNotes(outcome.report.notes);
  const std::string& text = outcome.report.documents.at(0).text;
  const AdvisorJson document = AdvisorJson::parse(text);
  if (options.json && !options.agent) Print(text + "\n");
  if (options.agent) PrintForAgent(outcome, document);
  if (!for_programs) PrintLines(outcome.report.lines);
  if (!for_programs && !options.baseline.empty()) PrintLines(ChangeLines(ReadBaseline(options.baseline), document));
  if (!for_programs && !options.baseline_captures.empty()) {
    const ClusterOutcome base = DiagnoseCaptures(options, ExpandHome(options.baseline_captures), arguments, {false, Detail::kNone});
    LogNotes(base.report.notes);
    PrintLines(ChangeLines(DocumentOf(base.report), document));
  }
  FinishStdout();
  if (!for_programs && question.key.empty()) WriteTables(options, outcome.report);
  if (outcome.partial) return kExitPartial;
  return Fails(options.fail_on, document) ? kExitFindings : 0;
}

std::string AdvisorHelp(const CLI::App& app, std::size_t width) {
  HelpPage page;
  page.summary = "Says what costs the step, whose it is, and what mending it wins.";
  page.usage = {"advisor [all|schedule|computation] -d DIR [OPTIONS]", "advisor why KEY -d DIR"};
  page.after_options = {ExitCodeList({{"1", "--fail_on: a fault is that severe"}})};
  page.examples = {"advisor all -d ./result", "advisor all -d ./result --json --top 3",
                   "advisor why rank.late_host/r5 -d ./result", "advisor all -d ./result --fail_on high"};
  page.notes = {"The gains are replayed: the step is computed again without the cause."};
  return FormatHelp(
      app, page, [](const CLI::Option&) { return true; }, width);
}

constexpr const char* kPrograms = "For programs";
constexpr const char* kPythonTool = "Options of the Python tool without effect";

}  // namespace

Command AddAdvisor(CLI::App& program) {
  CLI::App* app = program.add_subcommand("advisor", "Say what costs the step and what mending it wins");
  const auto options = std::make_shared<AdvisorOptions>();
  app->add_option("words", options->words)->expected(-1)->group("");
  app->add_option("-d,--profiling_path", options->captures, "Directory with the captures of all ranks, or one capture")
      ->type_name("PATH")
      ->group(kMostUsed);
  app->add_option("--benchmark_profiling_path", options->baseline_captures, "Captures of another run: what is new, gone or has grown since")
      ->type_name("PATH")
      ->group(kMostUsed);
  app->add_option("-o,--output_path", options->output, "Directory for the tables [default: the current one]")
      ->type_name("DIR")
      ->group(kMostUsed);
  app->add_option("-l,--language", options->language, "Language of the texts [default: that of LANG]")
      ->check(CLI::IsMember({"cn", "en"}))
      ->type_name("LANG")
      ->group(kMostUsed);
  app->add_option("--fail_on", options->fail_on, "Exit with 1 when a fault is that severe or more")
      ->check(CLI::IsMember({"info", "low", "medium", "high", "critical"}))
      ->type_name("SEVERITY")
      ->group(kMostUsed);
  app->add_option("--rank_list", options->rank_list, "Ranks, such as 0,1,4-7 [default: all]")->type_name("LIST")->group(kReading);
  app->add_option("--step_id", options->step, "Analyse one step of every rank [default: all]")->type_name("ID")->group(kReading);
  app->add_flag("--json", options->json, "Print the diagnosis as JSON; see docs/diagnosis.schema.json")->group(kPrograms);
  app->add_flag("--agent", options->agent, "Print one bounded JSON object for a language model")->group(kPrograms);
  app->add_option("--baseline", options->baseline, "An earlier diagnosis (--json): what is new, gone or has grown since")
      ->type_name("FILE")
      ->group(kPrograms);
  app->add_option("--top", options->top, "Findings to show [default: 5, in JSON 20]")->type_name("N")->group(kPrograms);
  app->add_option("--evidence", options->evidence, "Places to show for each finding [default: 5]")->type_name("N")->group(kPrograms);
  app->add_option("--max_chars", options->max_chars, "Longest JSON document; what goes is counted [default: unlimited, --agent 8000]")
      ->type_name("N")
      ->group(kPrograms);
  AddOpenOptions(*app, options->open);
  AddMemoryOption(*app, options->memory_limit)->group(kReading);
  app->add_option("--cann_version", options->cann_version, "The capture says")->type_name("VERSION")->group(kPythonTool);
  app->add_option("--torch_version", options->torch_version, "The capture says")->type_name("VERSION")->group(kPythonTool);
  app->add_option("--profiling_type", options->profiling_type, "The capture says")->type_name("TYPE")->group(kPythonTool);
  app->add_flag("--debug", options->debug, "See -v")->group(kPythonTool);
  return {app, [options] { return RunAdvisor(*options); },
          [app](std::size_t width) { return AdvisorHelp(*app, width); }};
}

}  // namespace mpa
