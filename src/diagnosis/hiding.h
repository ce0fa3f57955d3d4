// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "job.h"
#include "mpa/diagnosis/diagnosis.h"
#include "mpa/diagnosis/what_if.h"

namespace mpa {

/// Gives every finding that saves less alone the keys of those it hides behind: findings ahead of
/// it without which it saves more. `what_ifs` are those of the findings, in their order.
void FindHiding(const Job& job, const std::vector<const WhatIf*>& what_ifs, Diagnosis& diagnosis);

}  // namespace mpa
