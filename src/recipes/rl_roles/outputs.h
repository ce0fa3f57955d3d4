// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "iteration_account.h"
#include "mpa/report/report.h"

namespace mpa::rl_roles {

/// The sheets RlIterations, RlRoles, RlBubbles and RlRuns.
void AddSheets(const JobRoles& job, const std::vector<IterationAccount>& accounts, Report& report);

/// Which role to scale, and the account of the longest iteration.
void AddLines(const std::vector<IterationAccount>& accounts, Report& report);

}  // namespace mpa::rl_roles
