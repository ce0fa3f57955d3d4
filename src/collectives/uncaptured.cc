// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/uncaptured.h"

#include <algorithm>
#include <utility>

#include "mpa/base/rank.h"

namespace mpa {
UncapturedFinder::UncapturedFinder(const JobCollectives& ranks, const RankClocks& clocks,
                                   const LatenessLimits& limits)
    : ranks_(ranks), clocks_(clocks), limits_(limits), tolerance_(kArrivalTolerance) {
  for (const RankClock& clock : clocks.clocks)
    if (clock.known) tolerance_ = std::max(tolerance_, 3 * clock.sigma);
}

void UncapturedFinder::Add(const CollectiveInstance& instance, const InstanceArrivals& arrivals) {
  UncapturedMembers found;
  if (arrivals.all.size() > 1 && arrivals.all.back().source == ArrivalSource::kSeen) {
    found.last = arrivals.all.back().time;
    ++seen_[instance.group];
    std::vector<LateMembers> little = FindLateMembers(arrivals, tolerance_, false);
    if (!little.empty()) {
      little_late_[{instance.group, little.front().ranks}].emplace_back(found_.size(),
                                                                        little.front());
    }
    found.late = FindLateMembers(arrivals, limits_.least, false);
  }
  if (found.late.empty()) FindUnknown(instance, found);
  found_.push_back(std::move(found));
}

// A rank that is the last in most operations of a group is late by little each time, and by much in
// a step.
std::vector<UncapturedMembers> UncapturedFinder::Found() && {
  for (const auto& [key, found] : little_late_) {
    TimeNs sum = 0;
    for (const auto& [number, late] : found) sum += late.Behind();
    const auto count = static_cast<double>(found.size());
    const bool is_habit =
        count >= limits_.least_operations &&
        count >= limits_.systematic_share * static_cast<double>(seen_.at(key.first));
    if (!is_habit || sum < limits_.least_of_habit) continue;
    for (const auto& [number, late] : found) {
      if (found_[number].late.empty()) found_[number].late = {late};
    }
  }
  return std::move(found_);
}

bool UncapturedFinder::AllCaptured(const CollectiveInstance& instance) const {
  const std::size_t captured = instance.members.size();
  return instance.of_group.empty() ? captured == ranks_.size() && captured > 2
                                   : captured >= instance.of_group.size();
}

// Where no peers are recorded, the waits still tell when the last one came.
void UncapturedFinder::FindUnknown(const CollectiveInstance& instance,
                                   UncapturedMembers& found) const {
  if (!instance.is_barrier || AllCaptured(instance)) return;
  TimeNs own = 0, latest = 0;
  for (const CollectiveInstance::Member& member : instance.members) {
    const RankCollectives& rank = ranks_[member.rank];
    const ClockLine& clock = clocks_.clocks[member.rank].line;
    own = std::max(own, clock.Convert(rank.runs.rows[member.row].start));
    if (rank.last[member.row].known)
      latest = std::max(latest, clock.Convert(rank.last[member.row].time));
  }
  if (latest <= own + limits_.least) return;
  found.late = {{.ranks = OnlyOtherMember(instance), .time = latest, .before = own}};
  found.last = latest;
}

// The one that it must have been, where all other members of the group were captured; empty: one of
// several.
std::vector<RankId> UncapturedFinder::OnlyOtherMember(const CollectiveInstance& instance) const {
  std::vector<RankId> others;
  for (const RankId rank : instance.of_group) {
    const auto is_rank = [&](const CollectiveInstance::Member& member) {
      return ranks_[member.rank].get().rank == rank;
    };
    if (std::ranges::none_of(instance.members, is_rank)) others.push_back(rank);
    if (others.size() > 1) return {};
  }
  return others;
}

std::vector<LateMembers> FindLateMembers(const InstanceArrivals& arrivals, TimeNs least,
                                         bool captured) {
  const std::vector<Arrival>& all = arrivals.all;
  std::vector<LateMembers> late;
  std::size_t end = all.size();
  for (std::size_t first = end; first-- > 1;) {
    const ArrivalSource source = all[first].source;
    const bool counts =
        source == ArrivalSource::kSeen || (captured && source == ArrivalSource::kCaptured);
    if (!counts || 2 * (all.size() - first) > all.size()) break;
    if (all[first].time - all[first - 1].time < least) continue;
    LateMembers& members = late.emplace_back();
    members.time = all[end - 1].time;
    members.before = all[first - 1].time;
    members.captured = true;
    for (std::size_t i = first; i < end; ++i) {
      members.ranks.push_back(all[i].rank >= 0 || all[i].position >= 0 ? all[i].rank
                                                                       : all[i].group_rank);
      members.captured = members.captured && all[i].source == ArrivalSource::kCaptured;
    }
    std::ranges::sort(members.ranks);
    end = first;
  }
  return late;
}

}  // namespace mpa
