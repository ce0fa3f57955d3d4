// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Marks the steps of a server that gives them no names: those of the profiler, without them the
/// launches of graphs that hold attention. Attention over a cache decodes, other attention reads
/// prompts, and most products have the tokens of the step as the first dimension of their first
/// tensor. Adds nothing to a rank with marks, to one whose kernels no server runs, and for steps
/// whose phase or tokens are unknown.
void InferServingMarks(RankTrace& trace);

}  // namespace mpa
