// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// What tells which work is of which step; without a part of it, steps would differ from one
/// analysis to the next.
inline constexpr Tables kStepTables =
    Tables::kSteps | Tables::kLaunches | Tables::kKernels | Tables::kCommunications;

/// Keeps what belongs to the step `id` and drops the rest, in every table; kRankTables
/// (rank_tables.h) has the rule of each.
///
/// What runs on the host belongs to the step whose span holds its start. Tables that explain other
/// rows keep more: what runs when the step begins, calls that launched its work. Who counts their
/// rows asks RankTrace::IsOfStep().
/// Device work belongs to the step that launched it; where no launch is known, to the step at whose
/// device time it starts. The device time of a step begins where the device has finished what was
/// queued before, by the step before or ahead of the capture, and lasts until the next step's
/// begins. It begins at the latest with the first kernel that the step launched on the stream that
/// computes most: copies and collectives of other streams may run a step ahead. Intervals of the
/// overlap analysis are cut at these bounds, and those of free time dropped: a step lasts from its
/// first to its last work, in every format.
///
/// `host_offset`: how far the host's clock is ahead of the device's, for the window of the step.
///
/// Needs kStepTables. Throws Error (kInput) that lists the steps of the capture when the step does
/// not exist.
void SelectStep(RankTrace& trace, std::int32_t id, TimeNs host_offset = 0);

/// Drops steps at the end of the capture that launched no device work: the profiler was stopped
/// there. Keeps all steps where no device work was read at all. Needs kStepTables.
void DropEmptySteps(RankTrace& trace);

}  // namespace mpa
