// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/metric_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "mpa/base/rank_names.h"

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

std::string MetricText(const Metric& metric, Language language) {
  const std::string_view form = metric.info->form.In(language);
  const std::string value = ValueText(metric);
  if (metric.info == &kCallsPerStep && value == "0") return "";
  return form.empty() ? "" : fmt::format(fmt::runtime(form), value);
}

std::string RanksText(const std::vector<std::int64_t>& ranks, Language language) {
  const bool chinese = language == Language::kChinese;
  if (std::ranges::any_of(ranks, [](std::int64_t rank) { return rank < 0; }))
    return chinese ? "编号未知的卡" : "rank unknown";
  // More than four runs of ranks do not fit into a line.
  constexpr std::size_t kMaxRuns = 4;
  std::vector<std::int64_t> sorted = ranks;
  std::ranges::sort(sorted);
  std::string text;
  std::size_t runs = 0, next = 0;
  while (next < sorted.size() && runs++ < kMaxRuns) {
    std::size_t last = next;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1 &&
           IsRankNumber(sorted[last + 1])) {
      ++last;
    }
    text += text.empty() ? "" : ", ";
    text += last == next
                ? RankName(sorted[next])
                : fmt::format("{}{}{}", sorted[next], last == next + 1 ? ", " : "-", sorted[last]);
    next = last + 1;
  }
  if (next < sorted.size()) {
    text += fmt::format(fmt::runtime(chinese ? " 等 {} 卡" : " and {} more"),
                        chinese ? sorted.size() : sorted.size() - next);
  }
  return fmt::format("{} {}", sorted.size() == 1 || chinese ? "rank" : "ranks", text);
}

std::string CulpritsText(const FoundCause& finding, Language language) {
  const bool chinese = language == Language::kChinese;
  if (!finding.absent) return RanksText(finding.ranks, language);
  if (finding.ranks.empty()) return finding.absent->UnknownRank(chinese);
  return fmt::format(fmt::runtime(chinese ? "{}（{}）" : "{} ({})"),
                     RanksText(finding.ranks, language),
                     finding.absent->Text(finding.ranks, chinese));
}

}  // namespace mpa
