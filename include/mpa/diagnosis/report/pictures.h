// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// What a page draws of a job: kernels, links, and the wait for another rank that took longest.
JobPictures PicturesOf(const Job& job);

/// The operation for whose last member another one waited longest, in the counted steps: host, task
/// queue, streams and communication of both. Empty: no rank waited for another.
std::optional<Timeline> LongestWait(const Job& job);

}  // namespace mpa
