// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent.h"
#include "cluster_output.h"
#include "export_options.h"
#include "mpa/pipeline/cluster.h"

/// From the parts of the ranks to results.
namespace mpa {

/// Condenses the ranks that are here, for a run elsewhere that puts all together. Gives the exit
/// code.
int SaveParts(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
              const std::string& directory, const Agent& agent);

/// Adds the condensed ranks of the run to compare with.
void AddBaseline(const RecipeRun& run, ClusterRequest request,
                 const std::filesystem::path& directory, MappedRanks& mapped);

/// How the results of one command leave it.
struct Delivery {
  const ExportOptions& exports;
  const Agent& agent;
  std::vector<std::vector<ExportType>> types;  ///< of each run
  std::filesystem::path output;
  const EarlyDocuments& early;
  Detail screen{};
};

/// Reduces and writes recipe after recipe. One of several that fails costs its own results alone.
/// Gives the exit code.
int FinishAll(const std::vector<RecipeRun>& runs, std::vector<MappedRanks> mapped,
              const Delivery& delivery);

}  // namespace mpa
