// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/amounts.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

TEST(Tally, HasCountSumAndExtremes) {
  Tally<TimeNs> tally;
  for (const TimeNs value : {7, 3, 8}) tally.AddOne(value);
  EXPECT_EQ(tally.count, 3);
  EXPECT_EQ(tally.sum, 18);
  EXPECT_EQ(tally.min, 3);
  EXPECT_EQ(tally.max, 8);
  EXPECT_EQ(tally.Mean(), 6.0);
}

TEST(Tally, OfNothingChangesNoOther) {
  Tally<double> tally;
  tally.Add({});
  EXPECT_EQ(tally.min, 0);
  tally.AddOne(-2.5);
  tally.Add({});
  EXPECT_EQ(tally.count, 1);
  EXPECT_EQ(tally.min, -2.5);
  EXPECT_EQ(tally.max, -2.5) << "the first value is the largest, too";
}

TEST(TrafficSum, HasARateWhereItTookTime) {
  Traffic traffic{2, 3'000'000, 0};
  EXPECT_EQ(traffic.GigabytesPerSecond(), 0.0);
  traffic.Add({1, 1'000'000, 2'000'000});
  EXPECT_EQ(traffic.count, 3);
  EXPECT_EQ(traffic.Megabytes(), 4.0);
  EXPECT_EQ(traffic.GigabytesPerSecond(), 2.0);  // 4 MB in 2 ms
}

}  // namespace
}  // namespace mpa
