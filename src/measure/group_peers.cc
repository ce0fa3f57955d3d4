// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/group_peers.h"

#include "mpa/measure/collectives.h"

namespace mpa {

void JobGroups::Add(const std::vector<JobGroup>& groups) {
  for (const JobGroup& group : groups) {
    of_id_.try_emplace(group.id, &group);
    of_hash_.try_emplace(std::to_string(GroupHash(group.id)), &group);
  }
}

const JobGroup* JobGroups::Find(std::string_view name) const {
  const auto found = of_id_.find(name);
  return found == of_id_.end() ? OfHash(name) : found->second;
}

const JobGroup* JobGroups::OfHash(std::string_view hash) const {
  const auto found = of_hash_.find(hash);
  return found == of_hash_.end() ? nullptr : found->second;
}

GroupPeers::GroupPeers(const RankTrace& trace)
    : rank_(trace.rank), groups_(trace.comm_groups.Size()) {
  const JobGroups of_job(trace.job.groups);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const std::string_view name = trace.strings.View(trace.comm_groups.name[group]);
    groups_[group].listed = of_job.Find(BareGroupName(name));
  }
  for (std::size_t i = 0; i < trace.comm_tasks.Size(); ++i) {
    const std::int32_t group = trace.comm_tasks.group[i];
    const std::int32_t own = trace.comm_tasks.own_rank[i];
    if (group >= 0 && own >= 0) groups_[static_cast<std::size_t>(group)].own = own;
  }
}

std::int64_t GroupPeers::RankOf(std::int32_t group, std::int32_t group_rank) const {
  if (group < 0 || group_rank < 0) return -1;
  const Group& of = groups_[static_cast<std::size_t>(group)];
  if (of.listed != nullptr && !of.listed->ranks.empty()) {
    const auto at = static_cast<std::size_t>(group_rank);
    return at < of.listed->ranks.size() ? of.listed->ranks[at] : -1;
  }
  return of.own >= 0 && of.own == rank_ ? group_rank : -1;
}

}  // namespace mpa
