// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "job.h"
#include "mpa/diagnosis/replay.h"

namespace mpa {

/// What the hosts of all members do to issue each operation of the job: by operation, edges of the
/// job's graph with the work on them, in ns. That is what they do within the call for it, and what
/// the task queue then does with all that this call asked for.
std::vector<std::vector<Removal::Edge>> IssuingWork(const Job& job);

}  // namespace mpa
