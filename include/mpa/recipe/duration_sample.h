// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/base/time.h"
#include "mpa/report/member_columns.h"

namespace mpa {

/// Durations that a capture only sums up, in ns.
using DurationSums = Tally<TimeNs>;

/// Durations in ascending order, each with the times that it occurs: the samples of many ranks can
/// be put together, and take the less room the more of them are equal. Of some durations only the
/// sums may be known.
class DurationSample {
 public:
  DurationSample() = default;
  explicit DurationSample(std::vector<TimeNs> values);
  static DurationSample OfSums(const DurationSums& sums);

  void Merge(const DurationSample& other);
  const std::vector<std::pair<TimeNs, std::int64_t>>& Values() const { return values_; }
  /// Of the durations that are not among Values().
  const DurationSums& SumsOfOthers() const { return sums_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(values_, sums_);
    Check();
  }

 private:
  // Throws Error (kCorrupt) for what no durations come to.
  void Check() const;

  std::vector<std::pair<TimeNs, std::int64_t>> values_;
  DurationSums sums_;
};

/// What a sample comes to, in ns.
struct DurationStats : DurationSums {
  double mean = 0;
  std::optional<double> deviation;  ///< of a sample (n - 1); empty for one value
  /// Between two values on the straight line, not rounded. As the deviation they are unknown where
  /// only sums are known of some durations.
  std::optional<double> q1, median, q3;
};

/// All zero for an empty sample.
DurationStats StatsOf(const DurationSample& sample);

/// The columns Count, MeanNs, StdNs, MinNs, Q1Ns, MedianNs, Q3Ns, MaxNs, SumNs of items with a
/// member `stats`.
template <typename Item>
SheetColumns<Item> StatsColumns() {
  using Stats = DurationStats;
  constexpr auto kStats = &Item::stats;
  constexpr Format kReal = Format::kDecimals2;
  return {CountColumn<kStats, &Stats::count>("Count", 14, "Number of durations."),
          NumberColumn<kStats, &Stats::mean>("MeanNs", kReal, 14, "Mean duration, in ns."),
          NumberColumn<kStats, &Stats::deviation>(
              "StdNs", kReal, 14, "Standard deviation of the sample, in ns; empty for one value."),
          CountColumn<kStats, &Stats::min>("MinNs", 14, "Shortest duration, in ns."),
          NumberColumn<kStats, &Stats::q1>("Q1Ns", kReal, 14,
                                           "First quartile of the durations, in ns."),
          NumberColumn<kStats, &Stats::median>("MedianNs", kReal, 14,
                                               "Median of the durations, in ns."),
          NumberColumn<kStats, &Stats::q3>("Q3Ns", kReal, 14,
                                           "Third quartile of the durations, in ns."),
          CountColumn<kStats, &Stats::max>("MaxNs", 14, "Longest duration, in ns."),
          CountColumn<kStats, &Stats::sum>("SumNs", 14, "Sum of the durations, in ns.")};
}

}  // namespace mpa
