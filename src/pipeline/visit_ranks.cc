// SPDX-License-Identifier: Apache-2.0
// Ranks that are looked at one by one, for what is too large to be kept of each.
#include "mpa/pipeline/visit_ranks.h"

#include <fmt/format.h>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/rank.h"

namespace mpa {

VisitedRanks VisitRanks(
    const ClusterRequest& request, Tables needs,
    const std::function<void(std::size_t position, RankId rank, RankTrace&)>& visit) {
  return VisitRanks(FindRanks(request.directory, request.ranks, request.open), request, needs,
                    visit);
}

VisitedRanks VisitRanks(
    const FoundRanks& found, const ClusterRequest& request, Tables needs,
    const std::function<void(std::size_t position, RankId rank, RankTrace&)>& visit) {
  struct Visit {
    std::vector<std::string> notes;
    bool partial = false, failed = false;
  };
  std::vector<Visit> visits(found.ranks.size());
  MemoryBudget budget(request.memory_bytes);
  ParallelFor(found.ranks.size(), [&](std::size_t i) {
    const RankInput& input = found.ranks[i].input;
    const MemoryBudget::Share share(budget, input);
    Visit& of_rank = visits[i];
    try {
      LoadedRank loaded = LoadRank(input, {needs, ""}, std::nullopt);
      RequireTimeline(loaded.trace, needs, input);
      InContext(input.path.string(), [&] { visit(i, found.ranks[i].rank, loaded.trace); });
      of_rank.notes = loaded.notes;
      of_rank.partial = loaded.partial;
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      of_rank.notes.push_back(Say("{}; the rank is left out", error.what()));
      of_rank.partial = of_rank.failed = true;
    }
  });
  VisitedRanks visited;
  visited.notes = found.notes;
  visited.partial = found.partial;
  for (const Visit& one : visits) {
    visited.notes.insert(visited.notes.end(), one.notes.begin(), one.notes.end());
    visited.partial = visited.partial || one.partial;
    if (!one.failed) ++visited.ranks;
  }
  if (visited.ranks == 0) {
    Fail(ErrorKind::kInput, "no rank could be read: {}; see 'msprof-analyze check {}'",
         visited.notes.back(), request.directory.string());
  }
  return visited;
}

}  // namespace mpa
