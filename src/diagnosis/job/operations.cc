// SPDX-License-Identifier: Apache-2.0
// Joins the operations of all ranks, and their clocks.
#include "mpa/diagnosis/job/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include "late_members.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/collectives/lateness.h"
#include "mpa/collectives/pair_clocks.h"
#include "mpa/collectives/run_matching.h"
#include "mpa/measure/collectives.h"
#include "pair_joiner.h"

namespace mpa {
namespace {

// By rank, the first one that it is joined to by operations, over others as well.
std::vector<std::size_t> ConnectedComponents(const std::vector<JobOperation>& operations,
                                             std::size_t ranks) {
  std::vector<std::size_t> connected_component(ranks);
  std::iota(connected_component.begin(), connected_component.end(), std::size_t{0});
  const auto root = [&](RankIndex rank) {
    while (connected_component[rank] != rank)
      rank = connected_component[rank] = connected_component[connected_component[rank]];
    return rank;
  };
  for (const JobOperation& operation : operations) {
    for (const auto& member : operation.joint.members) {
      const std::size_t a = root(operation.joint.members[0].rank), b = root(member.rank);
      connected_component[std::max(a, b)] = std::min(a, b);
    }
  }
  for (RankIndex rank; rank < ranks; ++rank) connected_component[rank] = root(rank);
  return connected_component;
}

class OperationJoiner {
 public:
  OperationJoiner(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds,
                  const std::set<RankId>& captured)
      : ranks_(ranks), thresholds_(thresholds), captured_(captured) {}

  JobOperations Join() && {
    for (RankIndex rank; rank < ranks_.size(); ++rank) AddRank(rank);
    for (const DiagnosedRank& rank : ranks_) met_.emplace_back(rank.part->collectives);
    result_.lateness = FindLateness(met_, {});
    RankClocks clocks = result_.lateness.clocks;
    const PairJoiner pairs(ranks_, joined_);
    Match(nullptr);
    pairs.JoinInOrder();
    JoinClocksOfPairs(pairs.Ends(), clocks);
    Match(&clocks);
    pairs.JoinInOrder();
    AlignApart(clocks);
    for (RankIndex rank; rank < ranks_.size(); ++rank) {
      const RankClock& clock = clocks.clocks[rank];
      result_.clock.push_back(clock.line);
      result_.clock_root.push_back(clock.known ? clock.root : std::size_t{rank});
    }
    pairs.JoinByTime(result_.clock);
    PutInOrder();
    result_.connected_component = ConnectedComponents(result_.all, ranks_.size());
    FindLateMembers({ranks_, met_, clocks, thresholds_, captured_}, result_.all);
    return std::move(result_);
  }

 private:
  // Ranks that met no other, and whose steps lie at another time altogether: their first steps are
  // taken to begin at once. Hosts without a common clock may be hours apart.
  void AlignApart(RankClocks& clocks) const {
    if (Part(0).steps.empty()) return;
    const TimeNs begin = Part(0).steps.front().begin, end = Part(0).steps.back().end;
    for (RankIndex rank = 1; rank < ranks_.size(); ++rank) {
      const auto& steps = Part(rank).steps;
      if (clocks.clocks[rank].known || steps.empty()) continue;
      if (steps.front().begin >= end || steps.back().end <= begin)
        clocks.clocks[rank].line.offset = steps.front().begin - begin;
    }
  }

  const RankDiagnosis& Part(RankIndex rank) const { return *ranks_[rank].part; }
  const OperationPart& Of(const JointOperation::Member& member) const {
    return Part(member.rank).operations[member.collective];
  }

  void AddRank(RankIndex rank) {
    const RankDiagnosis& part = Part(rank);
    groups_.emplace_back(part.collectives.groups);
    for (std::size_t i = 0; i < part.operations.size(); ++i) {
      const OperationPart& row = part.operations[i];
      const std::string& kind = part.names[row.kind];
      const bool is_pair = IsPairKind(kind);
      const bool sends = kind == "send";
      // Names carry a running number, of operations between two ranks another one on each.
      OperationKey key{BareGroupName(part.names[row.group]), "", 0, 0};
      if (is_pair && row.own >= 0) {
        std::get<2>(key) = sends ? row.own : row.peer;
        std::get<3>(key) = sends ? row.peer : row.own;
      } else if (is_pair) {
        std::get<1>(key) = names_.emplace_back(fmt::format("{}/{}", part.names[row.name], rank));
      } else {
        std::get<1>(key) = part.names[row.name];
      }
      runs_[key].push_back({rank, i, part.IdOfStep(row.step), {row.start, row.start + row.dur}});
    }
  }

