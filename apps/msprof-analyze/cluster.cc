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
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"
#include "screen.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct RecipeCommandOptions {
  std::string recipe, directory, output, export_type = "db";
  std::string rank_list = "all", step, parallel_mode, memory_limit;
  bool print = false;
  OpenOptions open;
  RecipeArguments arguments;
};

constexpr const char* kRecipeFooter = R"(
Examples:
  msprof-analyze -m module_statistic -d ./result
  msprof-analyze -m module_statistic -d ./result -o ./out --export_type text --rank_list 0,4-7
  msprof-analyze -m operator_mfu -d ./result --print
  msprof-analyze -m head_overhead -d ./result --picture call.html

Results go to cluster_analysis_output below the output directory; a further run replaces its own
tables and files and leaves the others alone.

Exit codes: 0 done, 2 wrong command line, 3 input missing or unusable, 5 done but ranks or parts of
them were broken and left out, 6 output cannot be written, 7 memory exhausted.)";

const Recipe& FindRecipe(const std::string& name) {
  for (const Recipe& recipe : AllRecipes()) {
    if (recipe.name == name) return recipe;
  }
  std::vector<std::string_view> names;
  for (const Recipe& recipe : AllRecipes()) names.push_back(recipe.name);
  if (name.empty()) {
    Fail(ErrorKind::kUsage,
         "-m,--mode is required: one of {}, or a command such as 'msprof-analyze compare'",
         fmt::join(names, ", "));
  }
  Fail(ErrorKind::kUsage, "-m: unknown recipe '{}'; available: {}", name, fmt::join(names, ", "));
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
      Fail(ErrorKind::kUsage, "the recipe {} has no option --{}", recipe.name, name);
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

// Where the documents of the recipe go, by parameter; checked before any rank is read.
std::map<std::string, fs::path> DocumentPaths(const Recipe& recipe,
                                              const RecipeArguments& arguments) {
  std::map<std::string, fs::path> paths;
  for (const RecipeParameter& parameter : recipe.parameters) {
    if (parameter.value != RecipeParameter::Value::kFile) continue;
    const auto given = arguments.find(parameter.name);
    if (given == arguments.end()) continue;
    const fs::path path = fs::absolute(ExpandHome(given->second)).lexically_normal();
    std::error_code ignored;
    if (!path.has_filename() || fs::is_directory(path, ignored)) {
      Fail(ErrorKind::kUsage, "--{} {}: give the name of a file", parameter.name, given->second);
    }
    InContext(fmt::format("--{}", parameter.name), [&] { io::PrepareOutputFile(path); });
    paths.emplace(parameter.name, path);
  }
  return paths;
}

constexpr const char* kDatabase = "cluster_analysis.db";

// Checks that the result can be written, before any rank is read.
void PrepareTargets(const Recipe& recipe, const std::string& type, const fs::path& directory) {
  io::PrepareOutputDirectory(directory);
  if (type == "db") {
    PrepareDatabase(directory / kDatabase);
    return;
  }
  const fs::path folder = directory / recipe.folder;
  io::PrepareOutputDirectory(folder);
  // Which ranks there are is not known yet.
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (type == "text" && entry.path().extension() == ".xlsx" && entry.is_directory()) {
      io::PrepareOutputFile(entry.path());
    }
  }
  if (type == "json") io::PrepareOutputFile(folder / fmt::format("{}.json", recipe.name));
}

// Writes the result; returns where it lies.
std::vector<fs::path> Write(const Recipe& recipe, const RecipeResult& result,
                            const std::string& type, const fs::path& directory) {
  std::vector<fs::path> paths;
  if (type == "db") {
    WriteDatabase(result.tables, directory / kDatabase);
    return {directory / kDatabase};
  }
  const fs::path folder = directory / recipe.folder;
  std::vector<std::string> notes;
  const auto write = [&](std::string_view format, const Report& report, const std::string& stem) {
    for (const ExportType& known : AllExportTypes()) {
      if (known.name == format) paths.push_back(ReplaceReport(report, folder, stem, known, notes));
    }
  };
  if (type == "text") {
    std::map<std::string, int> written;  // captures that do not tell their rank share a name
    for (const RankWorkbook& workbook : result.workbooks) {
      Report report;
      report.sheets = workbook.sheets;
      const int number = ++written[workbook.stem];
      write("xlsx", report,
            number == 1 ? workbook.stem : fmt::format("{} ({})", workbook.stem, number));
    }
    if (paths.size() > 1) paths = {folder};
  } else {
    Report report;
    report.sheets = result.tables;
    report.notes = result.notes;
    write(type, report, std::string(recipe.name));
  }
  for (const std::string& note : notes) LogWarning("{}", note);
  return paths;
}

