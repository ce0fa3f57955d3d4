// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job.h"
#include "mpa/diagnosis/diagnosis.h"

namespace mpa {

/// Gives what is not a cause the line of the program that has nearly all of its time, if one has.
void AddLinesOfNotCauses(const Job& job, Diagnosis& diagnosis);

}  // namespace mpa
