// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/measure/accounting.h"
#include "mpa/measure/host_places.h"
#include "mpa/model/rank_trace.h"

/// What the account of the rank's steps says of its free time and of single gaps.
namespace mpa::free_analysis {

struct GapAccount {
  /// Its leaves, the largest first: "free.python 1.25 us, copy.h2d 0.5 us". They add up to the
  /// gap, but for what lies outside the steps.
  std::string causes;
  /// What the host did longest, for a tenth of the gap at least: "aten::item at train.py:90".
  std::string place;
};

class StepAccounts {
 public:
  /// Refers to the rank, which must outlive it.
  explicit StepAccounts(const RankTrace& trace);

  LeafTimes Leaves() const;  ///< of all steps together
  GapAccount Of(const Interval& gap) const;

 private:
  const RankTrace& trace_;
  RankAccount account_;
  CallSites sites_;
};

}  // namespace mpa::free_analysis
