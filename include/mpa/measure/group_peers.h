// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// What the job says of the communication group, which captures name by its id or by the hash of
/// it. Null: nothing.
const JobGroup* FindJobGroup(const std::vector<JobGroup>& groups, std::string_view name);

/// The members of the groups of a rank as ranks of the job, as far as the rank itself can tell.
class GroupPeers {
 public:
  explicit GroupPeers(const RankTrace& trace);
  /// As the capture lists the members. Where it does not, and the rank has one number in the group
  /// and in the job, its peers are taken to have it, too. -1: the capture does not tell.
  std::int64_t RankOf(std::int32_t group, std::int32_t group_rank) const;

 private:
  struct Group {
    const JobGroup* listed = nullptr;
    std::int32_t own = -1;
  };
  std::int64_t rank_;
  std::vector<Group> groups_;
};

}  // namespace mpa
