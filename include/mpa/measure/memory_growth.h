// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// The growth that at least half of the steps reach: of the lower median of the differences of
/// these levels, one for each step. Empty with fewer than three.
std::optional<std::int64_t> UsualGrowth(const std::vector<std::int64_t>& levels);

/// UsualGrowth() where every step adds at least the share `steady` of it, and it is `least` bytes or
/// more; else 0: these levels do not grow steadily.
std::int64_t SteadyGrowth(const std::vector<std::int64_t>& levels, double least, double steady);

/// By how much the memory that the framework has allocated usually grows from the end of a step to
/// that of the next, in bytes. Empty where it is not recorded, or with fewer than three steps.
/// Needs steps and memory samples.
std::optional<std::int64_t> AllocatedGrowth(const RankTrace& trace);

}  // namespace mpa
