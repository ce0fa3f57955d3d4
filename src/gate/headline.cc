// SPDX-License-Identifier: Apache-2.0
// The first line that people read.
#include "headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

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

// Causes that are a good part of the largest one are named, others are one sum.
std::string Causes(const GateMetric& metric, const AmountScale& scale,
                   const std::vector<GatePart>& parts) {
  constexpr std::size_t kMostNamed = 3;
  constexpr std::int64_t kPartOfLargest = 10;
  std::string text;
  const auto add = [&](std::int64_t rounded, std::string_view name) {
    text += fmt::format("{}{} {}", text.empty() ? ": " : ", ",
                        WithUnit(scale.Signed(rounded), scale.unit()), name);
  };
  std::int64_t rest = scale.Rounded(metric.comparison) - scale.Rounded(metric.base);
  std::size_t named = 0;
  std::int64_t largest = 0;
  for (const GatePart& part : parts) {
    if (part.kind == "remainder" || named == kMostNamed) continue;
    const std::int64_t rounded = scale.Rounded(part.Change());
    largest = std::max(largest, std::abs(rounded));
    if (rounded == 0 || std::abs(rounded) * kPartOfLargest < largest) continue;
    add(rounded, part.name);
    rest -= rounded;
    ++named;
  }
  if (rest != 0 && named > 0) add(rest, "other");
  return text;
}

}  // namespace

std::string MetricLine(const GateMetric& metric, const std::vector<GatePart>& parts) {
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
  return line + ")" + Causes(metric, scale, parts);
}

std::string MismatchLine(const std::vector<GateMismatch>& mismatches) {
  std::string list;
  for (const GateMismatch& mismatch : mismatches) {
    if (mismatch.allowed) continue;
    list += (list.empty() ? "" : ",") + mismatch.field;
  }
  return fmt::format(
      "{} {}: collect both sides alike, or say that it does not matter with --allow_mismatch {}",
      Word(GateVerdict::kNotComparable), MismatchText(mismatches), list);
}

}  // namespace mpa::gate
