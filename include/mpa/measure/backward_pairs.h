// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// An operator of the forward pass and the one of the backward pass that belongs to it: rows of the
/// host operators.
struct BackwardPair {
  std::size_t forward = 0, backward = 0;
};

/// The pairs that the capture tells, in its order; those of which an operator is missing are left
/// out. Needs host operators and backward links.
std::vector<BackwardPair> FindBackwardPairs(const RankTrace& trace);

}  // namespace mpa
