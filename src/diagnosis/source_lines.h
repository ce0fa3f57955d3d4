// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// Gives what is not a cause the line of the program that has nearly all of its time, if one has.
void AddLinesOfNotCauses(const Job& job, Diagnosis& diagnosis);

}  // namespace mpa
