// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// What a page draws of a job: kernels, links, and the wait for another rank that took longest.
JobPictures PicturesOf(const Job& job);

}  // namespace mpa
