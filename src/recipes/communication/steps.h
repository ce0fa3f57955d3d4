// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "groups.h"

namespace mpa::communication {

/// Where a rank stands in the grid of the job.
struct GridPlace {
  std::int64_t dp = 0, pp = 0, tp = 0;
};

/// From the distributed_args of the job; empty where they are missing or contradict themselves.
/// Ranks are numbered tensor parallel first, then data (with context) parallel, then the pipeline.
class Grid {
 public:
  /// `problem` says why there is none, if the arguments exist.
  Grid(const Ranks& ranks, std::string& problem);

  bool Known() const { return world_ > 0; }
  std::optional<GridPlace> Of(std::int64_t rank) const;

 private:
  std::int64_t world_ = 0, tensor_ = 1, data_ = 1;
};

/// A row of the step trace: of a rank, or the longest of the ranks of a stage. Times are ns.
struct StepTraceRow {
  std::string step;
  bool stage = false;
  std::int64_t rank = -1;
  std::set<std::int64_t> ranks;  ///< of the stage
  StepTimes::Row times;
  std::optional<GridPlace> place;
};

/// The pipeline stages: groups of ranks that work on the same layers; empty without a pipeline.
std::vector<std::set<std::int64_t>> StagesOf(const std::vector<Group>& groups);

std::vector<StepTraceRow> StepTrace(const Ranks& ranks, const std::vector<Group>& groups,
                                    const Grid& grid);

}  // namespace mpa::communication
