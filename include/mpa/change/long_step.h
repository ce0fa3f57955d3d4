// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/measure/accounting.h"
#include "mpa/model/rank_trace.h"

/// One step of a side that takes much longer than its others, while the median hides it.
namespace mpa {

struct LongStep {
  bool in_comparison = true;
  std::size_t position = 0;  ///< among the steps of its side
  TimeNs excess = 0;         ///< beyond the median of its side
  TimeNs of_all = 0;         ///< by which all steps of the sides differ, comparison less base
  TimeNs base_median = 0, comparison_median = 0;
};

/// The longest step of either side, if it lies far from the others of its side and the other side
/// has no such step. Nothing with fewer than three steps on a side.
std::optional<LongStep> FindLongStep(const std::vector<TimeNs>& base,
                                     const std::vector<TimeNs>& comparison);

/// "step 4: +400.0 ms of +400.0; median unchanged (free time (Python): gc.collect)". `id`: of the
/// step; -1: its position is told. `cause` may be empty.
std::string LongStepText(const LongStep& step, std::int32_t id, const std::string& cause);

/// What the rank does longer in this step than in the median of all of them, by the account: the
/// part that grew most, and what the host did then. Waits for other ranks are what others do, and
/// no cause. Empty where nothing but waits grew.
std::string CauseOfStep(const RankTrace& trace, const RankAccount& account, std::size_t step);

}  // namespace mpa
