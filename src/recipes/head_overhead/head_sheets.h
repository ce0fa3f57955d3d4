// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "head_part.h"
#include "mpa/report/report.h"

namespace mpa::head {

/// The result of a rank.
struct RankHead {
  std::int64_t rank = -1;
  const HeadPart* part = nullptr;
};

/// The tables of the ranks: HEAD_CALL, HEAD_STEP, HEAD_SUMMARY, HEAD_CHILD, HEAD_ADVICE. Times are
/// nanoseconds; for people they are shown as microseconds. What is unknown is an empty cell.
std::vector<Sheet> HeadSheets(const std::vector<RankHead>& ranks, bool for_people);

}  // namespace mpa::head
