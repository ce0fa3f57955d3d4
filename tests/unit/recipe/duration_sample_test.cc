// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/duration_sample.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

// 1, 2, 3, 4, 10: mean 4, squares of the distances 9 + 4 + 1 + 0 + 36 = 50, 50 / 4 = 12.5.
TEST(DurationSample, HasTheUsualStatistics) {
  const DurationStats stats = StatsOf(DurationSample({10, 3, 1, 4, 2}));
  EXPECT_EQ(stats.count, 5);
  EXPECT_EQ(stats.sum, 20);
  EXPECT_EQ(stats.min, 1);
  EXPECT_EQ(stats.max, 10);
  EXPECT_DOUBLE_EQ(stats.mean, 4);
  EXPECT_DOUBLE_EQ(stats.deviation.value(), 3.5355339059327378);
  EXPECT_DOUBLE_EQ(stats.q1.value(), 2);
  EXPECT_DOUBLE_EQ(stats.median.value(), 3);
  EXPECT_DOUBLE_EQ(stats.q3.value(), 4);
}

// Positions 0.75, 1.5 and 2.25 of 0, 10, 20, 100.
TEST(DurationSample, QuartilesLieBetweenTheirNeighbours) {
  const DurationStats stats = StatsOf(DurationSample({0, 10, 20, 100}));
  EXPECT_DOUBLE_EQ(stats.q1.value(), 7.5);
  EXPECT_DOUBLE_EQ(stats.median.value(), 15);
  EXPECT_DOUBLE_EQ(stats.q3.value(), 40);
}

TEST(DurationSample, OneValueHasNoDeviation) {
  const DurationStats stats = StatsOf(DurationSample({7}));
  EXPECT_FALSE(stats.deviation.has_value());
  EXPECT_DOUBLE_EQ(stats.q3.value(), 7);
  EXPECT_EQ(StatsOf(DurationSample()).count, 0);
}

TEST(DurationSample, MergedSamplesAreThatOfAllValues) {
  DurationSample merged({5, 1, 5});
  merged.Merge(DurationSample({0, 5, 9}));
  EXPECT_EQ(merged.Values(), DurationSample({0, 1, 5, 5, 5, 9}).Values());
  EXPECT_DOUBLE_EQ(StatsOf(merged).q1.value(), 2);  // position 1.25 between 1 and 5
}

// Quartiles and deviation of the others say nothing about all.
TEST(DurationSample, SumsHaveNoQuartiles) {
  DurationSample sample({2, 4});
  sample.Merge(DurationSample::OfSums({.count = 3, .sum = 24, .min = 1, .max = 20}));
  const DurationStats stats = StatsOf(sample);
  EXPECT_EQ(stats.count, 5);
  EXPECT_EQ(stats.sum, 30);
  EXPECT_EQ(stats.min, 1);
  EXPECT_EQ(stats.max, 20);
  EXPECT_DOUBLE_EQ(stats.mean, 6);
  for (const auto& unknown : {stats.deviation, stats.q1, stats.median, stats.q3})
    EXPECT_FALSE(unknown.has_value());
}

}  // namespace
}  // namespace mpa
