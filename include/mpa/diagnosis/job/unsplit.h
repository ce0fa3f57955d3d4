// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// The leaves of a step of a rank, with communication divided that the rank alone cannot divide: in
/// an operation whose members were all captured a rank waits until the last one begins, and
/// transfers behind that (specification of the diagnosis, 1.4). `rank` is the position in the job.
std::vector<TimeNs> DividedLeaves(const Job& job, std::size_t rank, const StepPart& step);

}  // namespace mpa
