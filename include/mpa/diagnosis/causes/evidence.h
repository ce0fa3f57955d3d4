// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

/// Gives every finding the places of the captures that show it, the longest first: kernels, calls
/// and collectives with the start that their file has.
void FindEvidence(const std::vector<DiagnosedRank>& ranks, Diagnosis& diagnosis);

/// The leaves of the accounting that a finding is about; empty for one about collectives.
std::vector<Leaf> LeavesOf(const FoundCause& finding);

}  // namespace mpa
