// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "child_sums.h"
#include "summary.h"
#include "thresholds.h"

namespace mpa::head {

enum class Severity : std::uint8_t { kInfo, kWarn, kHigh };
std::string_view NameOf(Severity severity);

struct AdviceRow {
  std::string_view rule;  ///< "R6"
  Severity severity = Severity::kWarn;
  std::string scope;
  std::string_view owner;   ///< whom to ask
  std::string text;         ///< what was measured, and what to do
  std::string_view metric;  ///< what `value` and `threshold` are
  double value = 0, threshold = 0;
  MaybeNs exposed_per_step;  ///< at most this can be gained
  std::int64_t calls = 0;
};

/// What advice is given from. Summary and children are those of `scopes`.
struct AdviceInput {
  const std::vector<Call>& calls;
  const std::vector<std::string>& graphs;
  const std::vector<Scope>& scopes;
  const std::vector<SummaryRow>& summary;
  const std::vector<ChildRow>& children;
  const Thresholds& thresholds;
  MaybeNs step_time;  ///< of a step with calls, on average
};

/// What to do, and who: on steady calls of each graph, some rules on all calls. When the device
/// hardly waits for the head, a row says so and the others are for information only.
std::vector<AdviceRow> GiveAdvice(const AdviceInput& input);

/// The rules on all calls of a rank together: R0, R3, R4, R10.
void AdviseOnCapture(const AdviceInput& input, std::vector<AdviceRow>& rows);

}  // namespace mpa::head
