// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace_fragment.h"

namespace mpa::readers {

/// Appends the fragments to the rank, in the order of the file, and empties them. Only now all
/// processes are known by their names.
void JoinFragments(std::vector<TraceFragment>& fragments, Tables wanted, RankTrace& trace);

}  // namespace mpa::readers
