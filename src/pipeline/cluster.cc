// SPDX-License-Identifier: Apache-2.0
// A recipe over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "join_groups.h"
#include "load_rank.h"
#include "map_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"

namespace mpa {

MappedRanks MapRanks(const Recipe& recipe, const ClusterRequest& request) {
  return std::move(MapRanks({RecipeRun{&recipe, request.arguments}}, request).front());
}

std::vector<MappedRanks> MapRanks(const std::vector<RecipeRun>& runs,
                                  const ClusterRequest& request) {
  std::vector<MappedRanks> results;
  if (ReadApart(runs, request)) {
    for (const RecipeRun& run : runs)
      results.push_back(std::move(MapRanks({run}, request).front()));
    return results;
  }
  const FoundRanks found = FindRanksOf(runs, request);
  std::vector<std::vector<MappedRank>> mapped(
      runs.size(), std::vector<MappedRank>(found.ranks.size()));  // by run and rank
  MemoryBudget budget(request.memory_bytes);
  ParallelFor(found.ranks.size(), [&](std::size_t i) {
    const MemoryBudget::Share share(budget, found.ranks[i].input);
    std::vector<MappedRank> of_rank = MapRank(runs, request, found.ranks[i]);
    for (std::size_t run = 0; run < runs.size(); ++run) mapped[run][i] = std::move(of_rank[run]);
  });
  const RanksOfJob job = JobOf(found, request);
  for (std::vector<MappedRank>& of_run : mapped)
    results.push_back(Together(job, std::move(of_run)));
  return results;
}

namespace {

// A group in which the recipe finds nothing costs a note, unless no group is left.
void ReduceGroups(const Recipe& recipe, const RecipeArguments& arguments, OutputSelection wanted,
                  const MappedRanks& mapped, ClusterOutcome& outcome) {
  std::optional<Error> problem;
  std::size_t reduced = 0;
  for (std::size_t begin = 0, end = 0; begin < mapped.parts.size(); begin = end) {
    const std::string& group = mapped.groups[begin];
    while (end < mapped.parts.size() && mapped.groups[end] == group) ++end;
    const std::vector<RankPart> parts(mapped.parts.begin() + static_cast<std::ptrdiff_t>(begin),
                                      mapped.parts.begin() + static_cast<std::ptrdiff_t>(end));
    try {
      Report report;
      recipe.reduce(parts, arguments, wanted, report);
      JoinGroup(group, std::move(report), outcome.report);
      ++reduced;
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      outcome.report.notes.push_back(fmt::format("{}: {}; it is left out", group, error.what()));
      outcome.partial = true;
      problem = error;
    }
  }
  if (reduced == 0 && problem) throw *problem;
}

}  // namespace

ClusterOutcome ReduceRanks(const Recipe& recipe, const RecipeArguments& arguments,
                           OutputSelection wanted, MappedRanks mapped) {
  ClusterOutcome outcome;
  outcome.partial = mapped.partial;
  outcome.report.notes = std::move(mapped.notes);
  outcome.report.facts = std::move(mapped.facts);
  if (mapped.groups.size() == mapped.parts.size()) {
    ReduceGroups(recipe, arguments, wanted, mapped, outcome);
  } else {
    recipe.reduce(mapped.parts, arguments, wanted, outcome.report);
    outcome.partial = outcome.partial || outcome.report.partial;
  }
  return outcome;
}

}  // namespace mpa
