// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/diagnosis/job/operations.h"

namespace mpa {

/// The names of the kernels that tuning may make shorter, as the tuning tools read them: of those
/// that leave cores idle and of those without bound the ten that hold the longest kernels, on any
/// rank. Empty where there is no such kernel.
std::string TuningList(const std::vector<DiagnosedRank>& ranks);

}  // namespace mpa