  // Which runs are one operation: by their order, and once the clocks are known, by time as well.
  // Before that those between two ranks alone, which tell more of the clocks.
  void Match(const RankClocks* clocks) {
    struct Places {
      std::size_t all = 0, taken = 0;
    };
    // Of members in operations whose names have no number.
    std::map<std::string_view, Places> places;
    std::vector<std::pair<const OperationKey*, std::vector<JointRanks>>> matched;
    std::size_t count = 0;
    for (const auto& [key, runs] : runs_) {
      const bool is_pair = IsPairKind(KindOf(runs[0]));
      if (clocks == nullptr && !is_pair) continue;
      const auto& [of_key, operations] = matched.emplace_back(
          &key, clocks == nullptr ? MatchInOrder(runs) : MatchByClocks(runs, *clocks));
      count += operations.size();
      if (is_pair) continue;
      const std::size_t ranks = CountRanks(runs);
      if (ranks == runs.size()) continue;
      Places& of_group = places[std::get<0>(key)];
      of_group.all += operations.size() * ranks;
      of_group.taken += runs.size();
    }
    joined_.clear();
    joined_.reserve(count);
    for (auto& [key, operations] : matched) {
      const auto of_group = places.find(std::get<0>(*key));
      const bool is_apart =
          of_group != places.end() &&
          static_cast<double>(of_group->second.all - of_group->second.taken) >
              thresholds_[kUnmatchedShare] * static_cast<double>(of_group->second.all);
      if (is_apart) operations = Alone(runs_.at(*key));
      for (const JointRanks& operation : std::exchange(operations, {}))
        AddJoined(*key, operation, is_apart);
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

  void AddJoined(const OperationKey& key, const JointRanks& together, bool is_apart) {
    joined_.push_back({&key, {}});
    JobOperation& joined = joined_.back().operation;
    const RankDiagnosis& part = Part(together[0].rank);
    joined.kind = KindOf(together[0]);
    // NCCL exchanges data of all ranks by sends and receives at once.
    if (joined.kind == kExchangeKind && together.size() > 2) joined.kind = "alltoall";
    joined.step = part.operations[together[0].row].step;
    joined.is_apart = is_apart;
    joined.joint.is_barrier = IsBarrierKind(joined.kind) || IsPairKind(joined.kind);
    Describe(std::get<0>(key), groups_[together[0].rank], joined);
    joined.joint.members.reserve(together.size());
    for (const RankRun& run : together) joined.joint.members.push_back({run.rank, run.row});
  }

  static void Describe(std::string_view group, const JobGroups& of_job, JobOperation& joined) {
    joined.group = group;
    const JobGroup* known = of_job.Find(group);
    if (known == nullptr) return;
    if (!known->name.empty()) joined.group = known->name;
    joined.members = known->ranks;
  }

  void PutInOrder() {
    std::vector<JobOperation*> in_order;
    std::map<std::string_view, std::size_t> series;
    for (auto& [key, operation] : joined_) {
      if (operation.joint.members.empty()) continue;
      operation.joint.series = series.try_emplace(std::get<0>(*key), series.size()).first->second;
      in_order.push_back(&operation);
    }
    StableSort(in_order, [&](const JobOperation* a, const JobOperation* b) {
      return Of(a->joint.members[0]).start < Of(b->joint.members[0]).start;
    });
    for (const DiagnosedRank& rank : ranks_)
      result_.of_rank.emplace_back(rank.part->operations.size());
    result_.all.reserve(in_order.size());
    for (JobOperation* operation : in_order) {
      for (const auto& member : operation->joint.members)
        result_.of_rank[member.rank][member.collective] = result_.all.size();
      result_.all.push_back(std::move(*operation));
    }
    joined_.clear();
    runs_.clear();
  }

  const std::vector<DiagnosedRank>& ranks_;
  const Thresholds& thresholds_;
  const std::set<RankId>& captured_;
  JobCollectives met_;
  std::vector<JobGroups> groups_;  // by rank
  std::deque<std::string> names_;  // that no part has
  std::map<OperationKey, std::vector<RankRun>> runs_;
  JoinedOperations joined_;
  JobOperations result_;
};

}  // namespace

RankId RankInJob(const JobOperation& operation, std::int32_t number) {
  const auto place = static_cast<std::size_t>(number);
  return number >= 0 && place < operation.members.size() ? operation.members[place]
                                                         : RankId(number);
}

const LateMembers* FindLate(const JobOperation& operation, const std::vector<RankId>& ranks) {
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
                             const std::set<RankId>& captured) {
  return OperationJoiner(ranks, thresholds, captured).Join();
}

}  // namespace mpa
