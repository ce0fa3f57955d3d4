// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze [cluster] -m RECIPE -d DIR`: analyses over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent.h"
#include "choices.h"
#include "cluster_output.h"
#include "command.h"
#include "export_options.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/capture/archive.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/part_files.h"
#include "mpa/recipe/arguments.h"
#include "mpa/writers/writers.h"
#include "screen.h"
#include "unknown_names.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct RecipeCommandOptions {
  std::string recipe, output, save_parts, from_parts;
  std::string parallel_mode;
  bool print = false, agent = false;
  CaptureArgument captures;
  ExportOptions exports;
  RankOptions ranks;
  RecipeArguments arguments;
};

// The first recipe is the one that runs without -m.
const Recipe& FindRecipe(const std::string& name) {
  for (const Recipe& recipe : AllRecipes()) {
    if (name.empty() || recipe.name == name) return recipe;
  }
  FailUnknownRecipe(name);
}

bool IsPositiveNumber(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number) &&
         number > 0;
}

const RecipeParameter* FindParameter(const Recipe& recipe, std::string_view name) {
  const auto found =
      std::find_if(recipe.parameters.begin(), recipe.parameters.end(),
                   [&](const RecipeParameter& parameter) { return parameter.name == name; });
  return found == recipe.parameters.end() ? nullptr : &*found;
}

void CheckArgument(const RecipeParameter& parameter, const std::string& name,
                   const std::string& value) {
  using Value = RecipeParameter::Value;
  if (parameter.value == Value::kCount && io::ParseInt(value).value_or(0) <= 0) {
    Fail(ErrorKind::kUsage, "--{} {}: give a whole number above 0", name, value);
  }
  if (parameter.value == Value::kPositive && !IsPositiveNumber(value)) {
    Fail(ErrorKind::kUsage, "--{} {}: give a number above 0", name, value);
  }
  if (parameter.value == Value::kChoice &&
      std::find(parameter.choices.begin(), parameter.choices.end(), value) ==
          parameter.choices.end()) {
    Fail(ErrorKind::kUsage, "--{} {}: give one of {}", name, value,
         fmt::join(parameter.choices, ", "));
  }
  if (parameter.problem == nullptr) return;
  const std::string problem = parameter.problem(value);
  if (!problem.empty()) Fail(ErrorKind::kUsage, "--{} {}: {}", name, value, problem);
}

// "-m a,b": each recipe with the options that it has. One that none has would do nothing.
std::vector<RecipeRun> RunsOf(const std::string& names, const RecipeArguments& arguments) {
  std::vector<RecipeRun> runs;
  for (std::size_t from = 0; from <= names.size();) {
    const std::size_t comma = std::min(names.find(',', from), names.size());
    const std::string name(Trim(std::string_view(names).substr(from, comma - from)));
    if (name.empty() && !names.empty()) FailUnknownRecipe(name);
    const Recipe& recipe = FindRecipe(name);
    const bool is_new = std::none_of(runs.begin(), runs.end(),
                                     [&](const RecipeRun& run) { return run.recipe == &recipe; });
    if (is_new) runs.push_back({&recipe, {}});
    from = comma + 1;
  }
  for (const auto& [name, value] : arguments) {
    bool known = false;
    for (RecipeRun& run : runs) {
      const RecipeParameter* parameter = FindParameter(*run.recipe, name);
      if (parameter == nullptr) continue;
      CheckArgument(*parameter, name, value);
      run.arguments[name] = value;
      known = true;
    }
    if (!known) {
      Fail(ErrorKind::kUsage,
           "--{0}: the recipe {1} has no such option; see 'msprof-analyze -m {1} --help'", name,
           runs.front().recipe->name);
    }
  }
  for (const RecipeRun& run : runs) {
    for (const RecipeParameter& parameter : run.recipe->parameters) {
      if (!parameter.required || run.arguments.contains(parameter.name)) continue;
      Fail(ErrorKind::kUsage, "--{} {} is required by the recipe {}", parameter.name,
           parameter.type_name, run.recipe->name);
    }
  }
  return runs;
}

