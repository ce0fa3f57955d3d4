// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// Adds `step.long` where one step takes much longer than the others because of what one rank does
/// then, and no finding explains it; behind all other findings. Takes its gain off the floor.
/// `mended`: by finding so far, what it takes out.
void AddLongStep(const Job& job, const std::vector<const WhatIf*>& mended, StepReplays& replays,
                 Diagnosis& diagnosis);
/// Moves it to the end of the faults. Its gain holds once all others are fixed.
void PlaceLongStep(Diagnosis& diagnosis);

}  // namespace mpa
