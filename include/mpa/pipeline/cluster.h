// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// A recipe to run on the ranks of a job, and how.
struct ClusterRequest {
  std::filesystem::path directory;              ///< with the captures of all ranks
  std::optional<std::set<std::int64_t>> ranks;  ///< only these; empty: all
  std::optional<std::int32_t> step;             ///< of every rank
  OpenOptions open;
  std::int64_t memory_bytes = 0;  ///< that ranks in memory may take together; 0: no limit
  RecipeArguments arguments;
};

struct ClusterOutcome {
  RecipeResult result;
  bool partial = false;  ///< ranks or parts of them had to be left out
};

/// Finds the ranks, reads them beside each other as far as the memory allows, and runs the recipe.
/// A rank that cannot be read costs a note. Throws Error when no rank can be used.
ClusterOutcome RunRecipe(const Recipe& recipe, const ClusterRequest& request);

}  // namespace mpa