// Where the page goes that the report is asked for; empty: it is not. Checked before any rank is
// read.
fs::path PagePath(const Recipe& recipe, const RecipeArguments& arguments) {
  for (const RecipeParameter& parameter : recipe.parameters) {
    if (parameter.value != RecipeParameter::Value::kPage) continue;
    const auto given = arguments.find(parameter.name);
    if (given == arguments.end()) continue;
    const fs::path path = fs::absolute(ExpandHome(given->second)).lexically_normal();
    std::error_code ignored;
    if (!path.has_filename() || fs::is_directory(path, ignored)) {
      Fail(ErrorKind::kUsage, "--{} {}: give the name of a file", parameter.name, given->second);
    }
    InContext(fmt::format("--{}", parameter.name), [&] { io::PrepareOutputFile(path); });
    return path;
  }
  return {};
}

// Recipes that read ranks together have the same to say of them: what one said, the others do not.
class NewNotes {
 public:
  std::vector<std::string> Of(const std::vector<std::string>& notes) {
    std::vector<std::string> fresh;
    for (const std::string& note : notes) {
      if (!said_.contains(note)) fresh.push_back(note);
    }
    said_.insert(fresh.begin(), fresh.end());
    return fresh;
  }

 private:
  std::set<std::string> said_;
};

// Condenses the ranks that are here, for a run elsewhere that puts all together.
int SaveParts(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
              const std::string& directory, const Agent& agent) {
  const fs::path target = fs::absolute(ExpandHome(directory)).lexically_normal();
  InContext("--save_parts", [&] { io::PrepareOutputDirectory(target); });
  const std::vector<MappedRanks> mapped = MapRanks(runs, request);
  ClearProgressLine();
  WrittenResults written;
  bool partial = false;
  NewNotes notes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    LogNotes(notes.Of(mapped[i].notes));
    for (const fs::path& path : WriteParts(*runs[i].recipe, runs[i].arguments, mapped[i], target)) {
      written.files.push_back(path);
    }
    partial = partial || mapped[i].partial;
  }
  LogNotice("the parts of {} ranks are in {}", mapped.front().parts.size(), target.string());
  const int exit_code = partial ? kExitPartial : 0;
  if (agent.Wanted()) {
    agent.PrintResults({written}, {}, mapped.front().notes,
                       "put the parts together with --from_parts", exit_code);
    FinishStdout();
  }
  return exit_code;
}

// `option` names where the path comes from.
void CheckDirectory(const char* option, const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return;
  if (!fs::exists(path, ignored)) {
    Fail(ErrorKind::kInput, "{} {}: no such directory; check the path", option, path.string());
  }
  if (IsArchive(path)) Fail(ErrorKind::kInput, "{} {}: {}", option, path.string(), kArchiveProblem);
  Fail(ErrorKind::kInput, "{} {}: not a directory; give the one that holds the captures", option,
       path.string());
}

// Where the run to compare with lies; empty: the recipe compares with none.
fs::path BaselineOf(const RecipeRun& run) {
  const std::string_view option = run.recipe->baseline;
  if (option.empty()) return {};
  fs::path path = ExpandHome(run.arguments.find(option)->second);  // as it is required
  CheckDirectory(fmt::format("--{}", option).c_str(), path);
  return path;
}

// Condenses the ranks of the run to compare with.
void AddBaseline(const RecipeRun& run, ClusterRequest request, const fs::path& directory,
                 MappedRanks& mapped) {
  request.directory = directory;
  request.arguments = run.arguments;
  request.arguments[std::string(kIsBaseline)] = "";
  MappedRanks base = MapRanks(*run.recipe, request);
  mapped.partial = mapped.partial || base.partial;
  mapped.notes.insert(mapped.notes.end(), base.notes.begin(), base.notes.end());
  mapped.parts.insert(mapped.parts.end(), base.parts.begin(), base.parts.end());
}

Detail DetailOf(const RecipeCommandOptions& options) {
  if (options.exports.json()) return Detail::kNone;
  if (LogEnabled(LogLevel::kInfo)) return Detail::kAll;
  return options.print ? Detail::kMore : Detail::kAnswer;
}

// What the report of one recipe became.
struct RecipeResult {
  WrittenResults written;
  std::vector<std::string> answer, notes;
  bool partial = false;
};

