// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/serving_steps.h"

namespace mpa {

/// How the steps of a server changed. Steps of one phase and size are compared with each other, and
/// never a step that decodes with one that reads prompts.
class ServingChanges {
 public:
  explicit ServingChanges(const CompareInput& input);

  /// True where not both captures are of servers that name their steps.
  bool Empty() const { return phases_.empty(); }
  /// What changed by phase and size, and why; what only one side has. The report gets a picture of
  /// each, and the change of the phase that takes most time.
  std::vector<std::string> Describe(TimeNs base_e2e, TimeNs comparison_e2e, Report& report) const;
  /// A row for each phase and size of either side.
  Sheet MakeSheet() const;

 private:
  /// The steps of one phase and size on one side.
  struct OneSide {
    std::vector<std::size_t> steps;
    TimeNs median = 0;     ///< of the lengths
    TimeNs per_token = 0;  ///< median; -1: unknown
    ServingTimes times = {};
  };
  using BothSides = std::array<OneSide, 2>;

  OneSide Measure(std::size_t side, const std::vector<std::size_t>& steps) const;
  std::string NameOfPhase(const BothSides& sides) const;
  std::vector<std::string> Causes(const BothSides& sides, double scaled, Report& report) const;

  const CompareInput& input_;
  std::array<RankAccount, 2> accounts_;
  std::array<std::vector<ServingAccount>, 2> steps_;
  std::map<PhaseAndSize, BothSides> phases_;
};

}  // namespace mpa
