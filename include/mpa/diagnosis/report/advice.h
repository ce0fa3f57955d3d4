// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// That of the finding, or of its case; of a rank that is late by work that has a finding of its
/// own, the advice on that work.
const Advice& AdviceOn(const Finding& finding);

/// No advice names more.
inline constexpr std::size_t kMaxActions = 2;

/// The parts that hold for a finding: without those that do not fit how its ranks ran and were
/// captured, and those whose settings they have already.
std::vector<const AdvicePart*> PartsOf(const Finding& finding);
/// What the parts say, for programs.
std::vector<Action> ActionsOf(const Finding& finding);
/// What is advised for a job of which only the facts are known.
std::string UsualAdvice(const FindingType& finding, const AdviceFacts& facts);

}  // namespace mpa
