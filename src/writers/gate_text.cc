// SPDX-License-Identifier: Apache-2.0
// A gate on the screen.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

constexpr std::size_t kShownParts = 10;

// How far the metric is from where the row of baselines began.
std::string SinceOldest(const GateMetric& metric, std::int64_t anchor) {
  const std::int64_t change = metric.comparison - anchor;
  const std::string far = anchor != 0
                              ? fmt::format("{:+.1f} %", 100.0 * static_cast<double>(change) /
                                                             static_cast<double>(anchor))
                              : AmountText(metric.quantity, change);
  return Say("since the oldest baseline, {}: {}", AmountText(metric.quantity, anchor), far);
}

// What the headline says is not said again. What did not pass comes first.
void AddMetrics(const GateReport& report, std::vector<std::string>& lines) {
  const GateMetric* leading = report.Leading();
  std::vector<const GateMetric*> metrics;
  for (const GateMetric& metric : report.metrics) metrics.push_back(&metric);
  std::stable_partition(metrics.begin(), metrics.end(), [&](const GateMetric* metric) {
    return metric == leading || metric->verdict != GateVerdict::kOk;
  });
  for (const GateMetric* each : metrics) {
    const GateMetric& metric = *each;
    // The lines of what could not be judged and the headline of new operators have the reason.
    const bool has_reason = !metric.reason.empty() &&
                            metric.verdict != GateVerdict::kInconclusive &&
                            metric.verdict != GateVerdict::kUndecided &&
                            !(&metric == leading && metric.quantity == Quantity::kCount);
    if (&metric != leading) {
      lines.push_back(fmt::format("  {}{}", metric.line, has_reason ? ": " + metric.reason : ""));
    } else if (has_reason) {
      lines.push_back("  " + metric.reason);
    }
    if (metric.drift) {
      lines.push_back((&metric == leading ? "  " : "    ") + DriftText(*metric.drift));
    }
    if (metric.anchor) lines.push_back("    " + SinceOldest(metric, *metric.anchor));
  }
}

// The verdict, and what a short one leaves out unless it is listed below.
void AddHeadline(const GateReport& report, bool brief, std::vector<std::string>& lines) {
  lines.push_back(brief ? report.short_headline : report.headline);
  const GateMetric* leading = report.Leading();
  const bool judged =
      report.verdict == GateVerdict::kRegression || report.verdict == GateVerdict::kImproved;
  if (judged && leading != nullptr && !report.headline.starts_with(leading->line)) {
    lines.push_back("  " + leading->line);
    return;
  }
  if (judged && leading != nullptr && leading->name == report.change.name) return;
  const std::string_view all = report.headline, first = lines.back();
  if (all.size() == first.size() || !all.starts_with(first)) return;
  const std::string_view rest = all.substr(first.size());
  lines.push_back(fmt::format("  {}", rest.substr(rest.find_first_not_of(":;, "))));
}

// What the metric is made of, as compare shows it.
void AddChange(const ChangeNode& change, const std::string& title, std::size_t width,
               std::vector<std::string>& lines) {
  TimeNs largest = std::abs(change.Change());
  for (const ChangeNode& part : CategoriesOf(change)) {
    if (!part.is_noise) largest = std::max(largest, std::abs(part.Change()));
  }
  const AmountScale scale(Quantity::kTime, largest);
  const std::vector<ChangeLine> summary = SummariseChange(change, scale);
  if (summary.empty()) return;
  lines.push_back(title);
  constexpr std::size_t kIndent = 2;
  for (const std::string& line : ChangeLines(summary, scale, width - kIndent)) {
    lines.push_back("  " + line);
  }
}

void AddParts(const std::string& title, const std::vector<ChangeNode>& parts,
              std::vector<std::string>& lines) {
  std::int64_t largest = 0;
  for (const ChangeNode& part : parts) {
    if (!part.is_noise) largest = std::max(largest, std::abs(part.Change()));
  }
  if (largest == 0) return;
  const AmountScale scale(Quantity::kTime, largest);
  lines.emplace_back(title);
  std::int64_t folded = 0;
  std::size_t count = 0;
  const auto add_folded = [&] {
    if (const std::int64_t rounded = scale.Rounded(std::exchange(folded, 0)); rounded != 0) {
      const std::string_view form =
          count == 1 ? "  {:>10} {} in {} smaller change" : "  {:>10} {} in {} smaller changes";
      lines.push_back(
          fmt::format(fmt::runtime(Translated(form)), scale.Signed(rounded), scale.unit(), count));
    }
    count = 0;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ChangeNode& part = parts[i];
    if (part.is_noise || i >= kShownParts) {
      folded += part.Change();
      ++count;
      continue;
    }
    std::string name(Translated(part.name));
    if (part.base_count != part.comparison_count)
      name = Say("{} ({} calls instead of {})", name, part.comparison_count, part.base_count);
    lines.push_back(fmt::format("  {:>10} {} {}", scale.Signed(scale.Rounded(part.Change())),
                                scale.unit(), name));
  }
  add_folded();
}

void AddNames(std::string_view title, const std::vector<std::string>& names,
              std::vector<std::string>& lines) {
  if (names.empty()) return;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), kShownParts));
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > kShownParts) text = Say("{} and {} more", text, names.size() - kShownParts);
  lines.push_back(fmt::format("{}: {}", title, text));
}

}  // namespace

std::vector<std::string> FormatGateText(const GateReport& report, bool brief, std::size_t width) {
  std::vector<std::string> lines;
  AddHeadline(report, brief, lines);
  if (report.partial) {
    lines.emplace_back(
        Translated("judged on partial data: parts of the input were broken and left out"));
  }
  const bool low = std::ranges::any_of(
      report.metrics, [](const GateMetric& metric) { return metric.low_confidence; });
  if (low) {
    lines.emplace_back(Translated(
        "low confidence: three runs a side or more (-d and -bp given three times each) distinguish"
        " chance from change"));
  }
  if (report.warmup) lines.push_back(WarmupText(*report.warmup));
  if (!report.hint.empty()) lines.push_back(report.hint);
  for (const GateMismatch& mismatch : report.mismatches) {
    if (!mismatch.allowed) continue;
    lines.push_back(
        Say("allowed to differ: {} ({} / {})", mismatch.field, mismatch.base, mismatch.comparison));
  }
  AddMetrics(report, lines);
  if (std::string settings = SettingsLine(report.settings); !settings.empty())
    lines.push_back(std::move(settings));
  const bool of_job = !report.causes.children.empty();
  AddChange(report.causes, Say("what changed it, over all ranks:"), width, lines);
  const std::string_view name = Translated(report.change.name);
  AddChange(report.change,
            of_job ? Say("what the difference of {} is made of on the rank that decides:", name)
                   : Say("what the difference of {} is made of:", name),
            width, lines);
  AddParts(Say("on the host while free time grew:"), report.host_calls, lines);
  // The device time explains no other quantity.
  if (const GateMetric* leading = report.Leading();
      leading != nullptr && leading->quantity == Quantity::kTime) {
    AddParts(Say("device time by operator that launched it:"), report.operators, lines);
  }
  AddNames(Translated("only in the comparison"), report.added, lines);
  AddNames(Translated("only in the base"), report.removed, lines);
  return lines;
}

}  // namespace mpa
