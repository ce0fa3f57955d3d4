// SPDX-License-Identifier: Apache-2.0
// The diagnoses of two jobs, subtracted.
#include "mpa/change/job_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

// A cause on either side; null: that side does not have it.
struct CausePair {
  const JobCause* base = nullptr;
  const JobCause* comparison = nullptr;

  TimeNs Change() const { return CostOf(comparison) - CostOf(base); }
  const JobCause& Larger() const {
    return base == nullptr || (comparison != nullptr && comparison->cost >= base->cost)
               ? *comparison
               : *base;
  }
  bool IsHidden() const { return Hides(base) || Hides(comparison); }
  // A side that lacks the cause may have it up to what is told at least.
  TimeNs SureChange(TimeNs least) const {
    const TimeNs size = std::abs(Change());
    return base != nullptr && comparison != nullptr ? size : std::max<TimeNs>(0, size - least);
  }

 private:
  static TimeNs CostOf(const JobCause* cause) { return cause == nullptr ? 0 : cause->cost; }
  static bool Hides(const JobCause* cause) { return cause != nullptr && cause->is_hidden; }
};

std::vector<CausePair> ChangedPairs(const JobCauses& base, const JobCauses& comparison) {
  std::map<std::string_view, CausePair> by_key;
  for (const JobCause& cause : base.causes) by_key[cause.key].base = &cause;
  for (const JobCause& cause : comparison.causes) by_key[cause.key].comparison = &cause;
  const TimeNs least = std::max(base.least, comparison.least);
  std::vector<CausePair> pairs;
  for (const auto& [key, pair] : by_key) {
    if (!pair.IsHidden() && pair.SureChange(least) >= least && pair.Change() != 0)
      pairs.push_back(pair);
  }
  StableSort(pairs, [](const CausePair& a, const CausePair& b) {
    if (a.Larger().is_fault != b.Larger().is_fault) return a.Larger().is_fault;
    return std::abs(a.Change()) > std::abs(b.Change());
  });
  return pairs;
}

}  // namespace

ChangeNode CauseChange(std::string name, const JobCauses& base, const JobCauses& comparison) {
  ChangeNode whole{"component", std::move(name), base.step, comparison.step};
  TimeNs rest = whole.Change();
  for (const CausePair& pair : ChangedPairs(base, comparison)) {
    const JobCause& cause = pair.Larger();
    const TimeNs change = pair.Change();
    // What works as written looks worse or better beside faults that came or went.
    if (!cause.is_fault && std::abs(rest - change) >= std::abs(rest)) continue;
    rest -= change;
    ChangeNode& node = whole.children.emplace_back(ChangeNode{std::string(kCauseKind), cause.text});
    node.base = pair.base == nullptr ? 0 : pair.base->cost;
    node.comparison = pair.comparison == nullptr ? 0 : pair.comparison->cost;
    node.cause = cause.detail;
    node.category = cause.key;
  }
  if (!whole.children.empty()) AddRest(kRemainder, "other", whole);
  return whole;
}

std::vector<std::string> CauseLines(const ChangeNode& causes, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  std::vector<std::string> lines;
  if (causes.children.empty()) return lines;
  const AmountScale scale = AmountScale::ForPartsOf(std::max(causes.base, causes.comparison));
  lines.push_back(Say("{}: {} -> {} {} a step ({})", causes.name,
                      scale.Text(scale.Rounded(causes.base)),
                      scale.Text(scale.Rounded(causes.comparison)), scale.unit(),
                      GrowthOf(causes.base, causes.comparison)));
  for (const std::string& line :
       ChangeLines(SummariseChange(causes, scale), scale, width - kIndent)) {
    lines.push_back("  " + line);
  }
  return lines;
}

bool ExplainsMost(const ChangeNode& causes) {
  TimeNs rest = causes.Change();
  for (const ChangeNode& cause : causes.children) {
    if (cause.kind != kRemainder) rest -= cause.Change();
  }
  return !causes.children.empty() && 2 * std::abs(rest) <= std::abs(causes.Change());
}

}  // namespace mpa