RecipeResult Finish(const RecipeRun& run, MappedRanks mapped, Wanted wanted,
                    const std::vector<ExportType>& types, const fs::path& output,
                    const ExportOptions* shown, NewNotes& notes) {
  const Recipe& recipe = *run.recipe;
  const fs::path page = PagePath(recipe, run.arguments);
  const ClusterOutcome outcome = ReduceRanks(recipe, run.arguments, wanted, std::move(mapped));
  ClearProgressLine();
  std::vector<std::string> fresh = notes.Of(outcome.report.notes);
  LogNotes(fresh);
  const std::vector<Sheet>& sheets = outcome.report.sheets;
  const bool empty = std::all_of(sheets.begin(), sheets.end(),
                                 [](const Sheet& sheet) { return sheet.rows.empty(); });
  if (empty && !recipe.empty_is_answer) {
    Fail(ErrorKind::kInput,
         "{}: no results; no files written; see what the captures hold with 'msprof-analyze check'",
         recipe.name);
  }
  RecipeResult result{WriteResults(recipe, outcome.report, types, output), outcome.report.lines,
                      std::move(fresh), outcome.partial};
  if (!page.empty() && !outcome.report.page.empty()) {  // otherwise a note says why
    InContext(page.string(), [&] { io::ReplaceText(page, outcome.report.page); });
    result.written.places.push_back(page);
    result.written.files.push_back(page);
  }
  if (shown != nullptr) shown->Show(outcome.report);
  FinishStdout();
  for (const fs::path& path : result.written.places) {
    LogNotice("the results are in {}", path.string());
  }
  return result;
}

std::string SuggestionOf(const std::vector<RecipeRun>& runs) {
  std::string text;
  for (const RecipeRun& run : runs)
    text += fmt::format("{}: {}. ", run.recipe->name, run.recipe->summary);
  return text + "--export_type columns says what each column means.";
}

// Reduces and writes recipe after recipe. One of several that fails costs its own results alone.
int FinishAll(const std::vector<RecipeRun>& runs, std::vector<MappedRanks> mapped,
              const RecipeCommandOptions& options,
              const std::vector<std::vector<ExportType>>& types, const fs::path& output,
              const Agent& agent) {
  const Wanted wanted{.sheets = true, .screen = DetailOf(options)};
  std::vector<WrittenResults> written;
  std::vector<std::string> answer, warnings;
  NewNotes notes;
  bool partial = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    try {
      if (runs.size() > 1 && !agent.Wanted()) {
        Print(fmt::format("{}== {}\n", i == 0 ? "" : "\n", runs[i].recipe->name));
      }
      RecipeResult result = Finish(runs[i], std::move(mapped[i]), wanted, types[i], output,
                                   agent.Wanted() ? nullptr : &options.exports, notes);
      written.push_back(std::move(result.written));
      answer.insert(answer.end(), result.answer.begin(), result.answer.end());
      warnings.insert(warnings.end(), result.notes.begin(), result.notes.end());
      partial = partial || result.partial;
    } catch (const Error& error) {
      const bool is_last_hope = i + 1 == runs.size() && written.empty();
      if (error.kind() != ErrorKind::kInput || is_last_hope) throw;
      WriteLog(LogLevel::kWarning, error.what());
      warnings.emplace_back(error.what());
      partial = true;
    }
  }
  const int exit_code = partial ? kExitPartial : 0;
  if (agent.Wanted()) {
    agent.PrintResults(written, answer, FoldNotes(warnings), SuggestionOf(runs), exit_code);
    FinishStdout();
  }
  return exit_code;
}

