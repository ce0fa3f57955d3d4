// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/report/member_columns.h"

namespace mpa {

/// Durations in ascending order, each with the times that it occurs: the samples of many ranks can
/// be put together, and take the less room the more of them are equal.
class DurationSample {
 public:
  DurationSample() = default;
  explicit DurationSample(std::vector<TimeNs> values);

  void Merge(const DurationSample& other);
  const std::vector<std::pair<TimeNs, std::int64_t>>& Values() const { return values_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(values_);
  }

 private:
  std::vector<std::pair<TimeNs, std::int64_t>> values_;
};

/// What a sample comes to, in ns.
struct DurationStats {
  std::int64_t count = 0;
  double mean = 0;
  std::optional<double> deviation;  ///< of a sample (n - 1); empty for one value
  TimeNs min = 0, max = 0, sum = 0;
  double q1 = 0, median = 0, q3 = 0;  ///< between two values on the straight line, not rounded
};

/// All zero for an empty sample.
DurationStats StatsOf(const DurationSample& sample);

/// The columns Count, MeanNs, StdNs, MinNs, Q1Ns, MedianNs, Q3Ns, MaxNs, SumNs of items with a
/// member `stats`.
template <typename Item>
void AddStatsColumns(std::vector<ColumnOf<Item>>& columns) {
  using Stats = DurationStats;
  const auto add = [&](const char* name, Format format, const char* meaning,
                       Cell (*cell)(const Item&)) {
    columns.push_back({NamedColumn(name, format, 14, meaning), cell});
  };
  add("Count", Format::kInteger, "How many there are.", Member<&Item::stats, &Stats::count>);
  add("MeanNs", Format::kDecimals2, "Mean duration, in ns.", Member<&Item::stats, &Stats::mean>);
  add("StdNs", Format::kDecimals2, "Standard deviation of the sample, in ns; empty for one value.",
      Member<&Item::stats, &Stats::deviation>);
  add("MinNs", Format::kInteger, "Shortest duration, in ns.", Member<&Item::stats, &Stats::min>);
  add("Q1Ns", Format::kDecimals2, "First quartile, in ns.", Member<&Item::stats, &Stats::q1>);
  add("MedianNs", Format::kDecimals2, "Median, in ns.", Member<&Item::stats, &Stats::median>);
  add("Q3Ns", Format::kDecimals2, "Third quartile, in ns.", Member<&Item::stats, &Stats::q3>);
  add("MaxNs", Format::kInteger, "Longest duration, in ns.", Member<&Item::stats, &Stats::max>);
  add("SumNs", Format::kInteger, "Sum of the durations, in ns.", Member<&Item::stats, &Stats::sum>);
}

}  // namespace mpa
