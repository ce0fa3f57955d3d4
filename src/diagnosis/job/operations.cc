// SPDX-License-Identifier: Apache-2.0
// Joins the operations of all ranks, and their clocks.
#include "mpa/diagnosis/job/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "mpa/base/text.h"
#include "mpa/collectives/arrivals.h"
#include "mpa/collectives/instances.h"
#include "mpa/collectives/pair_clocks.h"
#include "mpa/collectives/run_matching.h"
#include "mpa/measure/collectives.h"

namespace mpa {
namespace {

class OperationJoiner {
 public:
  OperationJoiner(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds,
                  const std::set<std::int64_t>& captured)
      : ranks_(ranks), thresholds_(thresholds), captured_(captured) {}

  JobOperations Join() && {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) AddRank(rank);
    for (const DiagnosedRank& rank : ranks_) met_.emplace_back(rank.part->collectives);
    result_.lateness = FindLateness(met_);
    RankClocks clocks = result_.lateness.clocks;
    Match(nullptr);
    PairInOrder();
    JoinClocksOfPairs(EndsOfPairs(), clocks);
    Match(&clocks);
    PairInOrder();
    AlignApart(clocks);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const RankClock& clock = clocks.clocks[rank];
      result_.clock.push_back(clock.line);
      result_.clock_root.push_back(clock.known ? clock.root : rank);
    }
    PairByTime();
    PutInOrder();
    FindIslands();
    FindLateMembers(clocks);
    return std::move(result_);
  }

