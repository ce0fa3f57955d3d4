// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/job/operations.h"
#include "rank_clocks.h"

namespace mpa {

/// Sets in each operation who was not captured and came after all that were; see JobOperation.
void FindOutsiders(const std::vector<DiagnosedRank>& ranks, const std::vector<RankMeetings>& met,
                   const RankClocks& clocks, const Rules& rules, JobOperations& operations);

}  // namespace mpa
