// SPDX-License-Identifier: Apache-2.0
#include "advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"

namespace mpa::head {

namespace {

constexpr std::pair<std::string_view, double Thresholds::*> kThresholds[] = {
    {"segment_share", &Thresholds::segment_share},
    {"segment_step_share", &Thresholds::segment_step_share},
    {"exposed_step_share", &Thresholds::exposed_step_share},
    {"lookup_us", &Thresholds::lookup_us},
    {"calls_per_region", &Thresholds::calls_per_region},
    {"built_tensors", &Thresholds::built_tensors},
    {"built_us", &Thresholds::built_us},
    {"contiguous_us", &Thresholds::contiguous_us},
    {"outlier_ratio", &Thresholds::outlier_ratio},
};

}  // namespace

std::string SetThresholds(std::string_view text, Thresholds& thresholds) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string_view item = Trim(text.substr(from, comma - from));
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = Trim(item.substr(0, equals));
    const auto* const found =
        std::ranges::find_if(kThresholds, [&](const auto& known) { return known.first == name; });
    if (found == std::end(kThresholds)) {
      std::vector<std::string_view> names;
      for (const auto& known : kThresholds) names.push_back(known.first);
      return fmt::format("unknown threshold '{}'; available: {}", name, fmt::join(names, ", "));
    }
    const std::string_view number = equals < item.size() ? Trim(item.substr(equals + 1)) : "";
    const auto value = WholeNumber<double>(number);
    if (!value || !std::isfinite(*value) || *value < 0) {
      return fmt::format("invalid value '{}' for {}; give a number of 0 or more", number, name);
    }
    thresholds.*found->second = *value;
    from = comma + 1;
  }
  return "";
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
class Ranking {
 public:
  Ranking(const AdviceInput& input, std::vector<AdviceRow>& rows) : input_(input), rows_(rows) {
    knows_device_ = std::ranges::any_of(
        input.calls, [](const Call& call) { return call.IdleOf(Measure::kHead).has_value(); });
  }

  void Rank() {
    const auto hidden = ExposedShareOfStep(input_);
    const bool is_hidden = hidden && *hidden < input_.thresholds.exposed_step_share;
    for (const AdviceRow& row : rows_) weight_of_rule_[row.rule] += Weight(row).value_or(0);
    if (!is_hidden) AddUnexplainedPart();
    for (AdviceRow& row : rows_) {
      const bool about_steady_calls = !row.is_compilation;
      row.severity = is_hidden && about_steady_calls ? Severity::kInfo : SeverityOf(row);
    }
    StableSort(rows_, [&](const AdviceRow& a, const AdviceRow& b) {
      return std::tuple{a.severity, weight_of_rule_.at(a.rule), Weight(a)} >
             std::tuple{b.severity, weight_of_rule_.at(b.rule), Weight(b)};
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
    const auto limit =
        static_cast<double>(input_.step_time) * input_.thresholds.segment_step_share / 100;
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
    weight_of_rule_["unexplained_part"] = most;
    const SummaryRow& head = *OfSteadyCalls(input_, Measure::kHead);
    const auto calls = head.spread.count;
    const MeasureInfo& part = InfoOf(unexplained->measure);
    AdviceRow& row = AddAdvice(
        "unexplained_part", part.owner,
        fmt::format("{} {:.1f} us a call in {}, and no rule names the cause: HEAD_CHILD shows what"
                    " fills this part",
                    knows_device_ ? "the device waits" : "a head spends",
                    static_cast<double>(most) / 1e3 / static_cast<double>(calls), part.title),
        knows_device_ ? "share_of_device_idle_percent" : "share_of_head_percent",
        static_cast<double>(most) / static_cast<double>(*Weight(head)) * 100, 0,
        static_cast<std::size_t>(calls), rows_);
    row.part = part.name;
    row.cost = unexplained->spread.sum;
    if (!knows_device_) return;
    row.gain = most;
    row.exposed_per_step = PerStep(input_, most);
  }

  void AddHidden(double exposed) {
    AddAdvice("hidden", "nobody", "device work hides the head overhead; it is not the bottleneck",
              "exposed_share_of_step_percent", exposed, input_.thresholds.exposed_step_share,
              input_.scopes[0].calls.size(), rows_)
        .severity = Severity::kInfo;
    const auto first_info = std::ranges::find_if(
        rows_, [](const AdviceRow& row) { return row.severity == Severity::kInfo; });
    std::rotate(first_info, rows_.end() - 1, rows_.end());
  }

  const AdviceInput& input_;
  std::vector<AdviceRow>& rows_;
  bool knows_device_ = false;
  // Over all graphs: a cause that many have comes before a larger one that only one has.
  std::map<std::string, TimeNs, std::less<>> weight_of_rule_;
};

}  // namespace

AdviceRow& AddAdvice(std::string_view rule, std::string_view owner, std::string text,
                     std::string_view metric, double value, double threshold, std::size_t calls,
                     std::vector<AdviceRow>& rows) {
  AdviceRow& row = rows.emplace_back();
  row.rule = rule;
  row.owner = owner;
  row.text = std::move(text);
  row.metric = metric;
  row.value = value;
  row.threshold = threshold;
  row.calls = static_cast<std::int64_t>(calls);
  return row;
}

MaybeNs PerStep(const AdviceInput& input, TimeNs sum) {
  std::set<std::pair<std::int32_t, std::int32_t>> steps;  // by thread
  for (const Call& call : input.calls) {
    if (call.Counts() && call.step >= 0) steps.emplace(call.track, call.step);
  }
  return steps.empty() ? std::nullopt : MaybeNs(sum / static_cast<TimeNs>(steps.size()));
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
