// SPDX-License-Identifier: Apache-2.0
// How kernels use the L2 cache.
#include "mpa/measure/cache_hits.h"

#include <cmath>

namespace mpa {

CacheHits::CacheHits(const RankTrace& trace) : trace_(trace) {
  for (std::size_t i = 0; i < trace.counter_names.size(); ++i) {
    const std::string_view name = trace.strings.View(trace.counter_names[i]);
    if (name == kHitRate) rate_ = i;
    if (name.ends_with("_cache_hit")) hits_.push_back(i);
    if (name.ends_with("_cache_miss_allocate")) misses_.push_back(i);
  }
}

std::optional<double> CacheHits::Of(std::size_t kernel) const {
  if (kernel >= trace_.kernel_loads.Size()) return std::nullopt;
  const std::vector<double>& counters = trace_.kernel_loads.counters[kernel];
  const auto value = [&](std::size_t place) {
    return place < counters.size() ? counters[place] : NAN;
  };
  if (rate_ && std::isfinite(value(*rate_))) return value(*rate_);
  // A kernel has the counts of the cores that it ran on.
  const auto sum = [&](const std::vector<std::size_t>& places) {
    double all = 0;
    for (const std::size_t place : places) {
      if (std::isfinite(value(place))) all += value(place);
    }
    return all;
  };
  if (hits_.empty() || misses_.empty()) return std::nullopt;
  const double hits = sum(hits_), requests = hits + sum(misses_);
  if (requests <= 0) return std::nullopt;
  return hits / requests;
}

}  // namespace mpa
