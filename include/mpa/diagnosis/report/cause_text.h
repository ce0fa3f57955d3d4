// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/change/job_causes.h"
#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// The findings that cost every step, in English, as comparisons of jobs tell them. Those of single
/// steps are not among them: the median step does not have them.
JobCauses CausesIn(const Diagnosis& diagnosis);

/// The same of one finding; false for those that cost no time of each step.
bool CostsEachStep(const Finding& finding);
JobCause CauseOf(const Finding& finding);

}  // namespace mpa
