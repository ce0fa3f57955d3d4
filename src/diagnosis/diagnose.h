// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/diagnosis.h"
#include "mpa/diagnosis/rules.h"
#include "operations.h"

namespace mpa {

/// Puts the ranks together and says what costs the step.
Diagnosis Diagnose(const std::vector<DiagnosedRank>& ranks, const Rules& rules = {});

}  // namespace mpa
