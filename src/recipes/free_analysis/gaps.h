// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

namespace mpa::free_analysis {

/// How the host dispatched a piece of device work.
struct HostSide {
  std::optional<Interval> call;  ///< that handed it to the device
  std::optional<TimeNs> op_end;  ///< of the framework operator that launched it
};

/// A time in which the device neither computed nor communicated, between two pieces of such work.
struct Gap {
  Interval time;
  /// Tasks of other kinds within, by type; the most frequent first.
  std::vector<std::pair<std::string, std::size_t>> tasks;
  TimeNs longest_rest = 0;  ///< the longest piece of the gap without those tasks
  HostSide before, behind;  ///< the work that ends where the gap begins, and begins where it ends
};

/// The longest gaps of a rank, the longest first; of equal ones the earlier.
std::vector<Gap> FindGaps(const RankTrace& trace, std::size_t most);

}  // namespace mpa::free_analysis
