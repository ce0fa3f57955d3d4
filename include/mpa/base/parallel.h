// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace mpa {

/// Sets how many threads may work at once, the main one included. 0: one per CPU of the process.
void SetJobs(int jobs);

/// Calls body(0..count-1), each once, borrowing idle workers up to the job limit. The caller takes
/// part, so nested calls never wait for each other; once it has nothing left to do but wait, loops
/// within the last bodies may have its place. The first failing index's exception is rethrown
/// after all started bodies have ended; results should be stored by index, which makes the outcome
/// independent of the number of jobs.
void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace mpa
