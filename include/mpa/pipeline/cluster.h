// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/capture/capture.h"
#include "mpa/recipe/recipe.h"
#include "mpa/report/page.h"

namespace mpa {

/// A recipe to run on the ranks of a job, and how.
struct ClusterRequest {
  std::filesystem::path directory;        ///< with the captures of all ranks
  std::optional<std::set<RankId>> ranks;  ///< only these; empty: all
  std::optional<std::int32_t> step;       ///< of every rank
  OpenOptions open;
  std::int64_t memory_bytes = 0;  ///< that ranks in memory may take together; 0: no limit
  /// That what `reduce` works with may take, of recipes that can do with less; 0: no limit. The
  /// result depends on it.
  std::int64_t reduce_bytes = 0;
  RecipeArguments arguments;
  /// Also groups of captures that share ranks with others, each by itself; see GroupsTaken.
  bool each_group = false;
  /// Writes files of a rank as soon as they are made; empty: they stay in the parts. Is called by
  /// several threads at once.
  std::function<void(const Recipe&, const std::vector<TextDocument>&)> write_documents{};
};

/// What a recipe made of the ranks that could be read, in order of rank.
struct MappedRanks {
  std::vector<RankPart> parts;
  std::vector<std::string> notes;
  bool partial = false;  ///< ranks or parts of them had to be left out
  /// Of each part, the group of captures that it is of; empty: all are of one.
  std::vector<std::string> groups{};
  std::vector<PageFact> facts{};  ///< what was analysed
  AbsentRanks absent{};           ///< ranks of the job that have no part
};

/// Finds the ranks, reads them in parallel as far as the memory allows, and lets the recipe
/// condense each. A rank that cannot be read costs a note. Throws Error when no rank can be used.
MappedRanks MapRanks(const Recipe& recipe, const ClusterRequest& request);

/// A recipe with its own options.
struct RecipeRun {
  const Recipe* recipe = nullptr;
  RecipeArguments arguments;
};

/// The same for several recipes, in their order; `request.arguments` has no effect. Each rank is
/// read once for all of them. Of a single step it is read for each: which work belongs to a step is
/// told by the tables that a recipe needs.
std::vector<MappedRanks> MapRanks(const std::vector<RecipeRun>& runs,
                                  const ClusterRequest& request);

struct ClusterOutcome {
  Report report;
  bool partial = false;  ///< ranks or parts of them had to be left out
};

/// Puts the parts together, those of each group by themselves. The notes of the ranks come first in
/// the report.
ClusterOutcome ReduceRanks(const Recipe& recipe, const RecipeArguments& arguments,
                           OutputSelection wanted, MappedRanks mapped);

}  // namespace mpa