 private:
  // Ranks that met no other, and whose steps lie at another time altogether: their first steps are
  // taken to begin at once. Hosts without a common clock may be hours apart.
  void AlignApart(RankClocks& clocks) const {
    if (Part(0).steps.empty()) return;
    const TimeNs begin = Part(0).steps.front().begin, end = Part(0).steps.back().end;
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      const auto& steps = Part(rank).steps;
      if (clocks.clocks[rank].known || steps.empty()) continue;
      if (steps.front().begin >= end || steps.back().end <= begin)
        clocks.clocks[rank].line.offset = steps.front().begin - begin;
    }
  }

  // Of operations between two ranks the group, nothing, the sender and the receiver within it.
  using Key = std::tuple<std::string, std::string, std::int32_t, std::int32_t>;

  const RankDiagnosis& Part(std::size_t rank) const { return *ranks_[rank].part; }
  const OperationPart& Of(const JointOperation::Member& member) const {
    return Part(member.rank).operations[member.collective];
  }

  void AddRank(std::size_t rank) {
    const RankDiagnosis& part = Part(rank);
    groups_.emplace_back(part.collectives.groups);
    for (std::size_t i = 0; i < part.operations.size(); ++i) {
      const OperationPart& row = part.operations[i];
      const std::string group = std::string(BareGroupName(part.names[row.group]));
      const std::string& kind = part.names[row.kind];
      const bool is_pair = IsPairKind(kind);
      const bool sends = kind == "send";
      // Names carry a running number, of operations between two ranks another one on each.
      Key key{group, is_pair ? "" : part.names[row.name], 0, 0};
      if (is_pair && row.own >= 0) {
        std::get<2>(key) = sends ? row.own : row.peer;
        std::get<3>(key) = sends ? row.peer : row.own;
      } else if (is_pair) {
        std::get<1>(key) = fmt::format("{}/{}", part.names[row.name], rank);
      }
      runs_[key].push_back({rank, i, part.IdOfStep(row.step), {row.start, row.start + row.dur}});
    }
  }

  // Which runs are one operation: by their order, and once the clocks are known, by time as well.
  void Match(const RankClocks* clocks) {
    struct Places {
      std::size_t all = 0, taken = 0;
    };
    std::map<std::string, Places> places;  // of members in operations whose names have no number
    std::map<Key, std::vector<JointRanks>> matched;
    for (const auto& [key, runs] : runs_) {
      matched[key] = clocks == nullptr ? MatchInOrder(runs) : MatchByClocks(runs, *clocks);
      if (clocks == nullptr || IsPairKind(KindOf(runs[0]))) continue;
      const std::size_t ranks = CountRanks(runs);
      if (ranks == runs.size()) continue;
      Places& of_group = places[std::get<0>(key)];
      of_group.all += matched[key].size() * ranks;
      of_group.taken += runs.size();
    }
    joined_.clear();
    for (const auto& [key, operations] : matched) {
      const Places& of_group = places[std::get<0>(key)];
      const bool is_apart = static_cast<double>(of_group.all - of_group.taken) >
                            thresholds_[kUnmatchedShare] * static_cast<double>(of_group.all);
      std::size_t number = 0;
      for (const JointRanks& operation : is_apart ? Alone(runs_.at(key)) : operations) {
        AddJoined(key, number++, operation, is_apart);
      }
    }
  }

  const std::string& KindOf(const RankRun& run) const {
    const RankDiagnosis& part = Part(run.rank);
    return part.names[part.operations[run.row].kind];
  }

  // In order, unless ranks lost some: then who was in an operation at one time belongs together.
  std::vector<JointRanks> MatchByClocks(std::vector<RankRun> runs, const RankClocks& clocks) const {
    std::vector<JointRanks> matched = MatchInOrder(runs);
    const std::size_t ranks = CountRanks(runs);
    const bool is_pair = IsPairKind(KindOf(runs[0]));
    if (ranks == runs.size() || !(is_pair || IsBarrierKind(KindOf(runs[0])))) return matched;
    for (RankRun& run : runs) {
      const RankClock& clock = clocks.clocks[run.rank];
      if (!clock.known) return matched;
      run.time = {clock.line.Convert(run.time.begin), clock.line.Convert(run.time.end)};
    }
    const bool is_complete = matched.size() * ranks == runs.size();
    if (is_complete &&
        (is_pair || ShareTogether(MatchInOrder(runs)) >= 1 - thresholds_[kUnmatchedShare]))
      return matched;
    return MatchInTime(runs);
  }

  void AddJoined(const Key& key, std::size_t number, const JointRanks& together, bool is_apart) {
    JobOperation& joined = joined_[{key, number}];
    const RankDiagnosis& part = Part(together[0].rank);
    joined.kind = KindOf(together[0]);
    // NCCL exchanges data of all ranks by sends and receives at once.
    if (joined.kind == kExchangeKind && together.size() > 2) joined.kind = "alltoall";
    joined.step = part.operations[together[0].row].step;
    joined.is_apart = is_apart;
    joined.joint.is_barrier = IsBarrierKind(joined.kind) || IsPairKind(joined.kind);
    Describe(std::get<0>(key), groups_[together[0].rank], joined);
    for (const RankRun& run : together) joined.joint.members.push_back({run.rank, run.row});
  }

  static void Describe(const std::string& group, const JobGroups& of_job, JobOperation& joined) {
    joined.group = group;
    const JobGroup* known = of_job.Find(group);
    if (known == nullptr) return;
    if (!known->name.empty()) joined.group = known->name;
    joined.members = known->ranks;
  }

  // Without peers, what one of the two members of a group sends is what the other one receives, in
  // the order of time.
  void PairInOrder() {
    using OfRank = std::array<std::vector<JobOperation*>, 2>;  // sends and receives
    std::map<std::string, std::map<std::size_t, OfRank>> groups;
    for (auto& [key, operation] : joined_) {
      const auto& members = operation.joint.members;
      if (!IsPairKind(operation.kind) || members.size() != 1 || operation.members.size() != 2)
        continue;
      groups[std::get<0>(key.first)][members[0].rank][operation.kind == "send" ? 0 : 1].push_back(
          &operation);
    }
    const auto by_start = [&](const JobOperation* a, const JobOperation* b) {
      return Of(a->joint.members[0]).start < Of(b->joint.members[0]).start;
    };
    for (auto& [group, ranks] : groups) {
      if (ranks.size() != 2) continue;
      OfRank &first = ranks.begin()->second, &second = ranks.rbegin()->second;
      if (first[0].size() != second[1].size() || first[1].size() != second[0].size()) continue;
      for (auto* list : {&first[0], &first[1], &second[0], &second[1]})
        std::stable_sort(list->begin(), list->end(), by_start);
      for (std::size_t i = 0; i < first[0].size(); ++i) Merge(*second[1][i], *first[0][i]);
      for (std::size_t i = 0; i < second[0].size(); ++i) Merge(*first[1][i], *second[0][i]);
    }
  }

  static void Merge(JobOperation& receive, JobOperation& send) {
    send.joint.members.push_back(receive.joint.members[0]);
    receive.joint.members.clear();
  }

  std::vector<PairEnd> EndsOfPairs() const {
    std::vector<PairEnd> ends;
    for (const auto& [key, operation] : joined_) {
      if (!IsPairKind(operation.kind) || operation.joint.members.size() != 2) continue;
      const auto [low, high] =
          std::minmax(operation.joint.members[0], operation.joint.members[1],
                      [](const auto& a, const auto& b) { return a.rank < b.rank; });
      const auto end = [&](const JointOperation::Member& member) {
        return Of(member).start + Of(member).dur;
      };
      ends.push_back({low.rank, high.rank, {end(low), end(low) - end(high)}});
    }
    return ends;
  }

  TimeNs EndOf(const JobOperation& operation) const {
    const JointOperation::Member& member = operation.joint.members[0];
    return result_.clock[member.rank].Convert(Of(member).start + Of(member).dur);
  }

  // Where no peers are recorded, sending and receiving that end in one moment are one operation.
  void PairByTime() {
    // Both ends of one transfer are noted within some us, and clocks are known within tens of them.
    constexpr TimeNs kTogether = 50'000;
    std::map<std::string, std::vector<JobOperation*>> sends, receives;  // by group
    for (auto& [key, operation] : joined_) {
      if (!IsPairKind(operation.kind) || operation.joint.members.size() != 1) continue;
      (operation.kind == "send" ? sends : receives)[std::get<0>(key.first)].push_back(&operation);
    }
    const auto by_end = [&](const JobOperation* a, const JobOperation* b) {
      return EndOf(*a) < EndOf(*b);
    };
    for (auto& [group, of_group] : receives) {
      std::vector<JobOperation*>& others = sends[group];
      std::ranges::stable_sort(of_group, by_end);
      std::ranges::stable_sort(others, by_end);
      std::size_t next = 0;
      for (JobOperation* receive : of_group) {
        const TimeNs end = EndOf(*receive);
        while (next < others.size() && EndOf(*others[next]) < end - kTogether) ++next;
        for (std::size_t i = next; i < others.size() && EndOf(*others[i]) <= end + kTogether; ++i) {
          auto& members = others[i]->joint.members;
          if (members.size() != 1 || members[0].rank == receive->joint.members[0].rank) continue;
          Merge(*receive, *others[i]);
          break;
        }
      }
    }
  }

  void PutInOrder() {
    std::vector<JobOperation*> in_order;
    std::map<std::string, std::size_t> lanes;
    for (auto& [key, operation] : joined_) {
      if (operation.joint.members.empty()) continue;
      operation.joint.lane = lanes.try_emplace(std::get<0>(key.first), lanes.size()).first->second;
      in_order.push_back(&operation);
    }
    std::ranges::stable_sort(in_order, [&](const JobOperation* a, const JobOperation* b) {
      return Of(a->joint.members[0]).start < Of(b->joint.members[0]).start;
    });
    for (const DiagnosedRank& rank : ranks_)
      result_.of_rank.emplace_back(rank.part->operations.size());
    for (JobOperation* operation : in_order) {
      for (const auto& member : operation->joint.members)
        result_.of_rank[member.rank][member.collective] = result_.all.size();
      result_.all.push_back(std::move(*operation));
    }
  }

  // Ranks differ by less without a cause.
  LatenessLimits Limits() const {
    TimeNs longest = 0;
    for (const StepPart& step : Part(0).steps) longest = std::max(longest, step.end - step.begin);
    LatenessLimits limits;
    limits.least =
        std::max(Whole(thresholds_[kOutsiderNs]), ShareOf(longest, thresholds_[kOutsiderShare]));
    limits.least_operations = thresholds_[kMinOperations];
    limits.systematic_share = thresholds_[kSystematicShare];
    const auto steps = static_cast<TimeNs>(std::max<std::size_t>(1, Part(0).steps.size()));
    limits.least_of_habit = steps * limits.least;
    return limits;
  }

  // By rank, the row of its runs by the row of the communications.
  std::vector<std::map<std::int32_t, std::size_t>> RowsOfOperations() const {
    std::vector<std::map<std::int32_t, std::size_t>> rows(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto& runs = met_[rank].get().runs.rows;
      for (std::size_t row = 0; row < runs.size(); ++row) rows[rank][runs[row].operation] = row;
    }
    return rows;
  }

  // Members that were not captured and came after all that were.
  void FindLateMembers(const RankClocks& clocks) {
    const auto row_of_operation = RowsOfOperations();
    CollectiveInstances instances;
    std::vector<JointOperation*> of_instances;
    for (JobOperation& operation : result_.all) {
      if (operation.is_apart) continue;
      CollectiveInstance instance;
      for (const auto& member : operation.joint.members) {
        const auto& own = Part(member.rank).graph.collectives;
        const auto found = row_of_operation[member.rank].find(own[member.collective].row);
        if (found == row_of_operation[member.rank].end()) break;
        const RankRuns& runs = met_[member.rank].get().runs;
        instance.group = runs.texts[runs.rows[found->second].group];
        instance.name = runs.texts[runs.rows[found->second].name];
        AddMember(runs, member.rank, found->second, instance);
      }
      if (instance.members.empty()) continue;
      instance.of_group = operation.members;
      of_instances.push_back(&operation.joint);
      instances.push_back(std::move(instance));
    }
    std::vector<UncapturedMembers> found = FindUncapturedMembers(
        met_, instances, FindArrivals(met_, instances, clocks), clocks, Limits());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto are_captured = [&](const LateMembers& members) {
        return AreCaptured(members.ranks.empty() ? instances[i].of_group : members.ranks);
      };
      if (std::erase_if(found[i].late, are_captured) > 0 && found[i].late.empty()) continue;
      of_instances[i]->last = found[i].last;
      of_instances[i]->late = std::move(found[i].late);
    }
  }

  bool AreCaptured(const std::vector<std::int64_t>& ranks) const {
    return !ranks.empty() &&
           std::ranges::all_of(ranks, [&](std::int64_t rank) { return captured_.contains(rank); });
  }

  void FindIslands() {
    std::vector<std::size_t>& island = result_.island;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) island.push_back(rank);
    const auto root = [&](std::size_t rank) {
      while (island[rank] != rank) rank = island[rank] = island[island[rank]];
      return rank;
    };
    for (const JobOperation& operation : result_.all) {
      for (const auto& member : operation.joint.members) {
        const std::size_t a = root(operation.joint.members[0].rank), b = root(member.rank);
        island[std::max(a, b)] = std::min(a, b);
      }
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) island[rank] = root(rank);
  }

  const std::vector<DiagnosedRank>& ranks_;
  const Thresholds& thresholds_;
  const std::set<std::int64_t>& captured_;
  JobCollectives met_;
  std::vector<JobGroups> groups_;  // by rank
  std::map<Key, std::vector<RankRun>> runs_;
  std::map<std::pair<Key, std::size_t>, JobOperation> joined_;
  JobOperations result_;
};

}  // namespace

std::int64_t RankInJob(const JobOperation& operation, std::int32_t number) {
  const auto place = static_cast<std::size_t>(number);
  return number >= 0 && place < operation.members.size() ? operation.members[place] : number;
}

const LateMembers* FindLate(const JobOperation& operation, const std::vector<std::int64_t>& ranks) {
  const auto is_meant = [&](const LateMembers& members) {
    if (ranks.empty()) return members.ranks.empty();
    return std::find_first_of(members.ranks.begin(), members.ranks.end(), ranks.begin(),
                              ranks.end()) != members.ranks.end();
  };
  const std::vector<LateMembers>& late = operation.joint.late;
  const auto found = std::ranges::find_if(late, is_meant);
  return found == late.end() ? nullptr : &*found;
}

bool IsPairKind(const std::string& kind) { return IsOneOf(kind, {"send", "receive", "recv"}); }

bool IsBarrierKind(const std::string& kind) {
  return IsOneOf(kind, {"allreduce", "allgather", "reducescatter", "barrier"}) ||
         kind.starts_with("alltoall");
}

JobOperations JoinOperations(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds,
                             const std::set<std::int64_t>& captured) {
  return OperationJoiner(ranks, thresholds, captured).Join();
}

}  // namespace mpa
