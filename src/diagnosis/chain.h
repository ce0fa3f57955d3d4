// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// Gives a finding its chain of evidence. `cause`: of the finding. `what_ifs`: those of the first
/// findings, in their order.
void AddChain(const Job& job, const Cause& cause, const std::vector<const WhatIf*>& what_ifs,
              std::size_t finding, Diagnosis& diagnosis);

}  // namespace mpa
