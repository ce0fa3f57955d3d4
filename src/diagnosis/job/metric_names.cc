// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/metric_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "mpa/base/rank.h"

namespace mpa {
namespace {

std::string ValueText(const Metric& metric) {
  const std::string_view unit = metric.info->unit;
  if (unit == "ns") {
    const bool short_time = metric.value < 100'000;
    return fmt::format("{:.1f} {}", metric.value / (short_time ? 1e3 : 1e6),
                       short_time ? "us" : "ms");
  }
  if (unit == "share") return fmt::format("{:.0f} %", 100 * metric.value);
  if (unit == "bytes") {
    if (metric.value >= 1e9) return fmt::format("{:.1f} GB", metric.value / 1e9);
    const bool small = metric.value < 1e6;
    return fmt::format("{:.1f} {}", metric.value / (small ? 1e3 : 1e6), small ? "kB" : "MB");
  }
  if (unit == "ratio") return fmt::format("{:.2f}", metric.value);
  // Less than one a step is not none.
  if (unit == "count") {
    const bool is_part =
        metric.value < 10 && std::abs(metric.value - std::round(metric.value)) > 0.05;
    return fmt::format("{:.{}f}", metric.value, is_part ? 1 : 0);
  }
  return fmt::format("{:.1f} {}", metric.value, unit);
}

}  // namespace

std::string MetricText(const Metric& metric) {
  const std::string_view form = Translated(metric.info->form);
  const std::string value = ValueText(metric);
  if (metric.info == &kCallsPerStep && value == "0") return "";
  return form.empty() ? "" : fmt::format(fmt::runtime(form), value);
}

std::string CulpritsText(const Finding& finding) {
  return finding.absent ? finding.absent->Named(finding.ranks)
                        : RankList(finding.ranks).Text(RankList::kMostRuns);
}

}  // namespace mpa
