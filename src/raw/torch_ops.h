// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "framework_clock.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Fills ops from torch.op_range; shapes, types and stacks only if wanted.
void ReadOperators(const std::filesystem::path& file, const FrameworkClock& clock, Parts wanted,
                   Session& part);

/// The host side of the steps, from the operators.
void FindSteps(const TorchOps& ops, const StringPool& strings, Steps& steps);

/// Of several operators of one pass with one sequence number the one that starts last counts.
void FindBackwardPairs(const TorchOps& ops, BackwardPairs& pairs);

}  // namespace mpa::raw
