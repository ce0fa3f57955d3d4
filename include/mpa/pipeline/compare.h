// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/compare/comparison.h"
#include "mpa/report/report.h"

namespace mpa {

/// Two captures to compare, and how.
struct CompareRequest {
  RankInput base, comparison;
  /// Steps to compare; both or none.
  std::optional<std::int32_t> base_step, comparison_step;
  std::string gpu_flow_cat;  ///< see ReadRequest
  CompareOptions options;
  std::vector<Comparison> comparisons;
  std::vector<std::string> notes;  ///< what is known of the captures already, for the report
  bool wants_totals = false;
  /// Sees both captures once they are read, with these tables; two threads may call it at once.
  std::function<void(bool is_comparison, const RankTrace& trace)> visit{};
  Tables visit_needs{};
};

struct CompareOutcome {
  Report report;
  bool partial = false;  ///< rows or files had to be left out because they were broken
  RankTotals totals;     ///< if they were asked for; without the rank
};

/// Reads both captures, each once, and runs the comparisons on them. Throws Error when one of the
/// captures cannot be used at all.
CompareOutcome Compare(const CompareRequest& request);

}  // namespace mpa
