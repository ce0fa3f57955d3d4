// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "head_part.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::head {

/// Adds the sheets HEAD_CALL, HEAD_STEP, HEAD_SUMMARY, HEAD_CHILD, HEAD_ADVICE. Times are
/// nanoseconds, in workbooks microseconds. What is unknown is an empty cell.
void AddHeadSheets(const std::vector<OfRank<HeadPart>>& ranks, Report& report);

}  // namespace mpa::head
