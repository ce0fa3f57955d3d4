// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// For every thread (track) the number of its group. Threads that work for one another are of one
/// group: one runs the backward pass of what the other ran forward, and the other waits for it.
/// Others are groups of their own.
std::vector<std::int32_t> GroupThreads(const RankTrace& trace);

}  // namespace mpa
