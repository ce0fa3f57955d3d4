// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

/// "timeline_rank.late_r5.json": the key with _ in place of what no file name holds.
std::string TimelineName(const FoundCause& finding);

/// A Chrome trace of one step: of the ranks of the finding and of a peer, the kernels, copies,
/// collectives and launches of their graphs, all on one clock. The step is the one in which the
/// finding costs most, the longest one where that is not known.
std::string TimelineOf(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                       const FoundCause& finding);

}  // namespace mpa
