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
#include <string>
#include <utility>
#include <vector>

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
  std::string rank_list = "all", step, parallel_mode, memory_limit;
  bool print = false;
  CaptureArgument captures;
  ExportOptions exports;
  OpenOptions open;
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

// The options of other recipes than the chosen one would do nothing.
void CheckArguments(const Recipe& recipe, const RecipeArguments& arguments) {
  for (const auto& [name, value] : arguments) {
    const auto found =
        std::find_if(recipe.parameters.begin(), recipe.parameters.end(),
                     [wanted = std::string_view(name)](const RecipeParameter& parameter) {
                       return parameter.name == wanted;
                     });
    if (found == recipe.parameters.end()) {
      Fail(ErrorKind::kUsage,
           "--{0}: the recipe {1} has no such option; see 'msprof-analyze -m {1} --help'", name,
           recipe.name);
    }
    if (found->value == RecipeParameter::Value::kCount && io::ParseInt(value).value_or(0) <= 0) {
      Fail(ErrorKind::kUsage, "--{} {}: give a whole number above 0", name, value);
    }
    if (found->value == RecipeParameter::Value::kPositive && !IsPositiveNumber(value)) {
      Fail(ErrorKind::kUsage, "--{} {}: give a number above 0", name, value);
    }
    if (found->value == RecipeParameter::Value::kChoice &&
        std::find(found->choices.begin(), found->choices.end(), value) == found->choices.end()) {
      Fail(ErrorKind::kUsage, "--{} {}: give one of {}", name, value,
           fmt::join(found->choices, ", "));
    }
    if (found->problem != nullptr) {
      const std::string problem = found->problem(value);
      if (!problem.empty()) Fail(ErrorKind::kUsage, "--{} {}: {}", name, value, problem);
    }
  }
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

constexpr const char* kDatabase = "cluster_analysis.db";
constexpr std::string_view kRecipeType = "db";

// The form that is written without --export_type.
std::string_view StandardType(const Recipe& recipe, const fs::path& directory,
                              const OpenOptions& open) {
  if (!recipe.text_form_of_text || directory.empty()) return kRecipeType;
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) return kRecipeType;  // which is said later
  const Discovery found = Discover(directory, open);
  const bool all_text =
      !found.ranks.empty() &&
      std::all_of(found.ranks.begin(), found.ranks.end(),
                  [](const RankInput& rank) { return rank.kind == CaptureKind::kNpuText; });
  return all_text ? "text" : kRecipeType;
}

// Checks that the result can be written, before any rank is read.
void PrepareTargets(const Recipe& recipe, const std::vector<ExportType>& types,
                    const fs::path& directory) {
  if (types.empty()) return;
  io::PrepareOutputDirectory(directory);
  const fs::path folder = directory / recipe.folder;
  for (const ExportType& type : types) {
    if (type.name == "db") {
      PrepareDatabase(directory / kDatabase);
      continue;
    }
    io::PrepareOutputDirectory(folder);
    if (type.name != "text") {
      PrepareReport(folder, std::string(recipe.name), type);
      continue;
    }
    // Which ranks there are is not known yet.
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".xlsx" && entry.is_directory()) {
        io::PrepareOutputFile(entry.path());
      }
    }
  }
}

// Writes the report; returns where it lies. Tables join those of other recipes in one database, and
// workbooks of ranks lie in the folder itself.
std::vector<fs::path> Write(const Recipe& recipe, const Report& report,
                            const std::vector<ExportType>& types, const fs::path& directory) {
  std::vector<fs::path> paths;
  const fs::path folder = directory / recipe.folder;
  std::vector<std::string> notes;
  for (const ExportType& type : types) {
    if (type.name == "db") {
      paths.push_back(directory / kDatabase);
      WriteDatabase(report.sheets, paths.back());
    } else if (type.name == "text") {
      std::vector<fs::path> files = WriteRankWorkbooks(report, folder, notes);
      const std::vector<fs::path> texts = WriteTextFiles(report, folder);
      files.insert(files.end(), texts.begin(), texts.end());
      if (files.size() > 1) paths.push_back(folder);
      if (files.size() == 1) paths.push_back(files.front());
    } else {
      paths.push_back(ReplaceReport(report, folder, std::string(recipe.name), type, notes));
    }
  }
  LogNotes(notes);
  return paths;
}

