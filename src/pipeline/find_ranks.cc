// SPDX-License-Identifier: Apache-2.0
// The ranks of a job, each once.
#include "mpa/pipeline/find_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "capture_groups.h"
#include "load_rank.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

// Captures of `group` that are left out, in the words that fit how the groups were told apart.
std::string LeftOut(const std::filesystem::path& directory, ToldApart how,
                    const CaptureGroup& group, const CaptureGroup& kept) {
  std::vector<std::string> ranks;
  for (const FoundRank& found : group.ranks) ranks.push_back(RankName(found.rank));
  const std::string rank_text = ranks.size() == 1 ? Say("rank {}", fmt::join(ranks, ", "))
                                                  : Say("ranks {}", fmt::join(ranks, ", "));
  const auto shown = [&](const CaptureGroup& one) {
    if (how == ToldApart::kByDirectory)
      return (one.name == kHere ? directory : directory / one.name).string();
    if (how == ToldApart::kByName) return fmt::format("{}/{}", directory.string(), one.name);
    return one.ranks.front().input.path.string();
  };
  if (how == ToldApart::kByTime) {
    return Say(
        "the session of {} ({}) is left out: that of {} is analysed; give each a directory"
        " of its own",
        shown(group), rank_text, shown(kept));
  }
  return Say("{} with {} is left out: another job, engine or role than {}; {}", shown(group),
             rank_text, shown(kept),
             how == ToldApart::kByDirectory && group.name != kHere
                 ? Say("analyse it with -d {}", shown(group))
                 : Say("give each a directory of its own"));
}

// Several captures of one rank that are not known to be of different jobs: one note for each.
void NoteLatest(const CaptureGroup& left_out, const CaptureGroup& kept, FoundRanks& result) {
  for (const FoundRank& found : left_out.ranks) {
    const auto latest = std::ranges::find(kept.ranks, found.rank, &FoundRank::rank);
    result.notes.push_back(
        Say("rank {}: {} is left out, because {} is later; if they belong to different"
            " jobs, give each a directory of its own",
            RankName(found.rank), found.input.path.string(), latest->input.path.string()));
  }
}

void DropOtherJobs(std::vector<FoundRank>& ranks, FoundRanks& result) {
  for (const FoundRank& other : TakeOtherJobs(ranks)) {
    result.partial = true;
    result.notes.push_back(
        Say("{}: left out, its kind of device or size of the job (world_size) differs from"
            " that of the other captures; give one job at a time",
            other.input.path.string()));
  }
  for (const FoundRank& earlier : TakeEarlierJobs(ranks)) {
    result.partial = true;
    result.notes.push_back(
        Say("{}: left out, it was captured days before others and belongs to another job;"
            " give one job at a time",
            earlier.input.path.string()));
  }
}

// Ranks of different jobs are never analysed together: the group with most ranks counts, of several
// the last in time, or the first by name.
void KeepOneGroup(const std::filesystem::path& directory, CaptureGroups found, FoundRanks& result) {
  std::vector<CaptureGroup>& groups = found.groups;
  const bool is_last =
      found.told_apart == ToldApart::kByTime || found.told_apart == ToldApart::kNot;
  if (is_last) std::ranges::reverse(groups);
  auto kept = std::ranges::max_element(
      groups, [](const auto& a, const auto& b) { return a.ranks.size() < b.ranks.size(); });
  if (found.told_apart == ToldApart::kNot) kept = groups.begin();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group == kept) continue;
    result.partial = true;
    if (found.told_apart == ToldApart::kNot)
      NoteLatest(*group, *kept, result);
    else
      result.notes.push_back(LeftOut(directory, found.told_apart, *group, *kept));
  }
  DropOtherJobs(kept->ranks, result);
  result.ranks = std::move(kept->ranks);
}

void KeepAllGroups(CaptureGroups found, FoundRanks& result) {
  std::vector<std::string> names;
  for (CaptureGroup& group : found.groups) {
    names.push_back(group.name);
    DropOtherJobs(group.ranks, result);
    for (FoundRank& rank : group.ranks) {
      rank.group = group.name;
      result.ranks.push_back(std::move(rank));
    }
  }
  result.notes.push_back(
      Say("{} share ranks, so they are several jobs, engines or roles; each is analysed by"
          " itself",
          fmt::join(names, ", ")));
}

// They may be of several devices, hosts and times.
void KeepEveryCapture(CaptureGroups found, FoundRanks& result) {
  for (CaptureGroup& group : found.groups) {
    for (FoundRank& rank : group.ranks) result.ranks.push_back(std::move(rank));
  }
  StableSort(result.ranks, {}, &FoundRank::rank);
}

std::string RankText(const std::set<RankId>& ranks) {
  return RankList(ranks).Text(RankList::kMostRuns);
}

