// SPDX-License-Identifier: Apache-2.0
#include "outsiders.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "arrivals.h"

namespace mpa {
namespace {

// Ranks differ by less without a cause.
TimeNs LeastLateness(const RankDiagnosis& part, const Rules& rules) {
  TimeNs longest = 0;
  for (const StepPart& step : part.steps) longest = std::max(longest, step.end - step.begin);
  return std::max(Whole(rules.outsider_ns), ShareOf(longest, rules.outsider_share));
}

// Members of an operation that were not captured and came about together, after all others.
struct LateMembers {
  std::vector<std::int64_t> ranks;
  TimeNs last = 0, second = 0;  // of them, and of the others
};

class OutsiderFinder {
 public:
  OutsiderFinder(const std::vector<DiagnosedRank>& ranks, const std::vector<RankMeetings>& met,
                 const RankClocks& clocks, const Rules& rules, JobOperations& operations)
      : ranks_(ranks),
        met_(met),
        rules_(rules),
        least_lateness_(LeastLateness(*ranks[0].part, rules)),
        operations_(operations) {
    for (const RankClock& clock : clocks.clocks) tolerance_ = std::max(tolerance_, 3 * clock.sigma);
  }

  void Find(const RankClocks& clocks) && {
    std::vector<JobOperation*> met;
    const Meetings meetings = FindMeetings(met);
    const std::vector<MeetingArrivals> arrivals = FindArrivals(met_, meetings, clocks);
    for (std::size_t i = 0; i < met.size(); ++i) Judge(meetings.all[i], arrivals[i], *met[i]);
    AddHabits();
  }

 private:
  // The operations that are meetings of ranks, in the same order.
  Meetings FindMeetings(std::vector<JobOperation*>& met) {
    std::vector<std::map<std::int32_t, std::size_t>> row_of_operation(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto& rows = met_[rank].collectives.rows;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        row_of_operation[rank][rows[row].operation] = row;
      }
    }
    Meetings meetings;
    for (JobOperation& operation : operations_.all) {
      if (operation.is_apart) continue;
      Meeting meeting;
      for (const auto& member : operation.joint.members) {
        const auto& collectives = ranks_[member.rank].part->graph.collectives;
        const auto found = row_of_operation[member.rank].find(collectives[member.collective].row);
        if (found == row_of_operation[member.rank].end()) break;
        const RankRuns& part = met_[member.rank].collectives;
        meeting.group = part.texts[part.rows[found->second].group];
        meeting.name = part.texts[part.rows[found->second].name];
        AddMember(met_, member.rank, found->second, meeting);
      }
      if (meeting.members.empty()) continue;
      met.push_back(&operation);
      meetings.all.push_back(std::move(meeting));
    }
    return meetings;
  }

  void Judge(const Meeting& meeting, const MeetingArrivals& arrivals, JobOperation& operation) {
    if (arrivals.all.size() > 1 && arrivals.all.back().source == ArrivalSource::kSeen) {
      operation.joint.last = arrivals.all.back().time;
      ++seen_[operation.group];
      if (LateMembers late = LateOf(arrivals, tolerance_); !late.ranks.empty()) {
        little_late_[{operation.group, late.ranks}].emplace_back(&operation, late);
      }
      if (const LateMembers late = LateOf(arrivals, least_lateness_); !late.ranks.empty())
        return Set(late, operation);
    }
    FindUnknown(meeting, operation);
  }

  // The last of them, up to the first gap of that length. More than half of a group is not late:
  // the others are early.
  static LateMembers LateOf(const MeetingArrivals& arrivals, TimeNs least) {
    const std::vector<Arrival>& all = arrivals.all;
    std::size_t first = all.size() - 1;
    while (first > 0 && all[first].source == ArrivalSource::kSeen &&
           all[first].time - all[first - 1].time < least)
      --first;
    if (first == 0 || all[first].source != ArrivalSource::kSeen ||
        2 * (all.size() - first) > all.size())
      return {};
    LateMembers late{{}, all.back().time, all[first - 1].time};
    for (std::size_t i = first; i < all.size(); ++i)
      late.ranks.push_back(all[i].rank >= 0 ? all[i].rank : all[i].group_rank);
    std::sort(late.ranks.begin(), late.ranks.end());
    return late;
  }

  static void Set(const LateMembers& late, JobOperation& operation) {
    operation.joint.outsider = late.last;
    operation.joint.second = late.second;
    operation.outsiders = late.ranks;
  }

  // Who is the last in most operations of a group is late by little each time, and by much in a
  // step.
  void AddHabits() {
    const auto steps = static_cast<TimeNs>(std::max<std::size_t>(1, ranks_[0].part->steps.size()));
    for (const auto& [key, found] : little_late_) {
      TimeNs sum = 0;
      for (const auto& [operation, late] : found) sum += late.last - late.second;
      const bool is_habit = IsAtLeast(found.size(), rules_.least_operations) &&
                            static_cast<double>(found.size()) >=
                                rules_.systematic_share * static_cast<double>(seen_.at(key.first));
      if (!is_habit || sum < steps * least_lateness_) continue;
      for (const auto& [operation, late] : found) {
        if (operation->joint.outsider < 0) Set(late, *operation);
      }
    }
  }

  // Where no peers are recorded, the waits still tell when the last one came.
  void FindUnknown(const Meeting& meeting, JobOperation& operation) const {
    const std::size_t captured = meeting.members.size();
    const bool all_captured = operation.members.empty() ? captured == ranks_.size() && captured > 2
                                                        : captured >= operation.members.size();
    if (!meeting.is_barrier || all_captured) return;
    TimeNs own = 0, latest = 0;
    for (const Meeting::Member& member : meeting.members) {
      const RankMeetings& rank = met_[member.rank];
      const ClockLine& clock = operations_.clock[member.rank];
      own = std::max(own, clock.Convert(rank.collectives.rows[member.row].start));
      if (rank.last[member.row].known)
        latest = std::max(latest, clock.Convert(rank.last[member.row].time));
    }
    if (latest <= own + least_lateness_) return;
    Set({OnlyOtherMember(operation), latest, own}, operation);
    operation.joint.last = latest;
  }

  // Who else it must have been, where all other members of the group were captured; empty: one of
  // several.
  std::vector<std::int64_t> OnlyOtherMember(const JobOperation& operation) const {
    std::vector<std::int64_t> others;
    for (const std::int64_t rank : operation.members) {
      const auto& members = operation.joint.members;
      const auto is_rank = [&](const JointOperation::Member& member) {
        return ranks_[member.rank].rank == rank;
      };
      if (std::none_of(members.begin(), members.end(), is_rank)) others.push_back(rank);
    }
    if (others.size() > 1) others.clear();
    return others;
  }

  const std::vector<DiagnosedRank>& ranks_;
  const std::vector<RankMeetings>& met_;
  const Rules& rules_;
  const TimeNs least_lateness_;
  TimeNs tolerance_ = kArrivalTolerance;
  JobOperations& operations_;
  std::map<std::string, std::size_t> seen_;  // operations with an outsider as the last, by group
  std::map<std::pair<std::string, std::vector<std::int64_t>>,
           std::vector<std::pair<JobOperation*, LateMembers>>>
      little_late_;
};

}  // namespace

void FindOutsiders(const std::vector<DiagnosedRank>& ranks, const std::vector<RankMeetings>& met,
                   const RankClocks& clocks, const Rules& rules, JobOperations& operations) {
  OutsiderFinder(ranks, met, clocks, rules, operations).Find(clocks);
}

}  // namespace mpa