// Condenses the ranks that are here, for a run elsewhere that puts all together.
int SaveParts(const Recipe& recipe, const ClusterRequest& request, const std::string& directory) {
  const fs::path target = fs::absolute(ExpandHome(directory)).lexically_normal();
  InContext("--save_parts", [&] { io::PrepareOutputDirectory(target); });
  const MappedRanks mapped = MapRanks(recipe, request);
  ClearProgressLine();
  LogNotes(mapped.notes);
  WriteParts(recipe, request.arguments, mapped, target);
  LogNotice("the parts of {} ranks are in {}", mapped.parts.size(), target.string());
  return mapped.partial ? kExitPartial : 0;
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
fs::path BaselineOf(const Recipe& recipe, const RecipeArguments& arguments) {
  if (recipe.baseline.empty()) return {};
  const auto given = arguments.find(recipe.baseline);
  if (given == arguments.end()) {
    Fail(ErrorKind::kUsage, "--{} DIR is missing: the recipe {} compares with the run in it",
         recipe.baseline, recipe.name);
  }
  fs::path path = ExpandHome(given->second);
  CheckDirectory(fmt::format("--{}", recipe.baseline).c_str(), path);
  return path;
}

// Condenses the ranks of the run to compare with.
void AddBaseline(const Recipe& recipe, ClusterRequest request, const fs::path& directory,
                 MappedRanks& mapped) {
  request.directory = directory;
  request.arguments[std::string(kIsBaseline)] = "";
  MappedRanks base = MapRanks(recipe, request);
  mapped.partial = mapped.partial || base.partial;
  mapped.notes.insert(mapped.notes.end(), base.notes.begin(), base.notes.end());
  mapped.parts.insert(mapped.parts.end(), base.parts.begin(), base.parts.end());
}

Detail DetailOf(const RecipeCommandOptions& options) {
  if (options.exports.json()) return Detail::kNone;
  if (LogEnabled(LogLevel::kInfo)) return Detail::kAll;
  return options.print ? Detail::kMore : Detail::kAnswer;
}

int RunRecipeCommand(const RecipeCommandOptions& options) {
  const Recipe& recipe = FindRecipe(options.recipe);
  CheckArguments(recipe, options.arguments);
  const bool from_parts = !options.from_parts.empty();
  if (options.captures.Given() && from_parts) {
    Fail(ErrorKind::kUsage, "--from_parts replaces -d; give one of them");
  }
  const std::string directory =
      from_parts ? "" : options.captures.Path(fmt::format("msprof-analyze -m {} DIR", recipe.name));
  const std::vector<ExportType> types =
      options.exports.Types(ReportKind::kRecipe, StandardType(recipe, directory, options.open));
  if (!IsOneOf(options.parallel_mode, {"", "concurrent"})) {
    Fail(ErrorKind::kUsage, "--parallel_mode {}: unknown mode; give concurrent, and see --jobs",
         options.parallel_mode);
  }
  ClusterRequest request;
  request.directory = directory;
  request.ranks = ParseRanks("--rank_list", options.rank_list);
  request.step = ParseStep("--step_id", options.step, StepForm::kNumberOrAll);
  request.open = options.open;
  request.memory_bytes = ApplyMemoryLimit("--memory_limit", options.memory_limit);
  request.arguments = options.arguments;
  const fs::path source = from_parts ? fs::path(ExpandHome(options.from_parts)) : request.directory;
  CheckDirectory(from_parts ? "--from_parts" : "-d", source);
  const fs::path baseline = BaselineOf(recipe, request.arguments);
  if (from_parts && !(options.save_parts.empty() && request.step == std::nullopt)) {
    Fail(ErrorKind::kUsage,
         "--from_parts: parts are made already; give --save_parts and --step_id "
         "where they are made");
  }
  if (!options.save_parts.empty()) return SaveParts(recipe, request, options.save_parts);
  const fs::path below = options.output.empty() ? source : fs::path(ExpandHome(options.output));
  const fs::path output = fs::absolute(below).lexically_normal() / "cluster_analysis_output";
  InContext(options.output.empty() ? "-d (-o writes elsewhere)" : "-o",
            [&] { PrepareTargets(recipe, types, output); });
  const fs::path page = PagePath(recipe, options.arguments);

  MappedRanks mapped =
      from_parts ? ReadParts(recipe, request.arguments, source) : MapRanks(recipe, request);
  if (!baseline.empty()) AddBaseline(recipe, request, baseline, mapped);
  const Wanted wanted{.sheets = true, .screen = DetailOf(options)};
  const ClusterOutcome outcome = ReduceRanks(recipe, request.arguments, wanted, std::move(mapped));
  ClearProgressLine();
  LogNotes(outcome.report.notes);
  const std::vector<Sheet>& sheets = outcome.report.sheets;
  const bool empty = std::all_of(sheets.begin(), sheets.end(),
                                 [](const Sheet& sheet) { return sheet.rows.empty(); });
  if (empty && !recipe.empty_is_answer) {
    Fail(ErrorKind::kInput,
         "{}: no results; no files written; see what the captures hold with 'msprof-analyze check'",
         recipe.name);
  }
  std::vector<fs::path> paths = Write(recipe, outcome.report, types, output);
  if (!page.empty() && !outcome.report.page.empty()) {  // otherwise a note says why
    InContext(page.string(), [&] { io::ReplaceText(page, outcome.report.page); });
    paths.push_back(page);
  }
  options.exports.Show(outcome.report);
  FinishStdout();
  for (const fs::path& path : paths) LogNotice("the results are in {}", path.string());
  return outcome.partial ? kExitPartial : 0;
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
      option->group(kOfRecipes);
    }
  }
}

