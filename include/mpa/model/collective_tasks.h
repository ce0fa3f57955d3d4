// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// For every communication task the row of its operation in the communications, -1 where there is
/// none: by the operation's id where the task has one, else by the time within the task's group, of
/// which the nearest operation counts if it is no further away than it is long.
/// Only where the group is unknown the time alone decides.
std::vector<std::int64_t> OperationsOfTasks(const RankTrace& trace);

/// True for the kernel by which the LCCL library communicates: a collective although it runs like a
/// compute kernel.
bool IsLcclKernel(std::string_view name);

}  // namespace mpa
