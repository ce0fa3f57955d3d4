// SPDX-License-Identifier: Apache-2.0
#include "spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mpa/measure/quantiles.h"

namespace mpa::head {
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
                .p50 = Percentile(values, 50),
                .p90 = Percentile(values, 90)};
}

}  // namespace mpa::head
