// SPDX-License-Identifier: Apache-2.0
// A recipe over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "find_ranks.h"
#include "load_rank.h"
#include "memory_budget.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"

namespace mpa {
namespace {

struct MappedRank {
  std::shared_ptr<const void> part;
  std::vector<std::string> notes;
  bool partial = false, failed = false;
};

// "rank0_ascend_pt", also where its directory of outputs was given.
std::string CaptureName(const std::filesystem::path& path) {
  const bool is_inner = path.filename() == "ASCEND_PROFILER_OUTPUT";
  return (is_inner ? path.parent_path() : path).filename().string();
}

MappedRank MapRank(const Recipe& recipe, const ClusterRequest& request, const FoundRank& found) {
  const RankInput& input = found.input;
  MappedRank mapped;
  try {
    Tables wanted = recipe.needs;
    if (request.step) wanted = wanted | Tables::kSteps;
    RecipeArguments arguments = request.arguments;
    if (request.step && recipe.cuts_steps) arguments["step_id"] = std::to_string(*request.step);
    LoadedRank loaded =
        LoadRank(input, {wanted, ""}, recipe.cuts_steps ? std::nullopt : request.step);
    loaded.trace.capture = CaptureName(input.path);
    loaded.trace.capture_path = input.path.string();
    loaded.trace.rank = found.rank;
    mapped.part =
        InContext(input.path.string(), [&] { return recipe.map(loaded.trace, arguments); });
    mapped.notes = std::move(loaded.notes);
    mapped.partial = loaded.partial;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kResource || error.kind() == ErrorKind::kUsage) throw;
    mapped.notes.push_back(fmt::format("{}; the rank is left out", error.what()));
    mapped.failed = true;
  }
  return mapped;
}

}  // namespace

MappedRanks MapRanks(const Recipe& recipe, const ClusterRequest& request) {
  MappedRanks result;
  FoundRanks found = FindRanks(request.directory, request.ranks, request.open);
  result.partial = found.partial;
  result.notes = std::move(found.notes);
  const std::vector<FoundRank>& ranks = found.ranks;
  std::vector<MappedRank> mapped(ranks.size());
  MemoryBudget budget(request.memory_bytes);
  ParallelFor(ranks.size(), [&](std::size_t i) {
    const MemoryBudget::Share share(budget, ranks[i].input);
    mapped[i] = MapRank(recipe, request, ranks[i]);
  });
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    result.notes.insert(result.notes.end(), mapped[i].notes.begin(), mapped[i].notes.end());
    result.partial = result.partial || mapped[i].partial || mapped[i].failed;
    if (!mapped[i].failed) result.parts.push_back({ranks[i].rank, std::move(mapped[i].part)});
  }
  if (result.parts.empty()) {
    Fail(ErrorKind::kInput, "no rank could be read: {}; see 'msprof-analyze check {}'",
         result.notes.back(), request.directory.string());
  }
  return result;
}

ClusterOutcome ReduceRanks(const Recipe& recipe, const RecipeArguments& arguments, Wanted wanted,
                           MappedRanks mapped) {
  ClusterOutcome outcome;
  outcome.partial = mapped.partial;
  outcome.report.notes = std::move(mapped.notes);
  recipe.reduce(mapped.parts, arguments, wanted, outcome.report);
  return outcome;
}

}  // namespace mpa
