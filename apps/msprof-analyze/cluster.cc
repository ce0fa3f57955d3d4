// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze [cluster] -m RECIPE -d DIR`: analyses over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "choices.h"
#include "cluster_output.h"
#include "command.h"
#include "export_options.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/text.h"
#include "printing.h"
#include "recipe_runs.h"
#include "shards.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct RecipeCommandOptions {
  std::string recipe, output;
  std::string parallel_mode;
  bool print = false;
  CaptureArgument captures;
  ExportOptions exports;
  RankOptions ranks;
  ShardOptions shards;
  GivenOptions arguments;
};

int RunRecipeCommand(RecipeCommandOptions options, Agent& agent) {
  std::vector<RecipeRun> runs = RunsOf(options.recipe, options.arguments);
  CheckForms(options.exports, agent, runs.size());
  const std::string directory = options.captures.Path(
      fmt::format("msprof-analyze -m {} DIR", runs.front().recipe->name), options.ranks.open);
  // With MPI a machine that lacks it costs its share alone.
  if (!options.shards.mpi) CheckCaptures("-d", directory);
  for (RecipeRun& run : runs) run.arguments.captures = ShellWord(directory);
  const fs::path source = PlaceBeside(directory);
  const bool is_given = !options.output.empty();
  Delivery delivery{
      options.exports, agent,        {}, is_given ? fs::path(ExpandHome(options.output)) : source,
      is_given,        options.print};
  for (const RecipeRun& run : runs) {
    delivery.types.push_back(options.exports.Types(
        ReportKind::kRecipe, StandardType(*run.recipe, directory, options.ranks.open)));
  }
  ClusterRequest request = options.ranks.Request(directory);
  request.each_group = true;
  for (const RecipeRun& run : runs)
    request.each_group = request.each_group && BaselineOf(run).empty();
  const auto sharing = SharingOf(options.shards, options.output, source);
  if (!sharing) {
    return RunRecipes(runs, delivery, request, [&](EarlyDocuments& early) {
      ClusterRequest writing = request;
      if (!delivery.types.front().empty()) writing.write_documents = early.Writer();
      return MapRanks(runs, writing);
    });
  }
  return RunShard(runs, request, *sharing, agent, [&](const std::vector<std::string>& lost) {
    return RunRecipes(runs, delivery, request,
                      [&](EarlyDocuments&) { return MappedShares(runs, request, *sharing, lost); });
  });
}

constexpr const char* kOfRecipes = "Options of the recipe";
constexpr const char* kMore = "More about results";
constexpr const char* kWhereResultsGo =
    "Results go to cluster_analysis_output in the output directory. Another run replaces its own"
    " tables and files only.";

void AddParameters(CLI::App& app, const std::shared_ptr<RecipeCommandOptions>& options) {
  for (const Recipe& recipe : AllRecipes()) {
    for (const RecipeOption& parameter : recipe.options) {
      const std::string name = fmt::format("--{}", parameter.name);
      if (app.get_option_no_throw(name) != nullptr) continue;  // several recipes share it
      const auto set = [options, key = std::string(parameter.name)](const std::string& value) {
        options->arguments[key] = value;
      };
      CLI::Option* option = parameter.kind == RecipeOption::Kind::kSwitch
                                ? app.add_flag_callback(
                                      name, [set] { set(""); }, parameter.help)
                                : app.add_option_function<std::string>(name, set, parameter.help)
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
  for (const RecipeOption& parameter : recipe.options) {  // others may explain it otherwise
    app.get_option(fmt::format("--{}", parameter.name))->description(parameter.help);
  }
  HelpPage page;
  page.summary = Say("{}: {}.", recipe.name, Translated(recipe.summary));
  page.usage = {fmt::format("-m {} DIR [OPTIONS]", recipe.name)};
  page.examples = {fmt::format("-m {} ./result -o ./out --rank_list 0-3", recipe.name)};
  page.notes = {kWhereResultsGo};
  page.first = [](const CLI::Option& option) { return IsMostUsed(option) || IsOfRecipes(option); };
  page.shown = [&recipe](const CLI::Option& option) {
    if (IsOfRecipes(option)) return IsOfRecipe(option, recipe);
    return !option.check_lname("mode");
  };
  return page;
}

}  // namespace

bool IsOfRecipes(const CLI::Option& option) { return option.get_group() == kOfRecipes; }

bool IsOfRecipe(const CLI::Option& option, const Recipe& recipe) {
  return std::ranges::any_of(recipe.options, [&](const RecipeOption& parameter) {
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

Command AddCluster(CLI::App& program, Agent& agent) {
  CLI::App* app = program.add_subcommand(
      "cluster", "Run a recipe over all ranks of a job; the word 'cluster' may be left out");
  const auto options = std::make_shared<RecipeCommandOptions>();
  const OptionAdder add(*app);
  add("-m,--mode", options->recipe,
      "Name of the recipe, or a list such as hccl_sum,slow_rank: each rank is read once", "RECIPE",
      kMaxUsed)
      ->check(SuggestedList(RecipeNames()));
  options->captures.AddTo(*app,
                          "Directory with the captures of all ranks, or one capture, parsed or raw,"
                          " a trace, a database or a table; several together form one job");
  add("-o,--output_path", options->output,
      "Directory in which to create cluster_analysis_output [default: that of -d]", "DIR",
      kMaxUsed);
  options->exports.AddTo(*app, {ReportKind::kRecipe}, kRecipeType);
  app->get_option("--export_type")->group(kMaxUsed);
  app->get_option("--json")->group(kMore);
  add("--rank_list", options->ranks.rank_list, "Ranks, such as 0,1,4-7 [default: all]", "LIST",
      kMaxUsed);
  AddParameters(*app, options);
  app->add_option_function<std::string>(
         fmt::format("--{}", kBenchmark),
         [options](const std::string& path) { options->arguments[std::string(kBenchmark)] = path; })
      ->group("");  // as in `compare`; each recipe that compares has a name of its own for it
  add.Flag("--print", options->print, "Print charts as bars, and more about a single rank", kMore);
  add("--step_id", options->ranks.step, "Analyse one step of every rank [default: all]", "ID",
      kMore);
  options->shards.AddTo(add);
  AddOpenOptions(*app, options->ranks.open);
  AddMemoryOption(*app, options->ranks.memory_limit)->group(kReading);
  app->add_flag_callback(
         "--data_simplification",
         [] {
           LogWarning("--data_simplification has no effect; captures of any size are read whole");
         })
      ->group("");  // of older versions of the Python tool
  add("--parallel_mode", options->parallel_mode,
      "Accepted for compatibility, without effect; see --jobs", "MODE", kReading)
      ->check(OneOf({"concurrent"}));
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
