// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/measure/accounting.h"
#include "mpa/measure/intervals.h"
#include "step_tables.h"

namespace mpa::gate {

/// What of each window every part of the account takes. The parts of a window within the account
/// add up to it. `places` gets the free time of those leaves in which the host did something.
void AddAccount(const RankTrace& trace, const RankAccount& account,
                const std::vector<Interval>& windows, StepTable& parts, StepTable& places);

}  // namespace mpa::gate
