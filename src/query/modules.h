// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "computed_tables.h"
#include "mpa/measure/module_statistic.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/step_selection.h"

/// Modules of the model call by call, found and nested as module_statistic does.
namespace mpa::query {

ModuleTable ModulesOf(const RankTrace& trace);

/// Of each operator the id of the innermost module in which it ran; -1: none.
std::vector<std::int64_t> ModulesOfOps(const RankTrace& trace);

}  // namespace mpa::query
