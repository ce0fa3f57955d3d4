// SPDX-License-Identifier: Apache-2.0
// What to do about the head of each graph, and whom to ask.
#include "advice.h"

#include <algorithm>
#include <span>

#include "graph_advice.h"

namespace mpa::head {
namespace {

// The rows of the next scope, which follow one another; takes them from `rows`.
template <typename T>
std::span<const T> TakeScope(std::span<const T>& rows, const std::string& scope) {
  std::size_t count = 0;
  while (count < rows.size() && rows[count].scope == scope) ++count;
  const std::span<const T> taken = rows.first(count);
  rows = rows.subspan(count);
  return taken;
}

// Of all steady calls: the idle time they leave the device, in % of the steps.
std::optional<double> ExposedShareOfStep(const AdviceInput& input) {
  for (const SummaryRow& row : input.summary) {
    if (row.scope != "all" || row.phase != Phase::kSteady || row.measure != "head") continue;
    if (!row.exposed_sum || !row.share_of_step || row.spread.sum == 0) return std::nullopt;
    const double steps = static_cast<double>(row.spread.sum) / *row.share_of_step;
    return static_cast<double>(*row.exposed_sum) / steps * 100;
  }
  return std::nullopt;
}

}  // namespace

std::string_view NameOf(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warn", "high"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::vector<AdviceRow> GiveAdvice(const AdviceInput& input) {
  std::vector<AdviceRow> rows;
  AdviseOnCapture(input, rows);
  std::span<const SummaryRow> summary = input.summary;
  std::span<const ChildRow> children = input.children;
  for (const Scope& scope : input.scopes) {
    const ScopeRows of_scope{TakeScope(summary, scope.name), TakeScope(children, scope.name)};
    if (&scope != &input.scopes.front()) GraphAdvice(input, scope, of_scope, rows).Give();
  }
  const auto exposed = ExposedShareOfStep(input);
  const double limit = input.thresholds.exposed_step_share;
  if (exposed && *exposed < limit) {
    for (AdviceRow& row : rows) row.severity = Severity::kInfo;
    rows.insert(rows.begin(), {.rule = "HIDDEN",
                               .severity = Severity::kInfo,
                               .scope = "all",
                               .owner = "nobody",
                               .text = "head overhead is hidden by device work; not the bottleneck",
                               .metric = "exposed_share_of_step_percent",
                               .value = *exposed,
                               .threshold = limit,
                               .exposed_per_step = {},
                               .calls = static_cast<std::int64_t>(input.scopes[0].calls.size())});
    return rows;
  }
  // What alone could give back a part of the step that matters comes first, what costs the device
  // nothing last.
  for (AdviceRow& row : rows) {
    if (!row.exposed_per_step) continue;
    const auto gain = static_cast<double>(*row.exposed_per_step);
    const bool much = input.step_time && gain >= static_cast<double>(*input.step_time) *
                                                     input.thresholds.segment_step_share / 100;
    row.severity = much ? Severity::kHigh : gain > 0 ? Severity::kWarn : Severity::kInfo;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const AdviceRow& a, const AdviceRow& b) {
    return std::pair{a.severity, a.exposed_per_step} > std::pair{b.severity, b.exposed_per_step};
  });
  return rows;
}

}  // namespace mpa::head
