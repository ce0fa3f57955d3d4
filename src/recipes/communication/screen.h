// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steps.h"
#include "sums.h"

namespace mpa::communication {

/// Each adds its lines to the screen, none without data: the spread of the steps over ranks, the
/// groups by kind, the longest operator, and the links by transport with the slowest of each.
void AddStepLines(const std::vector<StepTraceRow>& rows, Report& report);
void AddGroupLines(const std::vector<Group>& groups, Report& report);
void AddOperatorLines(const OpSums& ops, Report& report);
void AddLinkLines(const LinkSums& links, Report& report);

}  // namespace mpa::communication
