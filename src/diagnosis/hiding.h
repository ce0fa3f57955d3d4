// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// Gives every finding that saves less alone the keys of those it hides behind: findings ahead of
/// it without which it saves more. `what_ifs` are those of the findings, in their order.
void FindHiding(StepReplays& replays, const std::vector<const WhatIf*>& what_ifs,
                Diagnosis& diagnosis);

/// Adds a cause that is not a finding because other findings already save its time, with their
/// keys: once one of them is fixed, the cause saves clearly less than alone. `step_with`: the
/// length of a step with the cause and the removal of a finding.
void AddHidden(const std::vector<const WhatIf*>& what_ifs,
               const std::function<TimeNs(const Removal&)>& step_with, FoundCause cause,
               Diagnosis& diagnosis);

/// Adds a cause that all captured ranks share and that saves nothing, because ranks that were not
/// captured come later, with what it saves if those do the same. `others`: what a job of captured
/// ranks would not wait for, with all findings fixed.
void AddHiddenBehindOthers(StepReplays& replays, const StepReplays::Removals& others,
                           const WhatIf& what_if, FoundCause cause, Diagnosis& diagnosis);

}  // namespace mpa