int RunRecipeCommand(const RecipeCommandOptions& options) {
  const Recipe& recipe = FindRecipe(options.recipe);
  CheckArguments(recipe, options.arguments);
  if (options.directory.empty()) {
    Fail(ErrorKind::kUsage, "-d,--profiling_path is required: the directory with the captures");
  }
  if (!IsOneOf(options.export_type, {"db", "text", "json", "csv"})) {
    Fail(ErrorKind::kUsage, "--export_type {}: give db, text, json or csv", options.export_type);
  }
  if (!IsOneOf(options.parallel_mode, {"", "concurrent"})) {
    Fail(ErrorKind::kUsage, "--parallel_mode {}: there is 'concurrent' only; see --jobs",
         options.parallel_mode);
  }
  ClusterRequest request;
  request.directory = ExpandHome(options.directory);
  request.ranks = ParseRanks("--rank_list", options.rank_list);
  request.step = ParseStep("--step_id", options.step, StepForm::kNumberOrAll);
  request.open = options.open;
  request.memory_bytes = ApplyMemoryLimit("--memory_limit", options.memory_limit);
  request.arguments = options.arguments;
  if (!fs::is_directory(request.directory)) {
    Fail(ErrorKind::kInput, "-d {}: no such directory", options.directory);
  }
  const fs::path below =
      options.output.empty() ? request.directory : fs::path(ExpandHome(options.output));
  const fs::path output = fs::absolute(below).lexically_normal() / "cluster_analysis_output";
  InContext(options.output.empty() ? "-d (-o writes elsewhere)" : "-o",
            [&] { PrepareTargets(recipe, options.export_type, output); });
  const std::map<std::string, fs::path> documents = DocumentPaths(recipe, options.arguments);

  const ClusterOutcome outcome = RunRecipe(recipe, request);
  ClearProgressLine();
  for (const std::string& note : outcome.result.notes) LogWarning("{}", note);
  const bool empty = std::all_of(outcome.result.tables.begin(), outcome.result.tables.end(),
                                 [](const Sheet& table) { return table.rows.empty(); });
  if (empty && !recipe.empty_is_answer) {
    Fail(ErrorKind::kInput, "{}: no results; no files written", recipe.name);
  }
  std::vector<fs::path> paths = Write(recipe, outcome.result, options.export_type, output);
  for (const auto& [name, path] : documents) {
    const auto document = outcome.result.documents.find(name);
    if (document == outcome.result.documents.end()) continue;  // a note says why
    InContext(path.string(), [&, &target = path] { io::ReplaceText(target, document->second); });
    paths.push_back(path);
  }
  if (options.print || recipe.always_prints) PrintLines(outcome.result.screen);
  FinishStdout();
  for (const fs::path& path : paths) LogNotice("the results are in {}", path.string());
  return outcome.partial ? kExitPartial : 0;
}

}  // namespace

Command AddCluster(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("cluster", "Recipes over all ranks of a job (the default command)");
  app->footer(kRecipeFooter);
  const auto options = std::make_shared<RecipeCommandOptions>();
  std::string recipes;
  for (const Recipe& recipe : AllRecipes()) {
    recipes += fmt::format("{}{}: {}", recipes.empty() ? "" : "; ", recipe.name, recipe.summary);
  }
  app->add_option("-m,--mode", options->recipe, "Recipe. " + recipes)->type_name("RECIPE");
  app->add_option("-d,--profiling_path", options->directory,
                  "Directory with the captures of all ranks, or one capture; parsed or raw")
      ->type_name("DIR");
  app->add_option("-o,--output_path", options->output,
                  "Where cluster_analysis_output is made [default: the directory of -d]")
      ->type_name("DIR");
  app->add_option("--export_type", options->export_type,
                  "db: tables in cluster_analysis.db; text: a workbook for each rank; json or csv: "
                  "all ranks in one [default: db]")
      ->type_name("TYPE");
  app->add_option("--rank_list", options->rank_list, "Ranks, such as 0,1,4-7 [default: all]")
      ->type_name("LIST");
  app->add_option("--step_id", options->step, "One step of every rank [default: all]")
      ->type_name("ID");
  app->add_option("--memory_limit", options->memory_limit,
                  "Memory that the run may take, such as 8G: ranks wait for each other, and a run "
                  "that needs more ends with 7 [default: ranks wait at three quarters of the "
                  "machine's or the container's, a run ends at nine tenths]")
      ->type_name("SIZE");
  app->add_option("--parallel_mode", options->parallel_mode,
                  "'concurrent' is what happens anyway; --jobs says with how many threads")
      ->type_name("MODE");
  app->add_flag("--print", options->print, "Print a summary on the screen, too");
  AddOpenOptions(*app, options->open);
  for (const Recipe& recipe : AllRecipes()) {
    for (const RecipeParameter& parameter : recipe.parameters) {
      const std::string name = fmt::format("--{}", parameter.name);
      if (CLI::Option* shared = app->get_option_no_throw(name)) {
        shared->group(fmt::format("{}, {}", shared->get_group(), recipe.name));
        continue;
      }
      const auto set = [options, key = std::string(parameter.name)](const std::string& value) {
        options->arguments[key] = value;
      };
      CLI::Option* option =
          parameter.value == RecipeParameter::Value::kNone
              ? app->add_flag_callback(
                    name, [set] { set(""); }, std::string(parameter.help))
              : app->add_option_function<std::string>(name, set, std::string(parameter.help))
                    ->type_name(std::string(parameter.type_name));
      option->group(fmt::format("Options of {}", recipe.name));
    }
  }
  return {app, [options] {
            return RunRecipeCommand(*options);
          }};  // keeps alive what the options write to
}

}  // namespace mpa
