// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture_roles.h"
#include "mpa/collectives/clock_line.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::rl_roles {

using Ranks = std::vector<OfRank<CaptureRoles>>;

/// Where a capture was made.
struct CapturedOn {
  std::size_t device = 0;  ///< a number of its own for each device of the job
  std::int64_t rank = -1;  ///< of replicas of the rollout, whose ranks begin anew, counted through
};

/// By capture. Captures with the same number of the device on a host are of one device; where two
/// ranks of a role share that number, or it is unknown, those of one rank are. If the rollout
/// overlaps another role on its devices, it has devices of its own.
std::vector<CapturedOn> FindDevices(const Ranks& ranks);

/// The clocks of hosts against that of the first capture's host.
struct HostClocks {
  std::map<std::string, ClockLine> lines;  ///< by host, to the common clock
  std::vector<std::string> unaligned;      ///< hosts whose clocks no collective compares with it

  TimeNs Convert(const std::string& host, TimeNs own) const;
};

/// From collectives that ranks of several hosts left at one time. Captures of one host share a
/// clock.
HostClocks AlignHosts(const std::vector<const CaptureRoles*>& captures);

}  // namespace mpa::rl_roles
