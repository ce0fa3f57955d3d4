// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/intervals.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

#include "mpa/model/device_tables.h"

namespace mpa {
namespace {

TEST(Union, JoinsWhatOverlapsOrTouches) {
  EXPECT_EQ(Union({{5, 9}, {1, 3}, {3, 4}, {6, 7}, {8, 12}}), (Intervals{{1, 4}, {5, 12}}));
}

TEST(Union, LeavesOutEmptyIntervals) {
  EXPECT_EQ(Union({{5, 5}, {7, 6}, {1, 2}}), (Intervals{{1, 2}}));
  EXPECT_EQ(Union(std::vector<Interval>{}), Intervals{});
}

TEST(Intersection, KeepsWhatBothHave) {
  EXPECT_EQ(Intersection({{0, 10}, {20, 30}}, {{5, 22}, {25, 26}}),
            (Intervals{{5, 10}, {20, 22}, {25, 26}}));
  EXPECT_EQ(Intersection({{0, 10}}, {{10, 20}}), Intervals{});
}

TEST(Difference, CutsHolesAndEnds) {
  EXPECT_EQ(Difference({{0, 10}, {20, 30}}, {{2, 3}, {5, 22}, {29, 40}}),
            (Intervals{{0, 2}, {3, 5}, {22, 29}}));
  EXPECT_EQ(Difference({{0, 10}}, {{0, 10}}), Intervals{});
}

TEST(Length, AddsUpAndStaysExactAtTodaysEpoch) {
  const TimeNs now = 1736412474721331650;
  EXPECT_EQ(Length({{now, now + 1}, {now + 5, now + 7}}), 3);
  EXPECT_EQ(Length({}), 0);
}

TEST(Covered, TakesTheRowsOfATable) {
  Kernels kernels;
  kernels.Append({.start = 10, .dur = 5});
  kernels.Append({.start = 0, .dur = 0});
  kernels.Append({.start = 12, .dur = 8});
  EXPECT_EQ(Covered(kernels), (Intervals{{10, 20}}));
}

// The same sets as one bit per nanosecond.
constexpr int kEnd = 64;
using Bits = std::bitset<kEnd>;

Bits BitsOf(const std::vector<Interval>& intervals) {
  Bits bits;
  for (const Interval& interval : intervals) {
    for (TimeNs t = interval.begin; t < interval.end; ++t) bits.set(static_cast<std::size_t>(t));
  }
  return bits;
}

bool IsOrderly(const Intervals& intervals) {
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].begin >= intervals[i].end) return false;
    if (i > 0 && intervals[i - 1].end > intervals[i].begin) return false;
  }
  return true;
}

std::vector<Interval> RandomIntervals(std::mt19937& random) {
  std::vector<Interval> intervals;
  for (auto left = random() % 9; left > 0; --left) {
    const auto begin = static_cast<TimeNs>(random() % kEnd);
    const auto length = static_cast<TimeNs>(random() % 12);
    intervals.push_back({begin, std::min<TimeNs>(begin + length, kEnd)});
  }
  return intervals;
}

class IntervalArithmetic : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, IntervalArithmetic, ::testing::Values(1u, 2u, 3u));

TEST_P(IntervalArithmetic, AgreesWithOneBitPerNanosecond) {
  std::mt19937 random(GetParam());
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const std::vector<Interval> raw_a = RandomIntervals(random);
    const std::vector<Interval> raw_b = RandomIntervals(random);
    const Bits bits_a = BitsOf(raw_a);
    const Bits bits_b = BitsOf(raw_b);
    const Intervals a = Union(raw_a);
    const Intervals b = Union(raw_b);
    ASSERT_EQ(BitsOf(a), bits_a);
    ASSERT_EQ(BitsOf(Union(a, b)), bits_a | bits_b);
    ASSERT_EQ(BitsOf(Intersection(a, b)), bits_a & bits_b);
    ASSERT_EQ(BitsOf(Difference(a, b)), bits_a & ~bits_b);
    ASSERT_EQ(Length(a), static_cast<TimeNs>(bits_a.count()));
    for (const Interval& window : raw_b) {
      ASSERT_EQ(LengthWithin(a, window), static_cast<TimeNs>((bits_a & BitsOf({window})).count()));
      ASSERT_EQ(Touches(a, window), (bits_a & BitsOf({window})).any());
    }
    for (TimeNs time = 0; time < kEnd; ++time) {
      ASSERT_EQ(Contains(a, time), bits_a[static_cast<std::size_t>(time)]) << time;
    }
    for (const Intervals& set : {a, Union(a, b), Intersection(a, b), Difference(a, b)}) {
      ASSERT_TRUE(IsOrderly(set)) << "repeat " << repeat;
    }
  }
}

}  // namespace
}  // namespace mpa
