// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/model/rank_trace.h"

namespace mpa::gate {

/// What to take from a rank.
struct SummaryRequest {
  std::vector<Metric> patterns;  ///< beside those without a pattern
  std::size_t warmup = 0;        ///< leading steps that do not count
  bool modules = false;          ///< whether the breakdown has modules, too
};

/// The tables that Summarise() needs for it.
Tables TablesFor(const SummaryRequest& request);

/// Condenses a rank: the steps are separated in one pass, as SelectStep() does for one. Metrics
/// that the capture tells nothing of have no samples; a pattern that no name fits has zeros. A
/// capture without steps has one sample of each metric but step_time.
RankSummary Summarise(const RankTrace& trace, const SummaryRequest& request);

/// Which rank counts.
enum class RankStat { kWorst, kMedian, kP95 };

/// Puts the ranks of a run together: each sample is the largest, the middle one or the one that 95
/// % do not exceed, of all ranks in that step; the breakdown is that of the rank whose median step
/// is, and whose whole capture is. Steps that not all ranks have do not count.
RunSummary ReduceRanks(std::vector<RankSummary> ranks, RankStat stat);

}  // namespace mpa::gate
