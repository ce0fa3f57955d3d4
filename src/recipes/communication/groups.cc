// SPDX-License-Identifier: Apache-2.0
#include "groups.h"

#include <fmt/format.h>

#include <utility>

#include "mpa/measure/group_peers.h"

namespace mpa::communication {

std::vector<Group> FindGroups(const Ranks& ranks) {
  std::map<std::pair<bool, std::string>, Group> groups;
  JobGroups of_job;
  for (const auto& [rank, part] : ranks) {
    const auto add = [&, id = rank](const auto& entries, bool p2p) {
      for (const auto& entry : entries) {
        if (!entry.group.empty()) groups[{p2p, entry.group}].seen.insert(id);
      }
    };
    for (const CommunicationStep& step : part.steps) {
      add(step.collective, false);
      add(step.p2p, true);
      add(step.collective_matrix, false);
      add(step.p2p_matrix, true);
    }
    for (const std::string& group : part.groups) groups[{false, group}].seen.insert(rank);
    of_job.Add(part.job.groups);
  }
  std::vector<Group> found;
  for (auto& [key, group] : groups) {
    group.p2p = key.first;
    group.name = key.second;
    group.ranks = group.seen;
    if (const JobGroup* known = of_job.OfHash(group.name)) {
      group.id = known->id;
      group.process_group = known->name;
      if (!known->ranks.empty()) group.ranks = {known->ranks.begin(), known->ranks.end()};
    }
    found.push_back(std::move(group));
  }
  return found;
}

std::string RankSetText(const std::set<std::int64_t>& ranks) {
  return fmt::format("({})", fmt::join(ranks, ","));
}

std::string RankTupleText(const std::set<std::int64_t>& ranks) {
  return fmt::format("({}{})", fmt::join(ranks, ", "), ranks.size() == 1 ? "," : "");
}

GlobalRanks::GlobalRanks(const Ranks& ranks, const std::vector<Group>& groups) {
  for (const auto& [rank, part] : ranks) {
    for (const CommunicationStep& step : part.steps) {
      for (const auto* matrix : {&step.collective_matrix, &step.p2p_matrix}) {
        for (const MatrixEntry& entry : *matrix) {
          if (entry.source != entry.destination) continue;
          const auto [found, is_new] = ranks_[entry.group].try_emplace(entry.source, rank);
          if (!is_new && found->second != rank) {
            contradictions_.insert(fmt::format("{} of group {}", entry.source, entry.group));
          }
        }
      }
    }
  }
  for (const Group& group : groups) {
    if (group.id.empty()) continue;
    std::int64_t local = 0;
    for (const std::int64_t rank : group.ranks) ranks_[group.name].try_emplace(local++, rank);
  }
}

std::int64_t GlobalRanks::Of(const std::string& group, std::int64_t local) const {
  const auto ranks = ranks_.find(group);
  if (ranks == ranks_.end()) return -1;
  const auto rank = ranks->second.find(local);
  return rank != ranks->second.end() ? rank->second : -1;
}

}  // namespace mpa::communication
