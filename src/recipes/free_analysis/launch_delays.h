// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/measure/accounting.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/page.h"

namespace mpa::recipes::free_analysis {

/// How long work waits between the begin of the call that launched it and its start on the device:
/// short delays mean that the device waits for the host, long ones that work is queued ahead.
/// Graphs are left out: one call launches all of their kernels.
struct LaunchDelays {
  std::vector<std::int64_t> counts;  ///< of works, by range of delays; empty: unknown
  TimeNs length = 0;                 ///< from the first start or launch to the last
  /// Launched and not begun, in each of equal stretches of it: thousandths of a piece of work.
  std::vector<std::int64_t> waiting;
};

/// Empty where the calls are not recorded, or the clocks of host and device cannot be compared.
LaunchDelays LaunchDelaysOf(const RankTrace& trace, const HostClock& clock);

/// Throws Error (kCorrupt) for what LaunchDelaysOf() does not give.
void CheckLaunchDelays(const LaunchDelays& delays);

/// Delays of all these ranks by their length; none if no rank has any.
std::optional<PageChart> DelayChart(const std::vector<const LaunchDelays*>& ranks);
/// What waits on the device of a rank over time; none if unknown.
std::optional<PageChart> QueueChart(const LaunchDelays& delays, RankId rank);

}  // namespace mpa::recipes::free_analysis
