// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// For every communication task the row of its operation in the communications; -1 where there is
/// none. If the task has the id of an operation, the id decides. Otherwise the time within the
/// task's group decides: the nearest operation counts if it is no further away than it is long. If
/// the group is unknown, the time alone decides.
std::vector<std::int64_t> OperationsOfTasks(const RankTrace& trace);

/// True for the kernel by which the LCCL library communicates: a collective although it runs like a
/// compute kernel.
bool IsLcclKernel(std::string_view name);

}  // namespace mpa
