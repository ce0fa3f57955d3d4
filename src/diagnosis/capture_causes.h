// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// Settings of the job and of its captures; they win nothing by themselves. Says of all findings,
/// too, which of the advised settings their ranks have already.
void AddCaptureFindings(const Job& job, Diagnosis& diagnosis);

}  // namespace mpa
