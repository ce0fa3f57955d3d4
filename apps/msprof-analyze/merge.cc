// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze merge PARTS`: one report of what the shards of a job made.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "advisor_output.h"
#include "choices.h"
#include "cluster_output.h"
#include "command.h"
#include "export_options.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/parts.h"
#include "printing.h"
#include "recipe_runs.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct MergeOptions {
  std::vector<std::string> directories;
  std::string recipe, output;
  bool partial = false, print = false;
  ExportOptions exports;
  RankOptions ranks;
};

// Those of -m; else all that there are parts of.
std::vector<PartSelection> WantedBy(const MergeOptions& options, const Recipe& advisor) {
  std::vector<PartSelection> wanted;
  for (const std::string_view piece : Split(options.recipe, ',')) {
    const std::string name(Trim(piece));
    if (name == advisor.name)
      wanted.push_back({&advisor});
    else if (!name.empty())
      wanted.push_back({&FindRecipe(name)});
  }
  if (wanted.empty()) {
    for (const Recipe& recipe : AllRecipes()) wanted.push_back({&recipe});
    wanted.push_back({&advisor});
  }
  return wanted;
}

std::vector<fs::path> DirectoriesOf(const MergeOptions& options) {
  std::vector<fs::path> directories;
  for (const std::string& text : options.directories) {
    directories.emplace_back(ExpandHome(text));
    CheckCaptures("merge", directories.back());
    std::error_code ignored;
    if (!fs::is_directory(directories.back(), ignored)) {
      Fail(ErrorKind::kInput, "merge {}: not a directory; give the one that holds the parts",
           directories.back().string());
    }
  }
  return directories;
}

// What nodes do before one of them merges.
int PackForMerge(const MergeOptions& options, const std::vector<PartSelection>& wanted,
                 Agent& agent) {
  if (options.output.empty())
    Fail(ErrorKind::kUsage, "--partial needs -o, the directory for the packed parts");
  if (options.exports.json())
    Fail(ErrorKind::kUsage, "--partial makes no report; leave --json out");
  const std::vector<fs::path> directories = DirectoriesOf(options);
  const fs::path output = fs::absolute(ExpandHome(options.output)).lexically_normal();
  InContext("-o", [&] { io::PrepareOutputDirectory(output); });
  const PackedParts packed = PackParts(directories, wanted, output);
  ClearProgressLine();
  LogNotes(packed.notes);
  if (packed.parts == 1)
    LogNotice("1 part is in {}", packed.file.string());
  else
    LogNotice("{} parts are in {}", packed.parts, packed.file.string());
  const int exit_code = packed.notes.empty() ? 0 : kExitPartial;
  agent.Answer().next = fmt::format("msprof-analyze merge {}", ShellWord(output.string()));
  agent.Wrote({packed.file});
  return exit_code;
}

int MergeRecipes(const MergeOptions& options, std::vector<PartSet> sets, Agent& agent) {
  std::vector<RecipeRun> runs;
  std::vector<MappedRanks> mapped;
  const bool is_given = !options.output.empty();
  Delivery delivery{options.exports,
                    agent,
                    {},
                    ExpandHome(is_given ? options.output : options.directories.front()),
                    is_given,
                    options.print};
  for (PartSet& set : sets) {
    runs.push_back({set.recipe, set.arguments});
    delivery.types.push_back(options.exports.Types(
        ReportKind::kRecipe, set.recipe->text_form_of_text && set.of_text ? "text" : kRecipeType));
    mapped.push_back(std::move(set.mapped));
  }
  CheckForms(options.exports, agent, runs.size());
  ClusterRequest request = options.ranks.Request("");
  request.step = sets.front().step;
  return RunRecipes(runs, delivery, request, [&](EarlyDocuments&) { return std::move(mapped); });
}

int RunMerge(const MergeOptions& options, Agent& agent) {
  if (options.directories.empty())
    Fail(ErrorKind::kUsage, "merge needs directories with parts; give msprof-analyze merge DIR");
  const Recipe advisor = DiagnosisRecipe();
  const std::vector<PartSelection> wanted = WantedBy(options, advisor);
  ApplyMemoryLimit("--memory_limit", options.ranks.memory_limit);
  if (options.partial) return PackForMerge(options, wanted, agent);
  std::vector<PartSet> sets =
      ReadParts(DirectoriesOf(options), wanted, options.ranks.ReduceBytes());
  ClearProgressLine();
  const auto of_advisor =
      std::ranges::find_if(sets, [&](const PartSet& set) { return set.recipe == &advisor; });
  const bool with_advisor = of_advisor != sets.end();
  if (with_advisor && sets.size() > 1 && (options.exports.json() || agent.IsWanted())) {
    Fail(ErrorKind::kUsage, "there are parts of recipes and of advisor; choose with -m");
  }
  int code = 0;
  if (with_advisor) {
    code = MergeAdvisor(std::move(*of_advisor), options.output, options.exports.json(), agent);
    sets.erase(of_advisor);
  }
  if (!sets.empty()) code = std::max(code, MergeRecipes(options, std::move(sets), agent));
  return code;
}

HelpPage MergePage() {
  HelpPage page;
  page.summary = "Makes one report of the parts that the shards of a job made.";
  page.usage = {"merge DIR... [-o DIR] [OPTIONS]", "merge --partial DIR... -o DIR"};
  page.after_options = {ExitCodeList({})};
  page.examples = {"-m hccl_sum ./result --shard 0/2 -o ./parts",
                   "-m hccl_sum ./result --shard 1/2 -o ./parts", "merge ./parts -o ./out"};
  page.notes = {
      "The report is the same that one run over all ranks makes.",
      "With --partial it makes no report, but one file of the parts, which a later merge reads"
      " in their place: a node packs its own, and the merge of 10,000 ranks opens a file a node."};
  page.documents = {"cluster.md"};
  return page;
}

}  // namespace

Command AddMerge(CLI::App& program, Agent& agent) {
  CLI::App* app =
      program.add_subcommand("merge", "Make one report of the parts of several machines");
  const auto options = std::make_shared<MergeOptions>();
  const OptionAdder add(*app);
  app->add_option("directories", options->directories)->expected(-1)->type_name("DIR")->group("");
  add("-m,--mode", options->recipe, "Recipes, or advisor [default: all that have parts]", "RECIPE",
      kMaxUsed);
  add("-o,--output_path", options->output,
      "Directory for the results [default: the first one with parts; of advisor the current one]",
      "DIR", kMaxUsed);
  add.Flag("--partial", options->partial,
           "Make no report, but pack the parts into one file in -o, which a later merge reads",
           kMaxUsed);
  options->exports.AddTo(*app, {ReportKind::kRecipe}, kRecipeType);
  for (const char* name : {"--export_type", "--json"}) app->get_option(name)->group(kMaxUsed);
  add.Flag("--print", options->print, "Print charts as bars, and more about a single rank",
           kMaxUsed);
  AddMemoryOption(*app, options->ranks.memory_limit)->group(kReading);
  AddReplayMemoryOption(add, options->ranks.memory);
  return {app, [options, &agent] { return RunMerge(*options, agent); }, MergePage};
}

}  // namespace mpa
