// SPDX-License-Identifier: Apache-2.0
#include "pair_joiner.h"

#include <algorithm>
#include <array>

#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

void Merge(JobOperation& receive, JobOperation& send) {
  send.joint.members.push_back(receive.joint.members[0]);
  receive.joint.members.clear();
}

}  // namespace

void PairJoiner::JoinInOrder() const {
  using OfRank = std::array<std::vector<JobOperation*>, 2>;  // sends and receives
  std::map<std::string_view, std::map<std::size_t, OfRank>> groups;
  for (auto& [key, operation] : joined_) {
    const auto& members = operation.joint.members;
    if (!IsPairKind(operation.kind) || members.size() != 1 || operation.members.size() != 2)
      continue;
    groups[std::get<0>(*key)][members[0].rank][operation.kind == "send" ? 0 : 1].push_back(
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

std::vector<PairEnd> PairJoiner::Ends() const {
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

void PairJoiner::JoinByTime(const std::vector<ClockLine>& clocks) const {
  // Both ends of one transfer are noted within some us, and clocks are known within tens of them.
  constexpr TimeNs kTogether = 50'000;
  std::map<std::string_view, std::vector<JobOperation*>> sends, receives;  // by group
  for (auto& [key, operation] : joined_) {
    if (!IsPairKind(operation.kind) || operation.joint.members.size() != 1) continue;
    (operation.kind == "send" ? sends : receives)[std::get<0>(*key)].push_back(&operation);
  }
  const auto end_of = [&](const JobOperation& operation) {
    const JointOperation::Member& member = operation.joint.members[0];
    return clocks[member.rank].Convert(Of(member).start + Of(member).dur);
  };
  const auto by_end = [&](const JobOperation* a, const JobOperation* b) {
    return end_of(*a) < end_of(*b);
  };
  for (auto& [group, of_group] : receives) {
    std::vector<JobOperation*>& others = sends[group];
    StableSort(of_group, by_end);
    StableSort(others, by_end);
    std::size_t next = 0;
    for (JobOperation* receive : of_group) {
      const TimeNs end = end_of(*receive);
      while (next < others.size() && end_of(*others[next]) < end - kTogether) ++next;
      for (std::size_t i = next; i < others.size() && end_of(*others[i]) <= end + kTogether; ++i) {
        auto& members = others[i]->joint.members;
        if (members.size() != 1 || members[0].rank == receive->joint.members[0].rank) continue;
        Merge(*receive, *others[i]);
        break;
      }
    }
  }
}

}  // namespace mpa
