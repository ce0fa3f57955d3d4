// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpa/recipe/rank_lines.h"
#include "rows.h"

namespace mpa::time_summary {

/// A step of a rank in both runs, or in one of them.
struct StepPair {
  std::int64_t rank = -1;
  std::int32_t step = -1;
  const StepRow *comparison = nullptr, *base = nullptr;
};

/// Puts equal steps of equal ranks together. The rows have to outlive the pairs.
std::vector<StepPair> PairSteps(const std::vector<StepRow>& comparison,
                                const std::vector<StepRow>& base, std::vector<std::string>& notes);

Sheet ComparisonSheet(const std::vector<StepPair>& pairs, Report& report);
void AddComparisonLines(const std::vector<StepPair>& pairs, std::vector<std::string>& lines);

/// The columns of rank and step.
std::vector<Column> KeyColumns();
/// Empty where it is not known.
Cell Microseconds(const std::optional<TimeNs>& time);
/// The mean over its steps of each rank that has the metric, in ms.
std::vector<RankValue> MeansOfRanks(const std::vector<StepRow>& rows, std::size_t metric);

}  // namespace mpa::time_summary
