// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "job.h"
#include "late_rank.h"
#include "mpa/diagnosis/diagnosis.h"
#include "mpa/diagnosis/what_if.h"

namespace mpa {

/// Gives a finding its chain of evidence. `late`: what its rank has too much of; null: it is not about a
/// late rank. `what_ifs`: those of the first findings, in their order.
void AddChain(const Job& job, const LateWork* late, const std::vector<const WhatIf*>& what_ifs, std::size_t finding,
              Diagnosis& diagnosis);

}  // namespace mpa
