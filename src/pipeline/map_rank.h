// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "job_members.h"
#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/pipeline/find_ranks.h"
#include "page_facts.h"

namespace mpa {

/// What a recipe makes of a rank.
struct MappedRank {
  std::shared_ptr<const void> part;
  std::vector<std::string> notes;
  bool partial = false, failed = false;  ///< `failed`: there is no part
  bool lacks_part = false;               ///< of those that failed: its shard has not run
  AnalysedCaptures captures{};
  JobMember member{};
};

/// What the recipes make of a rank; one that fails costs its own part alone.
std::vector<MappedRank> MapRank(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
                                const FoundRank& found);

/// True where the recipes cannot share what was read of a rank.
bool ReadApart(const std::vector<RecipeRun>& runs, const ClusterRequest& request);
/// The ranks of the request; of captures that share ranks those that the recipes can use.
FoundRanks FindRanksOf(const std::vector<RecipeRun>& runs, const ClusterRequest& request);

/// What is known of the ranks of a job beside what recipes make of them.
struct RanksOfJob {
  std::string directory;           ///< as it was given
  std::vector<std::string> notes;  ///< of all ranks together
  bool partial = false;
  std::size_t all = 0;  ///< captures that are there; 0: ranks were asked for
  bool traces = false;  ///< they are traces of torch.profiler
  bool text = false;    ///< they are text captures
  std::vector<RankId> ranks;
  std::vector<std::string> groups;  ///< of each; empty: none
  AbsentRanks absent;               ///< beside those whose part is missing or failed
  bool roles = false;               ///< several captures of a rank are of one job
};
RanksOfJob JobOf(const std::vector<RecipeRun>& runs, const FoundRanks& found,
                 const ClusterRequest& request);

/// Puts the ranks of a job together, but those that are of another one; `mapped` has their order.
/// Throws Error (kInput) if all failed.
MappedRanks Together(const RanksOfJob& job, std::vector<MappedRank> mapped);

}  // namespace mpa
