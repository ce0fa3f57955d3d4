// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// Calls that wait so long for the device that they look guilty, and the finding that makes them
/// wait. No finding is about them, and the step gets no shorter without these waits. `what_ifs`:
/// those of the first findings.
void FindNotCauses(const Job& job, const std::vector<const WhatIf*>& what_ifs, StepReplays& replays,
                   Diagnosis& diagnosis);

}  // namespace mpa