// "rank 7 not found; there are ranks 0-6"; empty if all wanted ranks are there, or nothing is.
std::string MissingRanks(const std::optional<std::set<RankId>>& wanted,
                         const std::set<RankId>& there) {
  if (!wanted || there.empty()) return "";
  std::set<RankId> missing;
  std::ranges::set_difference(*wanted, there, std::inserter(missing, missing.end()));
  if (missing.empty()) return "";
  const std::string absent = RankText(missing), present = RankText(there);
  return there.size() == 1 ? Say("{} not found; there is {}", absent, present)
                           : Say("{} not found; there are {}", absent, present);
}

// Makes servers the first of the captures. Where there is nothing else, the directory counts as a
// capture that cannot be read.
void TakeServers(const std::filesystem::path& directory, Discovery& found) {
  if (found.servers.empty()) {
    Fail(ErrorKind::kInput,
         "{}: no records of a server's requests (request.csv, batch.csv, profiler.db,"
         " ms_service_*.db) as msServiceProfiler writes them; see docs/serving.md",
         directory.string());
  }
  if (found.ranks.empty()) found.unusable.clear();
  std::ranges::move(found.ranks, std::back_inserter(found.servers));
  found.ranks = std::move(found.servers);
}

}  // namespace

FoundRanks FindRanks(const std::filesystem::path& directory,
                     const std::optional<std::set<RankId>>& wanted, const OpenOptions& options,
                     GroupsTaken taken) {
  FoundRanks result;
  Discovery discovery = Discover(directory, options);
  if (taken == GroupsTaken::kServers) TakeServers(directory, discovery);
  if (!wanted) result.all = discovery.ranks.size() + discovery.unusable.size();
  for (const Discovery::Unusable& unusable : discovery.unusable) {
    result.notes.push_back(Say("{}; it is left out", unusable.Text()));
    result.partial = true;
    const RankInput& input = unusable.rank;
    const auto number = input.info && input.info->rank ? input.info->rank : input.host_rank;
    if (number) result.absent.Add(*number, RankState::kDamaged);
  }
  NameRanks(discovery.ranks);
  std::vector<FoundRank> found;
  std::set<RankId> seen;
  for (RankInput& input : discovery.ranks) {
    if (input.info && !input.info->rank_problem.empty()) {
      result.notes.push_back(input.info->rank_problem);
    }
    if (!input.info_problem.empty()) {
      result.notes.push_back(Say("{}; the collection settings stay unknown", input.info_problem));
    }
    for (const std::string& note : {input.rank_conflict, input.rank_origin})
      if (!note.empty()) result.notes.push_back(note);
    const RankId rank = input.rank;
    if (input.impossible_rank) {
      result.notes.push_back(
          Say("{}: rank {} is out of range, the capture is called {}; correct the number in"
              " the name of profiler_info or the database",
              input.path.string(), *input.impossible_rank, RankName(rank)));
      result.partial = true;
    }
    seen.insert(rank);
    if (wanted && !wanted->contains(rank)) {
      result.absent.Add(rank, RankState::kLeftOut);
      continue;
    }
    found.push_back({rank, std::move(input)});
  }
  for (const RankId rank : wanted.value_or(std::set<RankId>())) {
    if (rank.IsLabel() && !seen.contains(rank)) {
      if (seen.size() == 1) {
        Fail(ErrorKind::kUsage,
             "--rank_list: invalid rank '{}'; give 'all' or a list such as 0,1,4-7; there is {}",
             RankName(rank), RankText(seen));
      }
      Fail(ErrorKind::kUsage,
           "--rank_list: invalid rank '{}'; give 'all' or a list such as 0,1,4-7; there are {}",
           RankName(rank), RankText(seen));
    }
  }
  if (const std::string missing = MissingRanks(wanted, seen); !missing.empty()) {
    if (found.empty()) Fail(ErrorKind::kInput, "{}: {}", directory.string(), missing);
    result.notes.push_back(fmt::format("{}: {}", directory.string(), missing));
    result.partial = true;
  }
  if (found.empty()) {
    if (discovery.ranks.empty() && discovery.unusable.size() == 1) {
      Fail(ErrorKind::kInput, "{}", discovery.unusable.front().Text());
    }
    Fail(ErrorKind::kInput, "{}: no readable capture; see why with 'msprof-analyze check {}'",
         directory.string(), directory.string());
  }
  CaptureGroups groups = SeparateCaptures(directory, std::move(found));
  const bool have_names =
      groups.told_apart == ToldApart::kByDirectory || groups.told_apart == ToldApart::kByName;
  if (taken == GroupsTaken::kJoined || taken == GroupsTaken::kServers)
    KeepEveryCapture(std::move(groups), result);
  else if (taken == GroupsTaken::kAll && have_names)
    KeepAllGroups(std::move(groups), result);
  else
    KeepOneGroup(directory, std::move(groups), result);
  std::vector<const RankInput*> inputs;
  for (const FoundRank& rank : result.ranks) inputs.push_back(&rank.input);
  NoteUnreadRecords(inputs, result.notes);
  return result;
}

}  // namespace mpa
