// SPDX-License-Identifier: Apache-2.0
// Joins the operations of all ranks, and their clocks.
#include "operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "mpa/base/text.h"
#include "mpa/measure/group_hash.h"

namespace mpa {
namespace {

// Clocks of two ranks are compared where they ran so many operations together.
constexpr std::size_t kLeastShared = 3;

std::string BareName(const std::string& group) {
  constexpr std::string_view kBefore = "Group ", kBehind = " Communication";
  if (!group.starts_with(kBefore) || !group.ends_with(kBehind)) return group;
  return group.substr(kBefore.size(), group.size() - kBefore.size() - kBehind.size());
}

TimeNs MedianOf(std::vector<TimeNs> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class OperationJoiner {
 public:
  explicit OperationJoiner(const std::vector<DiagnosedRank>& ranks) : ranks_(ranks) {}

  JobOperations Join() && {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) AddRank(rank);
    std::vector<JobOperation*> in_order;
    for (const DiagnosedRank& rank : ranks_) result_.of_rank.emplace_back(rank.part->operations.size());
    std::map<std::string, std::size_t> lanes;
    for (auto& [key, operation] : joined_) {
      operation.joint.lane = lanes.try_emplace(std::get<0>(key), lanes.size()).first->second;
      in_order.push_back(&operation);
    }
    std::stable_sort(in_order.begin(), in_order.end(), [&](const JobOperation* a, const JobOperation* b) {
      return Of(a->joint.members[0]).start < Of(b->joint.members[0]).start;
    });
    for (JobOperation* found : in_order) {
      JobOperation& operation = *found;
      for (const auto& member : operation.joint.members) result_.of_rank[member.rank][member.collective] = result_.all.size();
      result_.all.push_back(std::move(operation));
    }
    AlignClocks();
    for (JobOperation& operation : result_.all) FindOutsider(operation);
    return std::move(result_);
  }

 private:
  using Key = std::tuple<std::string, std::string, std::int32_t, std::int32_t, std::size_t>;

  const RankDiagnosis& Part(std::size_t rank) const { return *ranks_[rank].part; }
  const OperationPart& Of(const JointOperation::Member& member) const {
    return Part(member.rank).operations[member.collective];
  }

  void AddRank(std::size_t rank) {
    const RankDiagnosis& part = Part(rank);
    std::map<Key, std::size_t> seen;
    for (std::size_t i = 0; i < part.operations.size(); ++i) {
      const OperationPart& row = part.operations[i];
      const std::string group = BareName(part.names[row.group]);
      const std::string& kind = part.names[row.kind];
      const bool is_pair = IsPairKind(kind);
      const bool sends = kind == "send";
      // Names carry a running number, of operations between two ranks another one on each.
      Key key{group, is_pair ? "" : part.names[row.name], 0, 0, 0};
      if (is_pair && row.own >= 0) {
        std::get<2>(key) = sends ? row.own : row.peer;
        std::get<3>(key) = sends ? row.peer : row.own;
      } else if (is_pair) {
        std::get<1>(key) = fmt::format("{}/{}", part.names[row.name], rank);
      }
      std::get<4>(key) = seen[key]++;
      JobOperation& joined = joined_[key];
      if (joined.joint.members.empty()) {
        joined.kind = kind;
        joined.step = row.step;
        joined.joint.is_barrier = IsBarrierKind(kind) || is_pair;
        Describe(group, part.job, joined);
      }
      joined.joint.members.push_back({rank, i});
    }
  }

  static void Describe(const std::string& group, const JobInfo& job, JobOperation& joined) {
    joined.group = group;
    for (const JobGroup& known : job.groups) {
      if (known.id != group && std::to_string(GroupHash(known.id)) != group) continue;
      if (!known.name.empty()) joined.group = known.name;
      joined.members = known.ranks;
    }
  }

  // The ends of operations in which all wait for each other are one moment.
  void AlignClocks() {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<TimeNs>> apart;
    for (const JobOperation& operation : result_.all) {
      if (!operation.joint.is_barrier) continue;
      const auto& members = operation.joint.members;
      for (std::size_t i = 1; i < members.size(); ++i) {
        const auto end = [&](const JointOperation::Member& member) { return Of(member).start + Of(member).dur; };
        apart[{members[0].rank, members[i].rank}].push_back(end(members[i]) - end(members[0]));
      }
    }
    std::vector<std::map<std::size_t, TimeNs>> neighbours(ranks_.size());
    for (const auto& [pair, distances] : apart) {
      if (distances.size() < kLeastShared) continue;
      const TimeNs distance = MedianOf(distances);
      neighbours[pair.first][pair.second] = distance;
      neighbours[pair.second][pair.first] = -distance;
    }
    result_.clock.assign(ranks_.size(), 0);
    std::vector<bool> known(ranks_.size(), false);
    for (std::size_t first = 0; first < ranks_.size(); ++first) {
      if (known[first]) continue;
      known[first] = true;
      std::deque<std::size_t> open = {first};
      while (!open.empty()) {
        const std::size_t rank = open.front();
        open.pop_front();
        for (const auto& [other, distance] : neighbours[rank]) {
          if (known[other]) continue;
          known[other] = true;
          result_.clock[other] = result_.clock[rank] + distance;
          open.push_back(other);
        }
      }
    }
  }

  // A member that was not captured, and came after all that were.
  void FindOutsider(JobOperation& operation) const {
    std::set<std::int64_t> captured;
    TimeNs last = 0;
    for (const auto& member : operation.joint.members) {
      captured.insert(ranks_[member.rank].rank);
      last = std::max(last, Of(member).start - result_.clock[member.rank]);
    }
    std::map<std::int64_t, TimeNs> arrivals;
    for (const auto& member : operation.joint.members) {
      const RankDiagnosis& part = Part(member.rank);
      auto seen = std::partition_point(part.arrivals.begin(), part.arrivals.end(),
                                       [&](const PeerArrival& row) { return row.operation < member.collective; });
      for (; seen != part.arrivals.end() && seen->operation == member.collective; ++seen) {
        const std::int64_t rank = RankInJob(operation, seen->peer);
        if (!seen->waited || captured.contains(rank)) continue;
        const TimeNs time = seen->time - result_.clock[member.rank];
        const auto [found, is_new] = arrivals.try_emplace(rank, time);
        found->second = std::min(found->second, time);  // the plane may have been busy
      }
    }
    for (const auto& [rank, time] : arrivals) {
      if (time > last) {
        operation.joint.second = last;
        last = time;
        operation.outsider = rank;
        operation.joint.outsider = time;
      } else if (operation.joint.outsider >= 0) {
        operation.joint.second = std::max(operation.joint.second, time);
      }
    }
    if (arrivals.empty()) FindUnknownOutsider(operation, last);
  }

  // Where no peers are recorded, the waits still tell when the last one came.
  void FindUnknownOutsider(JobOperation& operation, TimeNs last) const {
    constexpr TimeNs kLeastBehind = 50'000;
    const std::size_t captured = operation.joint.members.size();
    const bool all_captured = operation.members.empty() ? captured == ranks_.size() && captured > 2 : captured >= operation.members.size();
    if (!operation.joint.is_barrier || IsPairKind(operation.kind) || all_captured) return;
    TimeNs latest = 0;
    for (const auto& member : operation.joint.members) {
      if (Of(member).last_arrival < 0) continue;
      latest = std::max(latest, Of(member).last_arrival - result_.clock[member.rank]);
    }
    if (latest <= last + kLeastBehind) return;
    operation.joint.outsider = latest;
    operation.joint.second = last;
  }

  const std::vector<DiagnosedRank>& ranks_;
  std::map<Key, JobOperation> joined_;
  JobOperations result_;
};

}  // namespace

std::int64_t RankInJob(const JobOperation& operation, std::int32_t number) {
  const auto place = static_cast<std::size_t>(number);
  return number >= 0 && place < operation.members.size() ? operation.members[place] : number;
}

bool IsPairKind(const std::string& kind) { return IsOneOf(kind, {"send", "receive", "recv"}); }

bool IsBarrierKind(const std::string& kind) {
  return IsOneOf(kind, {"allreduce", "allgather", "reducescatter", "barrier"}) || kind.starts_with("alltoall");
}

JobOperations JoinOperations(const std::vector<DiagnosedRank>& ranks) { return OperationJoiner(ranks).Join(); }

}  // namespace mpa
