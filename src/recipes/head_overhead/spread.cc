// SPDX-License-Identifier: Apache-2.0
#include "spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mpa::head {
namespace {

// The value below which `part` of the sorted values lie, on the straight line between two of them.
TimeNs Percentile(const std::vector<TimeNs>& sorted, double part) {
  const double place = static_cast<double>(sorted.size() - 1) * part;
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const auto step = static_cast<double>(sorted[above] - sorted[below]);
  return sorted[below] + std::llround(step * (place - static_cast<double>(below)));
}

}  // namespace

std::optional<Spread> SpreadOf(std::vector<TimeNs> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<std::int64_t>(values.size());
  const TimeNs sum = std::accumulate(values.begin(), values.end(), TimeNs{0});
  const auto mean = std::llround(static_cast<double>(sum) / static_cast<double>(count));
  return Spread{.count = count,
                .sum = sum,
                .max = values.back(),
                .mean = mean,
                .p50 = Percentile(values, 0.5),
                .p90 = Percentile(values, 0.9)};
}

}  // namespace mpa::head
