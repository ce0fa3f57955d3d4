// SPDX-License-Identifier: Apache-2.0
// A recipe over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "join_groups.h"
#include "load_rank.h"
#include "memory_budget.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/pipeline/find_ranks.h"

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

// What the recipes make of a rank; one that fails costs its own part alone.
std::vector<MappedRank> MapRank(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
                                const FoundRank& found) {
  const RankInput& input = found.input;
  std::vector<MappedRank> mapped(runs.size());
  const auto fail = [](const Error& error, MappedRank& rank) {
    if (!IsBadInput(error)) throw;
    rank.notes.push_back(fmt::format("{}; the rank is left out", error.what()));
    rank.failed = true;
  };
  Tables wanted = request.step ? Tables::kSteps : Tables::kNone;
  bool cuts_steps = false;  // of several runs none has a step
  for (const RecipeRun& run : runs) {
    wanted = wanted | run.recipe->needs;
    cuts_steps = cuts_steps || run.recipe->cuts_steps;
  }
  LoadedRank loaded;
  try {
    loaded = LoadRank(input, {wanted, ""}, cuts_steps ? std::nullopt : request.step);
  } catch (const Error& error) {
    for (MappedRank& rank : mapped) fail(error, rank);
    return mapped;
  }
  loaded.trace.capture = CaptureName(input.path);
  loaded.trace.capture_path = input.path.string();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Recipe& recipe = *runs[i].recipe;
    RecipeArguments arguments = runs[i].arguments;
    if (request.step && cuts_steps) arguments["step_id"] = std::to_string(*request.step);
    try {
      mapped[i].part =
          InContext(input.path.string(), [&] { return recipe.map(loaded.trace, arguments); });
      if (request.write_documents && recipe.take_documents != nullptr) {
        RankPart part{found.rank, std::move(mapped[i].part)};
        const std::vector<TextDocument> documents = recipe.take_documents(part);
        mapped[i].part = std::move(part.part);
        request.write_documents(recipe, documents);
      }
      mapped[i].notes = loaded.notes;
      mapped[i].partial = loaded.partial;
    } catch (const Error& error) {
      fail(error, mapped[i]);
    }
  }
  return mapped;
}

}  // namespace

MappedRanks MapRanks(const Recipe& recipe, const ClusterRequest& request) {
  return std::move(MapRanks({RecipeRun{&recipe, request.arguments}}, request).front());
}

std::vector<MappedRanks> MapRanks(const std::vector<RecipeRun>& runs,
                                  const ClusterRequest& request) {
  std::vector<MappedRanks> results;
  if (request.step && runs.size() > 1) {
    for (const RecipeRun& run : runs)
      results.push_back(std::move(MapRanks({run}, request).front()));
    return results;
  }
  const bool writes_early =
      request.write_documents && std::any_of(runs.begin(), runs.end(), [](const RecipeRun& run) {
        return run.recipe->take_documents != nullptr;  // for files that are named by the rank
      });
  const FoundRanks found =
      FindRanks(request.directory, request.ranks, request.open,
                request.each_group && !writes_early ? GroupsTaken::kAll : GroupsTaken::kOne);
  const std::vector<FoundRank>& ranks = found.ranks;
  std::vector<std::vector<MappedRank>> mapped(ranks.size());
  MemoryBudget budget(request.memory_bytes);
  ParallelFor(ranks.size(), [&](std::size_t i) {
    const MemoryBudget::Share share(budget, ranks[i].input);
    mapped[i] = MapRank(runs, request, ranks[i]);
  });
  for (std::size_t run = 0; run < runs.size(); ++run) {
    MappedRanks& result = results.emplace_back();
    result.partial = found.partial;
    result.notes = found.notes;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      MappedRank& rank = mapped[i][run];
      result.notes.insert(result.notes.end(), rank.notes.begin(), rank.notes.end());
      result.partial = result.partial || rank.partial || rank.failed;
      if (rank.failed) continue;
      result.parts.push_back({ranks[i].rank, std::move(rank.part)});
      if (!ranks[i].group.empty()) result.groups.push_back(ranks[i].group);
    }
    if (result.parts.empty()) {
      Fail(ErrorKind::kInput, "no rank could be read: {}; see 'msprof-analyze check {}'",
           result.notes.back(), request.directory.string());
    }
  }
  return results;
}

namespace {

// A group in which the recipe finds nothing costs a note, unless no group is left.
void ReduceGroups(const Recipe& recipe, const RecipeArguments& arguments, Wanted wanted,
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

ClusterOutcome ReduceRanks(const Recipe& recipe, const RecipeArguments& arguments, Wanted wanted,
                           MappedRanks mapped) {
  ClusterOutcome outcome;
  outcome.partial = mapped.partial;
  outcome.report.notes = std::move(mapped.notes);
  if (mapped.groups.size() == mapped.parts.size()) {
    ReduceGroups(recipe, arguments, wanted, mapped, outcome);
  } else {
    recipe.reduce(mapped.parts, arguments, wanted, outcome.report);
  }
  return outcome;
}

}  // namespace mpa
