// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "mpa/base/rank.h"
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

  /// The ranks that have most of it; empty: all.
  std::vector<RankId> MostlyOf(const std::map<RankId, double>& of_rank) const {
    constexpr double kLittle = 0.2;  // of what the first has
    double most = 0;
    for (const auto& [rank, time] : of_rank) most = std::max(most, time);
    std::vector<RankId> ranks;
    for (const auto& [rank, time] : of_rank) {
      if (time >= kLittle * most) ranks.push_back(rank);
    }
    return ranks.size() < job_.ranks.size() ? ranks : std::vector<RankId>{};
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
