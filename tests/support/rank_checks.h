// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/model/rank_trace.h"

namespace mpa::test {

/// What the readers promise of every rank, however broken its files: columns of one table are
/// equally long, texts are those of the pool, rows that name rows of other tables name existing
/// ones, times and durations are within bounds. The first breach as text, or nothing.
std::string BrokenPromise(const RankTrace& trace);

}  // namespace mpa::test
