// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/capture/capture.h"

namespace mpa {

/// The capture of a rank.
struct FoundRank {
  RankId rank{};  ///< for RankName()
  RankInput input;
  std::string group{};  ///< of captures, where several share ranks and all groups were asked for
};

/// The directories between `directory`, which is canonical, and a capture; empty: none.
std::filesystem::path WayTo(const std::filesystem::path& directory, const RankInput& input);

/// The captures of a job.
struct FoundRanks {
  std::vector<FoundRank> ranks;    ///< by group, then in order of their numbers
  std::vector<std::string> notes;  ///< what was left out, kinds of records that are not read
  bool partial = false;            ///< captures or wanted ranks could not be had
  std::size_t all = 0;             ///< captures that are there; 0: ranks were asked for
  AbsentRanks absent{};            ///< that are there, and not among `ranks`
};

/// Which captures to take where several share ranks (engines, roles, sessions of one job or more).
enum class GroupsTaken : std::uint8_t {
  kOne,      ///< the group with most ranks
  kAll,      ///< each, where directories or names tell them apart; else one
  kJoined,   ///< every capture, as one job: they are its roles
  kServers,  ///< the records of servers' requests, and every capture beside them
};

/// The ranks below `directory`, or those that are wanted. Throws Error (kInput) when there is none.
FoundRanks FindRanks(const std::filesystem::path& directory,
                     const std::optional<std::set<RankId>>& wanted, const OpenOptions& options,
                     GroupsTaken taken = GroupsTaken::kOne);

}  // namespace mpa
