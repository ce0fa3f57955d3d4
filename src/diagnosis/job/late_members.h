// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/collectives/instances.h"
#include "mpa/collectives/rank_clocks.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

// What tells who came late.
struct JobArrivals {
  const std::vector<DiagnosedRank>& ranks;
  const JobCollectives& met;  // of these ranks
  const RankClocks& clocks;
  const Thresholds& thresholds;
  const std::set<RankId>& captured;  // ranks of the job, beside `ranks` others, too
};

// Finds the members of operations that were not captured and came after all that were.
void FindLateMembers(const JobArrivals& job, std::vector<JobOperation>& operations);

}  // namespace mpa
