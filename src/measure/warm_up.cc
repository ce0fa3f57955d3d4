// SPDX-License-Identifier: Apache-2.0
// Whether the first step counts.
#include "mpa/measure/warm_up.h"

#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

double MedianOfOthers(const std::vector<TimeNs>& all) {
  return static_cast<double>(Median(std::vector<TimeNs>(all.begin() + 1, all.end())));
}

}  // namespace

bool FirstStepIsWarmUp(const std::vector<TimeNs>& lengths, const std::vector<TimeNs>& compiling,
                       std::size_t ranks, const WarmUpLimits& limits) {
  if (lengths.size() < 3) return false;
  const double usual = MedianOfOthers(lengths), length = static_cast<double>(lengths[0]);
  if (usual > 0 && length > limits.ratio * usual) return true;
  const double first = static_cast<double>(compiling[0]);
  return first > 0 && first >= limits.compiling * length * static_cast<double>(ranks) &&
         MedianOfOthers(compiling) <= limits.rest * first;
}

}  // namespace mpa
