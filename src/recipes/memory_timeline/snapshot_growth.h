// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpa/measure/allocator_replay.h"

namespace mpa::recipes::memory_timeline {

/// True when allocations of one call site, which are held in the end, were made again and again
/// over the history while everything else came and went: it takes more and returns nothing. What is
/// allocated once, as parameters are, or within one pass, as activations are, does not. `kept`:
/// their rows, in order of begin. `in_use` as InUseOverTime() has it.
bool Grows(const AllocatorReplay& replay, const std::vector<std::size_t>& kept,
           const std::vector<std::int64_t>& in_use);

}  // namespace mpa::recipes::memory_timeline
