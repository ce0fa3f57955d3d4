// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sums.h"

namespace mpa::communication {

/// Each adds its lines to the screen, none without data: the spread of the steps over ranks, the
/// groups by kind, the longest operator, and the links by transport with the slowest of each.
void AddStepLines(const std::vector<StepTraceRow>& rows, Report& report);
void AddGroupLines(const std::vector<Group>& groups, Report& report);
void AddOperatorLines(const OpSums& ops, Report& report);
void AddLinkLines(const LinkSums& links, Report& report);

/// Each adds the sheets of one subject to the report; a sheet without rows is left out.
void AddGroupSheet(const std::vector<Group>& groups, Report& report);
void AddTimeSheets(const OpSums& sums, Report& report);
void AddMatrixSheet(const LinkSums& sums, Report& report);
void AddStepSheet(const std::vector<StepTraceRow>& rows, Report& report);
/// HostInfo, RankDeviceMap, ClusterBaseInfo.
void AddJobSheets(const Ranks& ranks, Report& report);

// The files that the Python tool makes of text captures.

TextDocument GroupDocument(const std::vector<Group>& groups);
TextDocument TimeDocument(const OpSums& sums, const std::vector<Group>& groups);
TextDocument MatrixDocument(const LinkSums& sums, const std::vector<Group>& groups);
TextDocument StepDocument(const std::vector<StepTraceRow>& rows, bool with_indices);

}  // namespace mpa::communication