int RunRecipeCommand(const RecipeCommandOptions& options, const Agent& agent) {
  const std::vector<RecipeRun> runs = RunsOf(options.recipe, options.arguments);
  if (options.exports.json() && (agent.Wanted() || runs.size() > 1)) {
    Fail(ErrorKind::kUsage, "--json prints the document of one recipe; give {}",
         agent.Wanted() ? "--agent alone" : "one recipe, or --export_type json");
  }
  const bool from_parts = !options.from_parts.empty();
  if (options.captures.Given() && from_parts) {
    Fail(ErrorKind::kUsage, "--from_parts replaces -d; give one of them");
  }
  const std::string directory = from_parts
                                    ? ""
                                    : options.captures.Path(fmt::format("msprof-analyze -m {} DIR",
                                                                        runs.front().recipe->name));
  std::vector<std::vector<ExportType>> types;
  for (const RecipeRun& run : runs) {
    types.push_back(options.exports.Types(ReportKind::kRecipe,
                                          StandardType(*run.recipe, directory, options.ranks.open)));
  }
  const ClusterRequest request = options.ranks.Request(directory);
  const fs::path source = from_parts ? fs::path(ExpandHome(options.from_parts)) : request.directory;
  CheckDirectory(from_parts ? "--from_parts" : "-d", source);
  std::vector<fs::path> baselines;
  for (const RecipeRun& run : runs) baselines.push_back(BaselineOf(run));
  if (from_parts && !(options.save_parts.empty() && request.step == std::nullopt)) {
    Fail(ErrorKind::kUsage,
         "--from_parts: parts are made already; give --save_parts and --step_id "
         "where they are made");
  }
  if (!options.save_parts.empty()) return SaveParts(runs, request, options.save_parts, agent);
  const fs::path below = options.output.empty() ? source : fs::path(ExpandHome(options.output));
  const fs::path output = fs::absolute(below).lexically_normal() / "cluster_analysis_output";
  std::vector<MappedRanks> mapped;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    InContext(options.output.empty() ? "-d (-o writes elsewhere)" : "-o",
              [&] { PrepareTargets(*runs[i].recipe, types[i], output); });
    (void)PagePath(*runs[i].recipe, runs[i].arguments);  // refuses what cannot be written
    if (from_parts) mapped.push_back(ReadParts(*runs[i].recipe, runs[i].arguments, source));
  }
  if (!from_parts) mapped = MapRanks(runs, request);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!baselines[i].empty()) AddBaseline(runs[i], request, baselines[i], mapped[i]);
  }
  return FinishAll(runs, std::move(mapped), options, types, output, agent);
}

constexpr const char* kOfRecipes = "Options of the recipe";
constexpr const char* kMore = "More about results";
constexpr const char* kMachines = "Ranks on several machines";
constexpr const char* kWhereResultsGo =
    "Results go to cluster_analysis_output in the output directory. A further run replaces its own "
    "tables and files only.";

void AddParameters(CLI::App& app, const std::shared_ptr<RecipeCommandOptions>& options) {
  for (const Recipe& recipe : AllRecipes()) {
    for (const RecipeParameter& parameter : recipe.parameters) {
      const std::string name = fmt::format("--{}", parameter.name);
      if (app.get_option_no_throw(name) != nullptr) continue;  // several recipes share it
      const auto set = [options, key = std::string(parameter.name)](const std::string& value) {
        options->arguments[key] = value;
      };
      CLI::Option* option =
          parameter.value == RecipeParameter::Value::kNone
              ? app.add_flag_callback(
                    name, [set] { set(""); }, std::string(parameter.help))
              : app.add_option_function<std::string>(name, set, std::string(parameter.help))
                    ->type_name(std::string(parameter.type_name));
      if (!parameter.choices.empty()) option->check(Suggested(parameter.choices));
      option->group(kOfRecipes);
    }
  }
}

HelpPage PageOfAll() {
  HelpPage page;
  page.summary = "Runs a recipe, an analysis of all ranks of a job.";
  page.usage = {"-m RECIPE DIR [OPTIONS]", "cluster -m RECIPE -d DIR [OPTIONS]"};
  page.before_options = {RecipeList()};
  page.after_options = {ExitCodeList({})};
  page.examples = {"-m module_statistic ./result",
                   "-m module_statistic ./result --export_type text --rank_list 0-7",
                   "-m operator_mfu ./result -o ./out --print"};
  page.notes = {"Each recipe has options of its own: see 'msprof-analyze -m RECIPE --help'.",
                kWhereResultsGo};
  page.shown = [](const CLI::Option& option) { return !IsOfRecipes(option); };
  page.documents = {"recipes.md", "output.md"};
  return page;
}

