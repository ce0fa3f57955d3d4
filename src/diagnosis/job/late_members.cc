// SPDX-License-Identifier: Apache-2.0
#include "late_members.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/collectives/arrivals.h"
#include "mpa/collectives/instances.h"

namespace mpa {
namespace {

// Ranks differ by less without a cause.
LatenessLimits LimitsOf(const std::vector<StepPart>& steps, const Thresholds& thresholds) {
  TimeNs longest = 0;
  for (const StepPart& step : steps) longest = std::max(longest, step.end - step.begin);
  LatenessLimits limits;
  limits.least =
      std::max(Whole(thresholds[kUncapturedNs]), ShareOf(longest, thresholds[kUncapturedShare]));
  limits.least_operations = thresholds[kMinOperations];
  limits.systematic_share = thresholds[kSystematicShare];
  limits.least_of_habit =
      static_cast<TimeNs>(std::max<std::size_t>(1, steps.size())) * limits.least;
  return limits;
}

// By rank, the row of its runs by the row of the communications.
std::vector<std::map<std::int32_t, std::size_t>> RowsOfOperations(const JobCollectives& met) {
  std::vector<std::map<std::int32_t, std::size_t>> rows(met.size());
  for (RankIndex rank; rank < met.size(); ++rank) {
    const auto& runs = met[rank].get().runs.rows;
    for (std::size_t row = 0; row < runs.size(); ++row) rows[rank][runs[row].operation] = row;
  }
  return rows;
}

}  // namespace

void FindLateMembers(const JobArrivals& job, std::vector<JobOperation>& operations) {
  const auto row_of_operation = RowsOfOperations(job.met);
  CollectiveInstances instances;
  std::vector<JointOperation*> of_instances;
  for (JobOperation& operation : operations) {
    if (operation.is_apart) continue;
    CollectiveInstance instance;
    for (const auto& member : operation.joint.members) {
      const auto& own = job.ranks[member.rank].part->graph.collectives;
      const auto found = row_of_operation[member.rank].find(own[member.collective].row);
      if (found == row_of_operation[member.rank].end()) break;
      const RankRuns& runs = job.met[member.rank].get().runs;
      instance.group = runs.texts[runs.rows[found->second].group];
      instance.name = runs.texts[runs.rows[found->second].name];
      AddMember(runs, member.rank, found->second, instance);
    }
    if (instance.members.empty()) continue;
    instance.of_group = operation.members;
    of_instances.push_back(&operation.joint);
    instances.push_back(std::move(instance));
  }
  std::vector<UncapturedMembers> found =
      FindUncapturedMembers(job.met, instances, FindArrivals(job.met, instances, job.clocks),
                            job.clocks, LimitsOf(job.ranks.front().part->steps, job.thresholds));
  const auto all_captured = [&](const auto& ranks) {
    return !ranks.empty() &&
           std::ranges::all_of(ranks, [&](RankId rank) { return job.captured.contains(rank); });
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto are_captured = [&](const LateMembers& members) {
      return members.ranks.empty() ? all_captured(instances[i].of_group)
                                   : all_captured(members.ranks);
    };
    if (std::erase_if(found[i].late, are_captured) > 0 && found[i].late.empty()) continue;
    of_instances[i]->last = found[i].last;
    of_instances[i]->late = std::move(found[i].late);
  }
}

}  // namespace mpa
