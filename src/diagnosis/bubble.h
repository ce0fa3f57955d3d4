// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// Adds `pp.bubble` where more and smaller micro-batches win time, behind all other findings, and
/// takes its gain off the floor. `mended`: by finding so far, what it takes out.
void AddBubble(const Job& job, const std::vector<const WhatIf*>& mended, Diagnosis& diagnosis);
/// Moves it to opportunities of its size. Its gain holds once all others are fixed.
void PlaceBubble(Diagnosis& diagnosis);

}  // namespace mpa
