// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/base/time.h"

namespace mpa {

class HostTimeline;
struct RankTrace;

/// What the steps of a rank show of which no device work was recorded.
struct HostAlone {
  std::vector<TimeNs> steps;  ///< how long each took on the host, in order of their begins
  /// What the thread that makes the steps did in all of them, by TimeCategory; the rest is not
  /// recorded. Empty without steps.
  std::vector<TimeNs> categories;

  /// 0 without steps.
  TimeNs MedianStep() const;
};

/// Needs steps and, for what the thread did, the tables of HostTimeline.
HostAlone HostAloneOf(const RankTrace& trace, const HostTimeline& timeline);
/// How long the steps took on the host.
std::vector<TimeNs> HostStepTimes(const RankTrace& trace);

}  // namespace mpa
