// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "mpa/collectives/instances.h"
#include "support/rank_builder.h"

namespace mpa::test {

inline constexpr TimeNs kMs = 1'000'000;

/// A rank whose clock is ahead by so much, and the collectives of a group, in which its number is
/// that in the job. Times are those of the common clock.
class MetRank {
 public:
  explicit MetRank(std::int64_t rank, TimeNs ahead = 0) : ahead_(ahead) {
    rank_.trace.rank = rank;
    rank_.Group("dp");
  }
  void Collective(int number, TimeNs begin, TimeNs end, const std::string& type = "allReduce") {
    rank_.Collective(0, begin + ahead_, end + ahead_, fmt::format("hcom_{}__1_{}_1", type, number));
  }
  /// For a member of the group, during the collective around it.
  void Wait(TimeNs begin, TimeNs end, std::int32_t peer) {
    rank_.trace.comm_tasks.Append({.start = begin + ahead_,
                                   .dur = end - begin,
                                   .name = rank_.Text("Notify_Wait"),
                                   .group = 0,
                                   .plane = peer,
                                   .own_rank = static_cast<std::int32_t>(rank_.trace.rank.Number()),
                                   .peer = peer});
  }
  RankCollectives Known() const { return CollectivesOfRank(rank_.trace); }

 private:
  RankBuilder rank_;
  TimeNs ahead_;
};

}  // namespace mpa::test
