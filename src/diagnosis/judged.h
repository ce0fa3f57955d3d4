// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// NotJudged::hint of what no capture of a GPU can hold.
inline constexpr std::string_view kNotOnGpus = "traces of GPUs do not hold it";

/// What the captures do not hold, and which causes could not be judged without it. The findings are
/// there.
void FindNotJudged(const Job& job, Diagnosis& diagnosis);
/// The causes that were looked at and cost nothing in this job: neither findings, nor hidden behind
/// them, nor among what was not judged, which are all there.
void FindFine(const Job& job, Diagnosis& diagnosis);

}  // namespace mpa
