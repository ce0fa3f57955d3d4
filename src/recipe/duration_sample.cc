// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/duration_sample.h"

#include <algorithm>
#include <cmath>

#include "mpa/base/error.h"

namespace mpa {
namespace {

using Values = std::vector<std::pair<TimeNs, std::int64_t>>;

constexpr TimeNs kLargestSum = TimeNs{1} << 55;  // a year

// The value at position `quarters` / 4 x (count - 1), from 0, on the line between its neighbours.
double Quartile(const Values& values, std::int64_t count, std::int64_t quarters) {
  const std::int64_t place = quarters * (count - 1);
  const std::int64_t whole = place / 4;
  std::int64_t passed = 0;
  for (auto at = values.begin(); at != values.end(); ++at) {
    passed += at->second;
    if (passed <= whole) continue;
    const TimeNs next = passed > whole + 1 || at + 1 == values.end() ? at->first : (at + 1)->first;
    return static_cast<double>(at->first) +
           static_cast<double>(next - at->first) * static_cast<double>(place % 4) / 4;
  }
  return 0;
}

}  // namespace

DurationSample::DurationSample(std::vector<TimeNs> values) {
  std::ranges::sort(values);
  for (const TimeNs value : values) {
    if (values_.empty() || values_.back().first != value) values_.emplace_back(value, 0);
    ++values_.back().second;
  }
}

DurationSample DurationSample::OfSums(const DurationSums& sums) {
  DurationSample sample;
  sample.sums_ = sums;
  return sample;
}

void DurationSample::Merge(const DurationSample& other) {
  std::vector<std::pair<TimeNs, std::int64_t>> merged;
  merged.reserve(values_.size() + other.values_.size());
  auto a = values_.begin();
  for (const auto& value : other.values_) {
    while (a != values_.end() && a->first < value.first) merged.push_back(*a++);
    merged.push_back(value);
    if (a != values_.end() && a->first == value.first) merged.back().second += (a++)->second;
  }
  merged.insert(merged.end(), a, values_.end());
  values_ = std::move(merged);
  sums_.Add(other.sums_);
}

void DurationSample::Check() const {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // durations in a capture
  bool holds =
      sums_.count >= 0 && sums_.count < kMost && sums_.sum >= 0 && sums_.min >= 0 && sums_.max >= 0;
  // Any sum of them is a number.
  long double sum = static_cast<long double>(sums_.sum);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto& [value, times] = values_[i];
    holds = holds && IsDuration(value) && times > 0 && times < kMost &&
            (i == 0 || values_[i - 1].first < value);
    sum += static_cast<long double>(value) * static_cast<long double>(times);
  }
  if (!holds || sum > static_cast<long double>(kLargestSum))
    Fail(ErrorKind::kCorrupt, "the part holds invalid durations");
}

DurationStats StatsOf(const DurationSample& sample) {
  DurationStats stats;
  const Values& values = sample.Values();
  for (const auto& [value, times] : values) {
    stats.Add({.count = times, .sum = value * times, .min = value, .max = value});
  }
  stats.Add(sample.SumsOfOthers());
  if (stats.count == 0) return stats;
  const long double mean = static_cast<long double>(stats.sum) / stats.count;
  stats.mean = static_cast<double>(mean);
  if (sample.SumsOfOthers().count > 0) return stats;
  long double squares = 0;
  for (const auto& [value, times] : values) {
    const long double distance = static_cast<long double>(value) - mean;
    squares += distance * distance * static_cast<long double>(times);
  }
  if (stats.count > 1) {
    stats.deviation = static_cast<double>(std::sqrt(squares / (stats.count - 1)));
  }
  stats.q1 = Quartile(values, stats.count, 1);
  stats.median = Quartile(values, stats.count, 2);
  stats.q3 = Quartile(values, stats.count, 3);
  return stats;
}

}  // namespace mpa
