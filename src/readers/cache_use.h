// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// How a task used the L2 cache: parts of its requests, NaN: not recorded.
struct CacheUse {
  std::int64_t stream = -1, task = -1;
  StringId name{};  ///< of the kernel
  double hit_rate = 0, victim_rate = 0;
};

/// Gives the kernels of the rank these counters, see mpa/measure/cache_hits.h. Task numbers repeat:
/// of as many uses as kernels of one number the first belongs to the first, otherwise each kernel
/// gets the mean. Kernels without a number get the mean of their name. False when there are uses
/// and kernels, and none belong together.
/// `strings` has the texts of both.
bool AddCacheUses(const std::vector<CacheUse>& uses, StringPool& strings, RankTrace& trace);

}  // namespace mpa::readers
