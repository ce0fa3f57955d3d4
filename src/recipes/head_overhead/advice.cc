// SPDX-License-Identifier: Apache-2.0
#include "advice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"

namespace mpa::head {

Thresholds ReadThresholds(const std::string& text) {
  Thresholds thresholds;
  for (const std::string_view item : Split(text, ',')) {
    if (Trim(item).empty()) continue;
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = Trim(item.substr(0, equals));
    const auto* const found = std::ranges::find(kThresholds, name, &Threshold::name);
    if (found == std::end(kThresholds)) {
      std::vector<std::string_view> names;
      for (const Threshold* known : kThresholds) names.push_back(known->name);
      Fail(ErrorKind::kUsage, "unknown threshold '{}'; available: {}", name,
           fmt::join(names, ", "));
    }
    const std::string_view number = equals < item.size() ? Trim(item.substr(equals + 1)) : "";
    const auto value = WholeNumber<double>(number);
    if (!value || !std::isfinite(*value) || *value < 0) {
      Fail(ErrorKind::kUsage, "invalid value '{}' for {}; give a number of 0 or more", number,
           name);
    }
    thresholds.Set(**found, *value);
  }
  return thresholds;
}

// What to do about the head of each graph, and whom to ask.

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

const SummaryRow* OfSteadyCalls(const AdviceInput& input, Measure measure) {
  return FindRow(input.summary, Phase::kSteady, measure);
}

// Of all steady calls: the idle time they leave the device, in % of the steps.
std::optional<double> ExposedShareOfStep(const AdviceInput& input) {
  const SummaryRow* head = OfSteadyCalls(input, Measure::kHead);
  if (head == nullptr || !head->exposed_sum || !head->share_of_step || head->spread.sum == 0) {
    return std::nullopt;
  }
  const double steps = static_cast<double>(head->spread.sum) / *head->share_of_step;
  return static_cast<double>(*head->exposed_sum) / steps * 100;
}

// Puts the advice in order of what is gained by it.
class Ranking : Adviser {
 public:
  Ranking(const AdviceInput& input, std::vector<AdviceRow>& rows)
      : Adviser(input, input.scopes[0], {}, rows) {
    knows_device_ = std::ranges::any_of(
        input.calls, [](const Call& call) { return call.IdleOf(Measure::kHead).has_value(); });
  }

  void Rank() {
    const auto hidden = ExposedShareOfStep(input_);
    const bool is_hidden = hidden && *hidden < Limit(kExposedStepShare);
    for (const AdviceRow& row : rows_) weight_of_rule_[row.rule] += Weight(row).value_or(0);
    if (!is_hidden) AddUnexplainedPart();
    for (AdviceRow& row : rows_) {
      const bool about_steady_calls = !row.is_compilation;
      row.severity = is_hidden && about_steady_calls ? Severity::kInfo : SeverityOf(row);
    }
    StableSort(rows_, std::greater(), [&](const AdviceRow& row) {
      return std::tuple{row.severity, weight_of_rule_.at(row.rule), Weight(row)};
    });
    if (is_hidden) AddHidden(*hidden);
  }

 private:
  // Without a device nothing is known but what the host took.
  MaybeNs Weight(const AdviceRow& row) const { return knows_device_ ? row.gain : row.cost; }
  MaybeNs Weight(const SummaryRow& row) const {
    return knows_device_ ? row.exposed_sum : MaybeNs(row.spread.sum);
  }

  // What could give back a part of the steps that matters is high, what costs the device nothing is
  // information.
  Severity SeverityOf(const AdviceRow& row) const {
    if (!row.gain) return Severity::kWarn;
    if (*row.gain == 0) return Severity::kInfo;
    const auto limit = static_cast<double>(input_.step_time) * Limit(kSegmentStepShare) / 100;
    const bool much =
        input_.step_time > 0 && static_cast<double>(weight_of_rule_.at(row.rule)) >= limit;
    return much ? Severity::kHigh : Severity::kWarn;
  }