bool HasParameter(const Recipe& recipe, const CLI::Option& option) {
  return std::any_of(recipe.parameters.begin(), recipe.parameters.end(),
                     [&](const RecipeParameter& parameter) {
                       return option.check_lname(std::string(parameter.name));
                     });
}

std::string HelpOfAll(const CLI::App& app, std::size_t width) {
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
  return FormatHelp(
      app, page, [](const CLI::Option& option) { return option.get_group() != kOfRecipes; }, width);
}

std::string HelpOfRecipe(CLI::App& app, const Recipe& recipe, std::size_t width) {
  for (const RecipeParameter& parameter : recipe.parameters) {  // others may explain it otherwise
    app.get_option(fmt::format("--{}", parameter.name))->description(std::string(parameter.help));
  }
  HelpPage page;
  page.summary = fmt::format("{}: {}.", recipe.name, recipe.summary);
  page.usage = {fmt::format("-m {} DIR [OPTIONS]", recipe.name)};
  page.examples = {fmt::format("-m {} ./result -o ./out --rank_list 0-3", recipe.name)};
  page.notes = {kWhereResultsGo};
  const auto shown = [&](const CLI::Option& option) {
    if (option.get_group() == kOfRecipes) return HasParameter(recipe, option);
    return !option.check_lname("mode");
  };
  return FormatHelp(app, page, shown, width);
}

}  // namespace

HelpPage::List RecipeList() {
  HelpPage::List list{"Recipes", {}};
  for (const Recipe& recipe : AllRecipes()) {
    list.terms.emplace_back(std::string(recipe.name), std::string(recipe.summary));
  }
  return list;
}

Command AddCluster(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "cluster", "Run a recipe over all ranks of a job; the word may be left out");
  const auto options = std::make_shared<RecipeCommandOptions>();
  app->add_option("-m,--mode", options->recipe, "Name of the recipe")
      ->type_name("RECIPE")
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
  app->add_option("--rank_list", options->rank_list, "Ranks, such as 0,1,4-7 [default: all]")
      ->type_name("LIST")
      ->group(kMostUsed);
  AddParameters(*app, options);
  app->add_flag("--print", options->print, "Print more of a single rank")->group(kMore);
  app->add_option("--step_id", options->step, "Analyse one step of every rank [default: all]")
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
  AddOpenOptions(*app, options->open);
  AddMemoryOption(*app, options->memory_limit)->group(kReading);
  app->add_option("--parallel_mode", options->parallel_mode,
                  "Accepted for compatibility, no effect; see --jobs")
      ->type_name("MODE")
      ->group(kReading);
  return {
      app,
      [options] { return RunRecipeCommand(*options); },  // keeps alive what the options write to
      [app, options](std::size_t width) {
        if (options->recipe.empty()) return HelpOfAll(*app, width);
        return HelpOfRecipe(*app, FindRecipe(options->recipe), width);
      }};
}

}  // namespace mpa
