// SPDX-License-Identifier: Apache-2.0
#include "late_members.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "mpa/base/by_number.h"
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
std::vector<ByNumber<std::optional<std::size_t>>> RowsOfOperations(const JobCollectives& met) {
  std::vector<ByNumber<std::optional<std::size_t>>> rows;
  for (const RankCollectives& rank : met) {
    std::vector<std::int64_t> operations;
    for (const RankRuns::Row& row : rank.runs.rows) operations.push_back(row.operation);
    auto& of_rank = rows.emplace_back(std::move(operations));
    for (std::size_t row = 0; row < rank.runs.rows.size(); ++row)
      *of_rank.Find(rank.runs.rows[row].operation) = row;
  }
  return rows;
}

}  // namespace

void FindLateMembers(const JobArrivals& job, std::vector<JobOperation>& operations) {
  const auto row_of_operation = RowsOfOperations(job.met);
  const ArrivalFinder arrivals(job.met, job.clocks);
  UncapturedFinder finder(job.met, job.clocks,
                          LimitsOf(job.ranks.front().part->steps, job.thresholds));
  std::vector<JobOperation*> of_instances;
  for (JobOperation& operation : operations) {
    if (operation.is_apart) continue;
    CollectiveInstance instance;
    for (const auto& member : operation.joint.members) {
      const auto& own = job.ranks[member.rank].part->graph.collectives;
      const auto* row = row_of_operation[member.rank].Find(own[member.collective].row);
      if (row == nullptr || !*row) break;
      instance.members.push_back({member.rank, **row});
    }
    if (instance.members.empty()) continue;
    const CollectiveInstance::Member& last = instance.members.back();
    NameAfter(job.met[last.rank].get().runs, last.row, instance);
    instance.of_group = operation.members;
    of_instances.push_back(&operation);
    finder.Add(instance, arrivals.Of(instance));
  }
  std::vector<UncapturedMembers> found = std::move(finder).Found();
  const auto all_captured = [&](const auto& ranks) {
    return !ranks.empty() &&
           std::ranges::all_of(ranks, [&](RankId rank) { return job.captured.contains(rank); });
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto are_captured = [&](const LateMembers& members) {
      return members.ranks.empty() ? all_captured(of_instances[i]->members)
                                   : all_captured(members.ranks);
    };
    if (std::erase_if(found[i].late, are_captured) > 0 && found[i].late.empty()) continue;
    of_instances[i]->joint.last = found[i].last;
    of_instances[i]->joint.late = std::move(found[i].late);
  }
}

}  // namespace mpa
