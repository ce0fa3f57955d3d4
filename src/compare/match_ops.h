// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/op_tree.h"

namespace mpa {

/// Matches the top operators of two captures; see CompareInput::MatchedOps().
std::vector<OpPair> MatchOps(const OpTree& base, const OpTree& comparison,
                             const CompareOptions& options);

}  // namespace mpa
