// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "capture_roles.h"
#include "mpa/collectives/clock_line.h"

namespace mpa::rl_roles {

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
