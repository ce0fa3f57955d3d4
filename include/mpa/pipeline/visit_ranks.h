// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/model/rank_trace.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/pipeline/find_ranks.h"

namespace mpa {

/// What became of ranks that were visited.
struct VisitedRanks {
  std::vector<std::string> notes;
  bool partial = false;  ///< ranks or parts of them had to be left out
  std::size_t ranks = 0;
};

/// Reads the ranks of a job as MapRanks() does, so many at once as the memory allows, and shows
/// each to `visit`, which several threads call at once; `position`: the place of the rank among
/// them. A rank that cannot be read costs a note, and so does one that `visit` refuses with an
/// Error (kInput, kCorrupt). Of the request the step and the recipe's arguments have no effect.
/// Throws Error when no rank is left.
VisitedRanks VisitRanks(
    const ClusterRequest& request, Tables needs,
    const std::function<void(std::size_t position, RankId rank, RankTrace&)>& visit);

/// The same of ranks that were found. `visit` may take the trace away, and then keeps its memory,
/// which the limit of the request does not count.
VisitedRanks VisitRanks(
    const FoundRanks& found, const ClusterRequest& request, Tables needs,
    const std::function<void(std::size_t position, RankId rank, RankTrace&)>& visit);

}  // namespace mpa