HelpPage PageOfRecipe(CLI::App& app, const Recipe& recipe) {
  for (const RecipeParameter& parameter : recipe.parameters) {  // others may explain it otherwise
    app.get_option(fmt::format("--{}", parameter.name))->description(std::string(parameter.help));
  }
  HelpPage page;
  page.summary = fmt::format("{}: {}.", recipe.name, recipe.summary);
  page.usage = {fmt::format("-m {} DIR [OPTIONS]", recipe.name)};
  page.examples = {fmt::format("-m {} ./result -o ./out --rank_list 0-3", recipe.name)};
  page.notes = {kWhereResultsGo};
  page.shown = [&recipe](const CLI::Option& option) {
    if (IsOfRecipes(option)) return IsOfRecipe(option, recipe);
    return !option.check_lname("mode");
  };
  return page;
}

}  // namespace

bool IsOfRecipes(const CLI::Option& option) { return option.get_group() == kOfRecipes; }

bool IsOfRecipe(const CLI::Option& option, const Recipe& recipe) {
  return std::any_of(recipe.parameters.begin(), recipe.parameters.end(),
                     [&](const RecipeParameter& parameter) {
                       return option.check_lname(std::string(parameter.name));
                     });
}

std::vector<std::string_view> RecipeNames() {
  std::vector<std::string_view> names;
  for (const Recipe& recipe : AllRecipes()) names.push_back(recipe.name);
  return names;
}

HelpPage::List RecipeList() {
  HelpPage::List list{"Recipes", {}};
  for (const Recipe& recipe : AllRecipes()) {
    list.terms.emplace_back(std::string(recipe.name), std::string(recipe.summary));
  }
  return list;
}

Command AddCluster(CLI::App& program, const Agent& agent) {
  CLI::App* app = program.add_subcommand(
      "cluster", "Run a recipe over all ranks of a job; the word may be left out");
  const auto options = std::make_shared<RecipeCommandOptions>();
  app->add_option(
         "-m,--mode", options->recipe,
         "Name of the recipe, or a list such as hccl_sum,slow_rank: each rank is read once")
      ->type_name("RECIPE")
      ->check(SuggestedList(RecipeNames()))
      ->group(kMostUsed);
  options->captures.AddTo(
      *app, "Directory with the captures of all ranks, or one capture; parsed or raw");
  app->add_option("-o,--output_path", options->output,
                  "Directory to create cluster_analysis_output in [default: the one of -d]")
      ->type_name("DIR")
      ->group(kMostUsed);
  options->exports.AddTo(*app, {ReportKind::kRecipe}, kRecipeType);
  app->get_option("--export_type")->group(kMostUsed);
  app->get_option("--json")->group(kMore);
  app->add_option("--rank_list", options->ranks.rank_list, "Ranks, such as 0,1,4-7 [default: all]")
      ->type_name("LIST")
      ->group(kMostUsed);
  AddParameters(*app, options);
  app->add_flag("--print", options->print, "Print more of a single rank")->group(kMore);
  app->add_flag("--agent", options->agent,
                "Print one JSON object that names what was written; the log goes to a file")
      ->group(kMore);
  app->add_option("--step_id", options->ranks.step, "Analyse one step of every rank [default: all]")
      ->type_name("ID")
      ->group(kMore);
  app->add_option("--save_parts", options->save_parts,
                  "Condense the ranks on this machine into small files for --from_parts, and make "
                  "no report")
      ->type_name("DIR")
      ->group(kMachines);
  app->add_option("--from_parts", options->from_parts,
                  "Directory with the files of --save_parts of all machines, instead of -d")
      ->type_name("DIR")
      ->group(kMachines);
  AddOpenOptions(*app, options->ranks.open);
  AddMemoryOption(*app, options->ranks.memory_limit)->group(kReading);
  app->add_option("--parallel_mode", options->parallel_mode,
                  "Accepted for compatibility, no effect; see --jobs")
      ->type_name("MODE")
      ->check(OneOf({"concurrent"}))
      ->group(kReading);
  return {app,
          [options, &agent] {
            return RunRecipeCommand(*options, agent);
          },  // keeps alive what the options write to
          [app, options] {
            if (options->recipe.empty()) return PageOfAll();
            const std::string first = options->recipe.substr(0, options->recipe.find(','));
            return PageOfRecipe(*app, FindRecipe(first));
          }};
}

}  // namespace mpa
