// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent.h"
#include "cluster_output.h"
#include "export_options.h"
#include "mpa/pipeline/cluster.h"

/// What the options of recipes ask for.
namespace mpa {

/// The recipe of that name, or the one that runs without -m. Throws Error (kUsage).
const Recipe& FindRecipe(const std::string& name);

/// The argument for what to compare with, which each recipe that compares calls otherwise.
inline constexpr std::string_view kBenchmark = "benchmark_profiling_path";

/// What was written for options of recipes, by their names; for a switch nothing.
using GivenOptions = std::map<std::string, std::string, std::less<>>;

/// "-m a,b": each recipe with the options that it has. Throws Error (kUsage) for an unknown recipe,
/// an option that none of them has, a wrong value, and a missing one.
std::vector<RecipeRun> RunsOf(const std::string& names, GivenOptions given);

/// Throws Error (kInput) for a path that does not exist, and for an archive; `option` names where
/// it comes from.
void CheckCaptures(const char* option, const std::filesystem::path& path);

/// The directory, or that of the file.
std::filesystem::path PlaceBeside(const std::filesystem::path& captures);

/// Where the run to compare with lies; empty: the recipe compares with none. Checked likewise.
std::filesystem::path BaselineOf(const RecipeRun& run);

// From the parts of the ranks to results.

/// How the results of one command leave it.
struct Delivery {
  const ExportOptions& exports;
  Agent& agent;
  std::vector<std::vector<ExportType>> types;  ///< of each run
  std::filesystem::path below;                 ///< of the results' directory
  bool is_given = false;                       ///< by -o
  bool print = false;                          ///< more of single ranks
};

/// Says what is wrong with the options before a rank is read. Throws Error (kUsage).
void CheckForms(const ExportOptions& exports, Agent& agent, std::size_t runs);

/// Gets the condensed ranks of each run; files of single ranks may be written already.
using MapRuns = std::function<std::vector<MappedRanks>(EarlyDocuments& early)>;

/// Prepares the directories, then reduces and writes recipe after recipe. One of several that fails
/// costs its own results alone. `request` says how to read the ranks of a run to compare with.
/// Gives the exit code. Where nothing can be written beside the captures, and -o was not given,
/// throws Error (kOutput) behind the answer; `delivery` has no types then.
int RunRecipes(const std::vector<RecipeRun>& runs, Delivery& delivery,
               const ClusterRequest& request, const MapRuns& map);

}  // namespace mpa
