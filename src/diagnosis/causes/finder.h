// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {

/// What looks for findings: FindingType::find is FindBy() one of these.
class Finder {
 public:
  explicit Finder(FindingSearch& search)
      : search_(search),
        job_(search.job),
        thresholds_(search.job.thresholds),
        issuing_(search.issuing),
        candidates_(search.candidates) {}

 protected:
  /// Steps that count, of all ranks.
  double RankSteps() const { return static_cast<double>(job_.ranks.size() * job_.CountedSteps()); }
  /// Measures the calls and the time of all ranks as those of the mean rank and step.
  void MeasureSums(double calls, double time, Finding& candidate) const {
    candidate.Measure(kCallsPerStep, calls / RankSteps());
    candidate.Measure(kTimePerStep, time / RankSteps());
  }

  FindingSearch& search_;
  const Job& job_;
  const Thresholds& thresholds_;
  IssuingOfRanks& issuing_;
  std::vector<Finding>& candidates_;
};

template <typename Which>
void FindBy(FindingSearch& search) {
  Which(search).Find();
}

/// What the Python tool calls several findings.
inline constexpr std::string_view kSlowRankProblem = "slow rank",
                                  kDispatchProblem = "Operator Dispatch Issues",
                                  kFusibleProblem = "Affinity API Issues";

}  // namespace mpa
