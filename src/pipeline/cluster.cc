// SPDX-License-Identifier: Apache-2.0
// A recipe over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <map>
#include <system_error>
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
  outcome.report.facts = std::move(mapped.facts);
  if (mapped.groups.size() == mapped.parts.size()) {
    ReduceGroups(recipe, arguments, wanted, mapped, outcome);
  } else {
    recipe.reduce(mapped.parts, arguments, wanted, outcome.report);
    outcome.partial = outcome.partial || outcome.report.partial;
  }
  return outcome;
}

// Parts of recipes that travel from one machine to another.

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".part";

// What a file holds. The mark and the version come first, so that files of any other program and
// version are recognised before the rest is looked at.
struct PartFile {
  std::string mark = "msprof-analyze part";
  std::string version = MPA_VERSION;
  std::string recipe;
  RecipeArguments arguments;
  std::int64_t rank = -1;
  bool partial = false;            // of the ranks that were read together
  std::vector<std::string> notes;  // likewise, in the first file alone
  std::string part;
};

template <class Archive>
void serialize(Archive& archive, PartFile& file) {
  archive(file.mark, file.version);
  if (file.mark != PartFile().mark) Fail(ErrorKind::kCorrupt, "not a part of a recipe");
  if (file.version != MPA_VERSION) {
    Fail(ErrorKind::kCorrupt, "made by version {}, this is {}; make it again", file.version,
         MPA_VERSION);
  }
  archive(file.recipe, file.arguments, file.rank, file.partial, file.notes, file.part);
}

std::vector<fs::path> PartPaths(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == kEnding) paths.push_back(entry.path());
  }
  if (error) {
    Fail(error == std::errc::not_enough_memory ? ErrorKind::kResource : ErrorKind::kInput, "{}: {}",
         directory.string(), error.message());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

std::vector<fs::path> WriteParts(const Recipe& recipe, const RecipeArguments& arguments,
                                 const MappedRanks& mapped, const fs::path& directory) {
  io::PrepareOutputDirectory(directory);
  std::vector<fs::path> paths;
  std::vector<std::string> notes = mapped.notes;
  std::map<std::int64_t, int> parts_of;
  for (std::size_t i = 0; i < mapped.parts.size(); ++i) {
    const RankPart& part = mapped.parts[i];
    PartFile file;
    file.recipe = recipe.name;
    file.arguments = arguments;
    file.rank = part.rank;
    file.partial = mapped.partial;
    file.notes = std::exchange(notes, {});
    file.part = recipe.encode(part);
    // Ranks that are unknown are numbered, or one would replace the other; so are roles of a rank.
    std::string name = part.rank >= 0 ? fmt::format("{}.rank{}", recipe.name, part.rank)
                                      : fmt::format("{}.unknown_rank{}", recipe.name, i);
    if (const int number = ++parts_of[part.rank]; part.rank >= 0 && number > 1)
      name += fmt::format("_{}", number);
    paths.push_back(directory / (name + std::string(kEnding)));
    io::ReplaceText(paths.back(), ToBytes(file));
  }
  return paths;
}

MappedRanks ReadParts(const Recipe& recipe, const RecipeArguments& arguments,
                      const fs::path& directory) {
  MappedRanks mapped;
  for (const fs::path& path : PartPaths(directory)) {
    try {
      const io::InputText bytes(path, io::Content::kAsIs);
      const PartFile file = FromBytes<PartFile>(bytes.text());
      if (file.recipe != recipe.name) continue;
      if (file.arguments != arguments) {
        Fail(ErrorKind::kInput, "{}: made with other options of the recipe; give the same ones",
             path.string());
      }
      mapped.parts.push_back({file.rank, recipe.decode(file.part)});
      mapped.partial = mapped.partial || file.partial;
      mapped.notes.insert(mapped.notes.end(), file.notes.begin(), file.notes.end());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      mapped.notes.push_back(
          fmt::format("{}: {}; the rank is left out", path.string(), error.what()));
      mapped.partial = true;
    }
  }
  if (mapped.parts.empty()) {
    Fail(ErrorKind::kInput, "{}: no parts of {}{}", directory.string(), recipe.name,
         mapped.notes.empty() ? "; --save_parts makes them" : ": " + mapped.notes.front());
  }
  std::ranges::stable_sort(mapped.parts, {}, &RankPart::rank);
  const auto twice = std::adjacent_find(
      mapped.parts.begin(), mapped.parts.end(),
      [](const RankPart& a, const RankPart& b) { return a.rank >= 0 && a.rank == b.rank; });
  if (twice != mapped.parts.end() && !recipe.joins_groups) {
    Fail(ErrorKind::kInput, "{}: two parts of rank {}; remove one", directory.string(),
         twice->rank);
  }
  return mapped;
}

}  // namespace mpa
