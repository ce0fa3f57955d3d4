// SPDX-License-Identifier: Apache-2.0
// The first line that people read.
#include "headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "mpa/base/utf8.h"
#include "mpa/gate/comparable.h"

namespace mpa::gate {
namespace {

const char* Word(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kOk:
      return "OK";
    case GateVerdict::kImproved:
      return "IMPROVED";
    case GateVerdict::kRegression:
      return "REGRESSION";
    case GateVerdict::kInconclusive:
      return "INCONCLUSIVE";
    case GateVerdict::kNotComparable:
      break;
  }
  return "NOT COMPARABLE";
}

std::string WithUnit(const std::string& number, std::string_view unit) {
  return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

std::string ChangeText(const GateMetric& metric, const AmountScale& scale) {
  if (const auto percent = metric.ChangePercent()) return fmt::format("{:+.1f} %", *percent);
  return WithUnit(scale.Signed(scale.Rounded(metric.Change())), scale.unit());
}

std::string NoiseText(const GateMetric& metric) {
  if (metric.base == 0) return AmountText(metric.quantity, std::llround(metric.noise));
  return fmt::format("{:.1f} %", 100 * metric.noise / std::abs(static_cast<double>(metric.base)));
}

// The beginning of the text that ends with a part of the sentence.
std::string Beginning(const std::string& text, std::size_t most) {
  if (CountCharacters(text) <= most) return text;
  std::size_t end = 0;
  for (const std::string_view mark : {": ", "; ", ", "}) {
    const std::size_t found = text.rfind(mark, most);
    if (found != std::string::npos && found > end) end = found;
  }
  return ShortenMiddle(end > 0 ? text.substr(0, end) : text, most);
}

}  // namespace

std::string MetricLine(const GateMetric& metric) {
  if (metric.verdict == GateVerdict::kInconclusive) {
    return fmt::format("{} {}: {}", Word(metric.verdict), metric.name, metric.reason);
  }
  const AmountScale scale(metric.quantity, std::max(metric.base, metric.comparison));
  std::string line =
      fmt::format("{} {} {} -> {} ({}", Word(metric.verdict), metric.name,
                  scale.Text(scale.Rounded(metric.base)),
                  WithUnit(scale.Text(scale.Rounded(metric.comparison)), scale.unit()),
                  ChangeText(metric, scale));
  if (!metric.limit.empty()) line += ", limit " + metric.limit;
  if (metric.quantity != Quantity::kCount) line += ", noise " + NoiseText(metric);
  return line + ")";
}

void SetHeadline(std::string text, GateReport& report) {
  report.headline = std::move(text);
  report.short_headline = Beginning(report.headline, kShortHeadline);
}

void SetHeadline(const GateMetric& metric, const ChangeNode& change, GateReport& report) {
  const AmountScale scale(metric.quantity, std::max(metric.base, metric.comparison));
  const std::int64_t rounded = scale.Rounded(metric.comparison) - scale.Rounded(metric.base);
  const auto line = [&](std::size_t width) {
    const std::size_t taken = CountCharacters(metric.line) + 2;
    const std::string causes =
        width > taken ? ChangeCauses(change, scale, rounded, width - taken) : "";
    return metric.line + (causes.empty() ? "" : ": " + causes);
  };
  report.headline = line(std::string::npos);
  report.short_headline = Beginning(line(kShortHeadline), kShortHeadline);
}

std::string MismatchLine(const std::vector<GateMismatch>& mismatches, std::size_t warmup) {
  std::string list, advice;
  for (const GateMismatch& mismatch : mismatches) {
    if (mismatch.allowed) continue;
    if (mismatch.field == "warmup") {
      // One of the sides is a baseline, which stays as it is.
      const bool base_is_given = mismatch.base == std::to_string(warmup);
      advice = "give --warmup " + (base_is_given ? mismatch.comparison : mismatch.base);
    } else {
      list += (list.empty() ? "" : ",") + mismatch.field;
    }
  }
  if (!list.empty()) {
    advice += fmt::format(
        "{}collect both sides alike, or say that it does not matter with --allow_mismatch {}",
        advice.empty() ? "" : "; ", list);
  }
  return fmt::format("{} {}: {}", Word(GateVerdict::kNotComparable), MismatchText(mismatches),
                     advice);
}

}  // namespace mpa::gate
