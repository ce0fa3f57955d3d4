// SPDX-License-Identifier: Apache-2.0
// A recipe over all ranks of a job.
#include "mpa/pipeline/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "join_groups.h"
#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/io/input_text.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/find_ranks.h"
#include "mpa/recipe/part_bytes.h"
#include "page_facts.h"

namespace mpa {
namespace {

struct MappedRank {
  std::shared_ptr<const void> part;
  std::vector<std::string> notes;
  bool partial = false, failed = false;
  AnalysedCaptures captures{};
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
  std::error_code ignored;
  loaded.trace.capture_group =
      WayTo(std::filesystem::canonical(request.directory, ignored), input).string();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Recipe& recipe = *runs[i].recipe;
    RecipeArguments arguments = runs[i].arguments;
    if (request.step && cuts_steps) arguments["step_id"] = std::to_string(*request.step);
    try {
      RequireTimeline(loaded.trace, recipe.needs, input);
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
      mapped[i].captures.Add(loaded.trace);
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
  const auto joins = [](const RecipeRun& run) { return run.recipe->joins_groups; };
  const bool joined = std::ranges::any_of(runs, joins);
  if (runs.size() > 1 && (request.step || (joined && !std::ranges::all_of(runs, joins)))) {
    for (const RecipeRun& run : runs)
      results.push_back(std::move(MapRanks({run}, request).front()));
    return results;
  }
  const bool writes_early =
      request.write_documents && std::ranges::any_of(runs, [](const RecipeRun& run) {
        return run.recipe->take_documents != nullptr;  // for files that are named by the rank
      });
  const FoundRanks found = FindRanks(request.directory, request.ranks, request.open,
                                     joined                                ? GroupsTaken::kJoined
                                     : request.each_group && !writes_early ? GroupsTaken::kAll
                                                                           : GroupsTaken::kOne);
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
    AnalysedCaptures captures;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      MappedRank& rank = mapped[i][run];
      result.notes.insert(result.notes.end(), rank.notes.begin(), rank.notes.end());
      result.partial = result.partial || rank.partial || rank.failed;
      if (rank.failed) continue;
      captures.Add(rank.captures);
      result.parts.push_back({ranks[i].rank, std::move(rank.part)});
      if (!ranks[i].group.empty()) result.groups.push_back(ranks[i].group);
    }
    if (result.parts.empty()) {
      Fail(ErrorKind::kInput, "no rank could be read: {}; see 'msprof-analyze check {}'",
           result.notes.back(), request.directory.string());
    }
    result.facts = captures.Facts(request.directory.string());
    if (result.parts.size() >= found.all) continue;
    const bool traces = std::ranges::all_of(
        ranks, [](const FoundRank& one) { return one.input.FindKineto() != nullptr; });
    result.notes.push_back(fmt::format("{} of {} {} analysed", result.parts.size(), found.all,
                                       traces ? "traces" : "captures"));
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
  std::ranges::stable_sort(mapped.parts,
                           [](const RankPart& a, const RankPart& b) { return a.rank < b.rank; });
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
