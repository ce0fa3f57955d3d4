// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/collectives/instances.h"
#include "mpa/measure/accounting.h"
#include "mpa/model/rank_trace.h"
#include "role_names.h"

/// What one capture says of the roles of its job: the part of the recipe.
namespace mpa::recipes::rl_roles {

/// What the device did while a role ran on it, in ns; the four add up to the role.
struct DeviceTimes {
  TimeNs computing = 0;
  TimeNs communication = 0;  ///< exposed
  TimeNs copies = 0;         ///< alone
  TimeNs free = 0;           ///< the device had nothing to do

  TimeNs Sum() const { return computing + communication + copies + free; }
  void Add(const DeviceTimes& other);
};

/// The steps of a rollout that only decode.
struct DecodeSteps {
  std::int64_t steps = 0, few = 0;  ///< few: with a quarter of the largest batch or less
  TimeNs time = 0, few_time = 0;
  std::int64_t largest = 0;  ///< requests

  void Add(const DecodeSteps& other);
};

/// A stretch of time in which a role ran.
struct RoleRun {
  std::string role;
  TimeNs begin = 0, end = 0;  ///< on the clock of the device
  TimeNs finish = 0;          ///< the end of the last kernel, of a server that of its last step
  DeviceTimes times;
  DecodeSteps decode;
};

struct CaptureRoles {
  std::string group;             ///< the directories between the one that was given and the capture
  NamedDirectories directories;  ///< what they say
  std::string name;              ///< of its directory or file
  std::string host;              ///< empty: unknown
  std::int64_t device = -1;      ///< its number on the host; -1: unknown
  std::int64_t wanted = -1;      ///< the iteration that the user chose; -1: all
  std::vector<RoleRun> runs;     ///< in order of time
  RankCollectives collectives;   ///< they tell how clocks differ
};

/// The tables that RolesOf() reads.
inline constexpr Tables kRoleTables = kAccountTables | kLatenessTables;

/// Ranges of the host with names of roles are the roles of a capture. Below a directory with a name
/// all of its time is of one role, unless ranges name others. Of ranges within others the outermost
/// counts, but for weights that are handed over within a role.
CaptureRoles RolesOf(const RankTrace& trace);

}  // namespace mpa::recipes::rl_roles
