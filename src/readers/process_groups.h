// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// Names the communication groups as the job does and counts their ranks, from a
/// "parallel_group_info" document ({group id: {"group_name": ..., "global_ranks": [...]}}). The id
/// is the group's name in databases and stands in the middle of it ("Group <id> Communication") in
/// traces.
void NameProcessGroups(const nlohmann::json& parallel_group_info, RankTrace& trace);

}  // namespace mpa::readers
