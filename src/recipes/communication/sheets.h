// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steps.h"
#include "sums.h"

namespace mpa::communication {

/// Each adds the sheets of one subject to the report; a sheet without rows is left out.
void AddGroupSheet(const std::vector<Group>& groups, Report& report);
void AddTimeSheets(const OpSums& sums, Report& report);
void AddMatrixSheet(const LinkSums& sums, Report& report);
void AddStepSheet(const std::vector<StepTraceRow>& rows, Report& report);
/// HostInfo, RankDeviceMap, ClusterBaseInfo.
void AddJobSheets(const Ranks& ranks, Report& report);

}  // namespace mpa::communication