  // The rules say nothing, or little, on the part with which most could be gained: then that is the
  // first thing to know.
  void AddUnexplainedPart() {
    TimeNs most = 0;
    for (const auto& [rule, weight] : weight_of_rule_) most = std::max(most, weight);
    const SummaryRow* unexplained = nullptr;
    for (const Measure part : kParts) {
      const SummaryRow* row = OfSteadyCalls(input_, part);
      if (row == nullptr) continue;
      TimeNs rest = Weight(*row).value_or(0);
      for (const AdviceRow& advice : rows_) {
        if (advice.part == NameOf(part)) rest -= Weight(advice).value_or(0);
      }
      if (rest <= most) continue;
      most = rest;
      unexplained = row;
    }
    if (unexplained == nullptr) return;
    const SummaryRow& head = *OfSteadyCalls(input_, Measure::kHead);
    const auto calls = head.spread.count;
    const MeasureInfo& part = InfoOf(unexplained->measure);
    const double share = static_cast<double>(most) / static_cast<double>(*Weight(head)) * 100;
    AdviceRow& row = Add<kUnexplainedPart>(
        share, {part.name, unexplained->spread.sum, knows_device_ ? MaybeNs(most) : std::nullopt},
        Translated(knows_device_ ? "the device waits" : "a head spends"),
        static_cast<double>(most) / 1e3 / static_cast<double>(calls), Translated(part.title));
    weight_of_rule_[row.rule] = most;
    row.owner = part.owner;
    row.calls = calls;
    if (!knows_device_) row.metric = "share_of_head_percent";
  }

  void AddHidden(double exposed) {
    Add<kHidden>(exposed, {}).severity = Severity::kInfo;
    const auto first_info = std::ranges::find_if(
        rows_, [](const AdviceRow& row) { return row.severity == Severity::kInfo; });
    std::rotate(first_info, rows_.end() - 1, rows_.end());
  }

  bool knows_device_ = false;
  // Over all graphs: a cause that many have comes before a larger one that only one has.
  std::map<std::string, TimeNs, std::less<>> weight_of_rule_;
};

}  // namespace

Adviser::Adviser(const AdviceInput& input, const Scope& scope, std::optional<Phase> phase,
                 std::vector<AdviceRow>& rows)
    : input_(input),
      scope_(scope),
      rows_(rows),
      calls_(CallsOf(input.calls, scope, phase)),
      steps_(static_cast<TimeNs>(StepsOf(calls_).size())) {}

AdviceRow& Adviser::Append(const Rule& rule, double value, const Loss& loss, std::string text) {
  AdviceRow& row = rows_.emplace_back();
  row.rule = rule.id;
  row.owner = rule.owner;
  row.text = std::move(text);
  row.scope = scope_.name;
  row.metric = rule.metric;
  row.value = value;
  row.threshold = Limit(rule.threshold);
  row.calls = static_cast<std::int64_t>(calls_.size());
  row.part = loss.part;
  row.cost = loss.cost;
  row.gain = loss.gain;
  if (loss.gain && steps_ > 0) row.exposed_per_step = *loss.gain / steps_;
  return row;
}

std::vector<AdviceRow> GiveAdvice(const AdviceInput& input) {
  std::vector<AdviceRow> rows;
  AdviseOnCapture(input, rows);
  std::span<const SummaryRow> summary = input.summary;
  std::span<const ChildRow> children = input.children;
  for (const Scope& scope : input.scopes) {
    const auto graph_summary = TakeScope(summary, scope.name);
    const auto graph_children = TakeScope(children, scope.name);
    if (&scope == &input.scopes.front()) continue;
    AdviseOnGraph(input, scope, graph_summary, graph_children, rows);
  }
  Ranking(input, rows).Rank();
  return rows;
}

}  // namespace mpa::head
