// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "mpa/diagnosis/causes/finding_search.h"

namespace mpa {

inline constexpr Threshold kUnfusedShare{"share", 0.02, 0, 1,
                                         "the pieces take at least this share of the step"};

/// Of the mean rank and step: how often runs run, and ns of their kernels, and of those that one
/// kernel saves.
struct FusibleTime {
  double calls = 0, time = 0, gone = 0;
};
FusibleTime TimeOf(const Job& job, const std::vector<FusibleRun>& runs);
/// True if so much time makes a finding.
bool Matters(const Job& job, const FusibleTime& time);

/// Takes out of the graph what one kernel in the place of the run saves: the kernels that are gone,
/// `most` ns of each at most, and what it takes to start and to ask for those that have joined.
void TakeRun(const Job& job, const IssuingOfRanks& issuing, const FusibleRun& run, Removal& removal,
             TimeNs most = std::numeric_limits<TimeNs>::max());

}  // namespace mpa
