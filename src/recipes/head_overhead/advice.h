// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/report/report.h"
#include "rules.h"
#include "summary.h"

namespace mpa::head {

/// The thresholds that "name=value,name=value" sets. Throws Error (kUsage).
Thresholds ReadThresholds(const std::string& text);

/// A card whose rank is not set yet. Its gain is at most the time in which the device was idle.
struct AdviceRow : AdviceCard {
  std::string metric;  ///< what `value` and `threshold` are
  double value = 0, threshold = 0;
  std::int64_t calls = 0;
  std::string part{};           ///< the part of steady heads that it is about; empty: none of these
  MaybeNs cost{};               ///< time of the host, in all calls
  MaybeNs exposed_per_step{};   ///< the gain, for each step with such calls
  bool is_compilation = false;  ///< a cost of compiling or loading, not of steady calls
};

/// What advice is given from. Summary and children are those of `scopes`.
struct AdviceInput {
  const std::vector<Call>& calls;
  const std::vector<Scope>& scopes;
  const std::vector<SummaryRow>& summary;
  const std::vector<ChildRow>& children;
  const Thresholds& thresholds;
  TimeNs step_time = 0;  ///< of all steps with calls
};

/// What to do, and who: on steady calls of each graph, some rules on all calls. What can gain most
/// comes first; without a device, what costs most. A part of the head for which the device waits
/// longer than any rule explains has a row, too. When the device hardly waits for the head of
/// steady calls, a row says so, and advice on these is for information only.
std::vector<AdviceRow> GiveAdvice(const AdviceInput& input);

/// The rules on all calls of a rank together: compilations, reloads, graphs in pieces.
void AdviseOnCapture(const AdviceInput& input, std::vector<AdviceRow>& rows);
/// The rules on the steady calls of one graph, of which these rows are.
void AdviseOnGraph(const AdviceInput& input, const Scope& scope,
                   std::span<const SummaryRow> summary, std::span<const ChildRow> children,
                   std::vector<AdviceRow>& rows);

/// What a rule is about: part, cost and gain of its row.
struct Loss {
  std::string_view part{};
  MaybeNs cost{}, gain{};
};

/// Gives advice on the calls of a scope.
class Adviser {
 protected:
  Adviser(const AdviceInput& input, const Scope& scope, std::optional<Phase> phase,
          std::vector<AdviceRow>& rows);

  /// Appends a row, with `values` in its text. The caller may say more of it.
  template <const Rule& kRule, typename... Values>
  AdviceRow& Add(double value, const Loss& loss, Values&&... values) {
    return Append(kRule, value, loss, Say(kRule.text, std::forward<Values>(values)...));
  }
  double Limit(const Threshold& threshold) const { return input_.thresholds[threshold]; }

  const AdviceInput& input_;
  const Scope& scope_;
  std::vector<AdviceRow>& rows_;
  const std::vector<const Call*> calls_;

 private:
  AdviceRow& Append(const Rule& rule, double value, const Loss& loss, std::string text);

  const TimeNs steps_;  // with such calls
};

}  // namespace mpa::head
