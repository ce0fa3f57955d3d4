// SPDX-License-Identifier: Apache-2.0
#include "raw/clock.h"

#include <gtest/gtest.h>

namespace mpa::raw {
namespace {

// The worked example of the description of the format.
Clock Example() {
  return {.host_hertz = 100'000'000,
          .device_hertz = 50'000'000,
          .host_count = 1'000'000'000'000,
          .monotonic = 10'000'000'000'000,
          .device_count = 500'000'000'000,
          .offset = 1'735'689'600'000'000'000 - 10'000'000'000'000};
}

TEST(Clock, ConvertsCountersOfHostAndDevice) {
  EXPECT_EQ(Example().HostNs(1'000'000'100'000), 1'735'689'600'001'000'000);
  EXPECT_EQ(Example().DeviceNs(500'000'060'000), 1'735'689'600'001'200'000);
}

TEST(Clock, HostStampsAreNanosecondsWithoutFrequency) {
  Clock clock = Example();
  clock.host_hertz = 0;
  EXPECT_EQ(clock.HostNs(10'000'000'000'123), 1'735'689'600'000'000'123);
}

TEST(Clock, RoundsDownTheExactValueOfAFractionalTick) {
  Clock clock = Example();
  clock.device_hertz = HertzFromMegahertz("49.999001");
  ASSERT_EQ(clock.device_hertz, 49'999'001);
  // 1000 / 49.999001 = 20.000399...; a million ticks are 20000399.608 ns.
  EXPECT_EQ(clock.DeviceNs(500'001'000'000), 1'735'689'600'020'000'399);
  EXPECT_EQ(clock.DeviceNs(499'999'000'000), 1'735'689'599'979'999'600);
  EXPECT_NEAR(clock.DeviceDuration(1, 1'000'001), 20'000'399.608, 0.001);
}

TEST(Clock, CountsThatAreNonsenseStayInRange) {
  const Clock clock = Example();
  const TimeNs highest = clock.DeviceNs(~std::uint64_t{0});
  EXPECT_GT(highest, 0);
  EXPECT_LT(highest - clock.DeviceNs(0), INT64_MAX);
  EXPECT_EQ(HertzFromMegahertz("-3"), 0);
  EXPECT_EQ(HertzFromMegahertz(""), 0);
}

TEST(FrameworkClock, ConvertsTicksAndNanoseconds) {
  const FrameworkClock ticks{
      .counter = true, .hertz = 100'000'000, .count = 1000, .monotonic = 50, .offset = 7'000};
  EXPECT_EQ(ticks.Ns(1001), 7'060);
  const FrameworkClock ns{.counter = false, .hertz = 100'000'000, .offset = 7'000};
  EXPECT_EQ(ns.Ns(1001), 8'001);
}

}  // namespace
}  // namespace mpa::raw
