// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/findings/rules.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

/// Puts the ranks together and says what costs the step. The finding with the key `explain` gets
/// its chain of evidence.
Diagnosis Diagnose(const std::vector<DiagnosedRank>& ranks, const Rules& rules = {},
                   std::string_view explain = "");

}  // namespace mpa
