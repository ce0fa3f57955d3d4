// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "layout.h"
#include "schedule.h"

namespace mpa::recipes::pp {

struct LabelledBox {
  TimeNs start = 0, end = 0;
  std::string name;
  std::int32_t type = 0;
};

/// How many pieces did not fit the schedule.
struct Misfit {
  std::int64_t steps = 0;
  std::int64_t rank = -1, step = -1;    ///< of the first
  std::size_t found = 0, expected = 0;  ///< there
  std::int64_t unknown_stages = 0;      ///< ranks
};

/// The boxes of the ranks: named after the schedule of a DualPipeV pipeline, else "FP" (type 0) and
/// "BP" (type 1). A step with another number of boxes than the schedule keeps those.
std::vector<std::vector<LabelledBox>> LabelBoxes(const Ranks& ranks, const PipelineLayout& layout,
                                                 Misfit& misfit);

}  // namespace mpa::recipes::pp
