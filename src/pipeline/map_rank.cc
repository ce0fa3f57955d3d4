// SPDX-License-Identifier: Apache-2.0
// What recipes make of the ranks of a job, one by one.
#include "map_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"

namespace mpa {
namespace {

// "rank0_ascend_pt", also where its directory of outputs was given.
std::string CaptureName(const std::filesystem::path& path) {
  const bool is_inner = path.filename() == "ASCEND_PROFILER_OUTPUT";
  return (is_inner ? path.parent_path() : path).filename().string();
}

}  // namespace

std::vector<MappedRank> MapRank(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
                                const FoundRank& found) {
  const RankInput& input = found.input;
  std::vector<MappedRank> mapped(runs.size());
  const auto fail = [](const Error& error, MappedRank& rank) {
    if (!IsBadInput(error)) throw;
    rank.notes.push_back(Say("{}; the rank is left out", error.what()));
    rank.failed = true;
  };
  Tables wanted = Tables::kJobInfo;  // whether it is of the same job as the others
  bool cuts_steps = false;           // of several runs none has a step
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
  std::error_code ignored;
  loaded.trace.capture_group =
      WayTo(std::filesystem::canonical(request.directory, ignored), input).string();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Recipe& recipe = *runs[i].recipe;
    RecipeArguments arguments = runs[i].arguments;
    if (request.step && cuts_steps) arguments.step = request.step;
    try {
      RequireRecords(input, recipe.needs);
      RequireTimeline(loaded.trace, recipe, input);
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
      mapped[i].member = MemberOf(input, loaded.trace);
    } catch (const Error& error) {
      fail(error, mapped[i]);
    }
  }
  return mapped;
}

bool ReadApart(const std::vector<RecipeRun>& runs, const ClusterRequest& request) {
  const auto joins = [](const RecipeRun& run) { return run.recipe->joins_groups; };
  const auto of_servers = [](const RecipeRun& run) { return run.recipe->of_servers; };
  const auto some = [&](const auto& have) {
    return std::ranges::any_of(runs, have) && !std::ranges::all_of(runs, have);
  };
  return runs.size() > 1 && (request.step || some(joins) || some(of_servers));
}

FoundRanks FindRanksOf(const std::vector<RecipeRun>& runs, const ClusterRequest& request) {
  const bool joined =
      std::ranges::any_of(runs, [](const RecipeRun& run) { return run.recipe->joins_groups; });
  const bool writes_early =
      request.write_documents && std::ranges::any_of(runs, [](const RecipeRun& run) {
        return run.recipe->take_documents != nullptr;  // for files that are named by the rank
      });
  const bool of_servers =
      std::ranges::any_of(runs, [](const RecipeRun& run) { return run.recipe->of_servers; });
  return FindRanks(request.directory, request.ranks, request.open,
                   of_servers                            ? GroupsTaken::kServers
                   : joined                              ? GroupsTaken::kJoined
                   : request.each_group && !writes_early ? GroupsTaken::kAll
                                                         : GroupsTaken::kOne);
}

RanksOfJob JobOf(const std::vector<RecipeRun>& runs, const FoundRanks& found,
                 const ClusterRequest& request) {
  RanksOfJob job{
      request.directory.string(),
      found.notes,
      found.partial,
      found.all,
      true,
      true,
      {},
      {},
      found.absent,
      std::ranges::any_of(runs, [](const RecipeRun& run) { return run.recipe->joins_groups; })};
  for (const FoundRank& rank : found.ranks) {
    job.traces = job.traces && rank.input.FindKineto() != nullptr;
    job.text = job.text && rank.input.kind == CaptureKind::kNpuText;
    job.ranks.push_back(rank.rank);
    job.groups.push_back(rank.group);
  }
  return job;
}

namespace {

// Leaves out the captures of other jobs. Captures that share ranks are of other jobs, engines or
// roles anyway.
void LeaveOtherJobs(const RanksOfJob& job, std::vector<MappedRank>& mapped) {
  if (job.roles) return;
  std::map<std::string_view, std::vector<std::size_t>> of_groups;
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    if (!mapped[i].failed) of_groups[job.groups[i]].push_back(i);
  }
  for (const auto& [group, positions] : of_groups) {
    std::vector<RankId> ranks;
    std::vector<const JobMember*> members;
    for (const std::size_t i : positions) {
      ranks.push_back(job.ranks[i]);
      members.push_back(&mapped[i].member);
    }
    OtherJobs others = FindOtherJobs(ranks, members);
    for (const std::size_t other : others.positions) {
      MappedRank& rank = mapped[positions[other]];
      rank.failed = true;
      rank.notes.clear();
      rank.part.reset();
    }
    if (!others.note.empty()) mapped[positions[others.positions.front()]].notes = {others.note};
  }
}

// What the groups of the job say of ranks that are not there. Those of captures without a number
// may be there.
void AddNotCaptured(const RanksOfJob& job, const std::vector<MappedRank>& mapped,
                    AbsentRanks& absent) {
  const bool is_one_job =
      std::ranges::all_of(job.groups, [](const std::string& group) { return group.empty(); });
  if (!is_one_job || !std::ranges::all_of(job.ranks, &RankId::IsNumber)) return;
  const std::set<RankId> captured(job.ranks.begin(), job.ranks.end());
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;  // equal lists of members
  for (const MappedRank& rank : mapped) {
    for (const KnownGroup& group : rank.member.groups) {
      for (const StridedRanks& run : group.ranks.Runs()) {
        if (!run.HoldsNumbers() || !seen.emplace(run.first, run.count, run.step).second) continue;
        for (std::int64_t i = 0; i < run.count; ++i) {
          const RankId member = run.At(i);
          if (!captured.contains(member)) absent.Add(member, RankState::kNotCaptured);
        }
      }
    }
  }
}

}  // namespace

MappedRanks Together(const RanksOfJob& job, std::vector<MappedRank> mapped) {
  MappedRanks result;
  result.absent = job.absent;
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    if (!mapped[i].failed) continue;
    result.absent.Add(job.ranks[i],
                      mapped[i].lacks_part ? RankState::kPartMissing : RankState::kDamaged);
  }
  LeaveOtherJobs(job, mapped);
  AddNotCaptured(job, mapped, result.absent);
  result.partial = job.partial;
  result.notes = job.notes;
  AnalysedCaptures captures;
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    MappedRank& rank = mapped[i];
    result.notes.insert(result.notes.end(), rank.notes.begin(), rank.notes.end());
    result.partial = result.partial || rank.partial || rank.failed;
    if (rank.failed) continue;
    captures.Add(rank.captures);
    result.parts.push_back({job.ranks[i], std::move(rank.part)});
    if (!job.groups[i].empty()) result.groups.push_back(job.groups[i]);
  }
  if (result.parts.empty()) {
    Fail(ErrorKind::kInput, "no rank could be read: {}; see 'msprof-analyze check {}'",
         result.notes.back(), job.directory);
  }
  result.facts = captures.Facts(job.directory);
  AddAbsent(result.absent, result.facts);
  if (result.parts.size() < job.all) {
    result.notes.push_back(job.traces
                               ? Say("{} of {} traces analysed", result.parts.size(), job.all)
                               : Say("{} of {} captures analysed", result.parts.size(), job.all));
  }
  return result;
}

}  // namespace mpa
