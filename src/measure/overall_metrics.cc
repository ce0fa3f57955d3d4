// SPDX-License-Identifier: Apache-2.0
// Sums over the parts of the overall picture.
#include "mpa/measure/overall_metrics.h"

#include <algorithm>

namespace mpa {

TimeNs OverallMetrics::Mc2Time() const {
  TimeNs time = 0;
  for (const Mc2Kernel& kernel : mc2) time += kernel.total.time;
  return time;
}

TimeNs OverallMetrics::Wait() const {
  TimeNs time = 0;
  for (const GroupTime& group : groups) time += group.wait;
  return time;
}

TimeNs OverallMetrics::GroupOverlapTime() const {
  TimeNs time = 0;
  for (const GroupOverlap& overlap : group_overlaps) time += overlap.time;
  return time;
}

std::int64_t OverallMetrics::KernelCount() const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < kCategories; ++i) count += categories[i].count;
  return count - Of(Category::kMc2).count - Of(Category::kNone).count;
}

TimeNs OverallMetrics::Other() const {
  TimeNs known = 0;
  for (std::size_t i = 0; i < kCategories; ++i) known += categories[i].time;
  return std::max<TimeNs>(0, computing - (known - Of(Category::kNone).time));
}

}  // namespace mpa
