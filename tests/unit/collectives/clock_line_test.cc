// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/clock_line.h"

#include <gtest/gtest.h>

#include <vector>

namespace mpa {
namespace {

constexpr TimeNs kSecond = 1'000'000'000;

// A clock that gains 50 us a second, and is 2 ms ahead at second 100.
constexpr ClockLine kGains{100 * kSecond, 2'000'000, 50e-6};

TEST(ClockLine, GainsWithTime) {
  EXPECT_EQ(kGains.Convert(100 * kSecond), 100 * kSecond - 2'000'000);
  EXPECT_EQ(kGains.Convert(110 * kSecond), 110 * kSecond - 2'500'000);
  EXPECT_EQ(kGains.Convert(90 * kSecond), 90 * kSecond - 1'500'000);
}

TEST(ClockLine, InverseLeadsBack) {
  const ClockLine back = kGains.Inverse();
  for (const TimeNs own : {0 * kSecond, 90 * kSecond, 100 * kSecond, 3600 * kSecond}) {
    EXPECT_NEAR(static_cast<double>(back.Convert(kGains.Convert(own)) - own), 0, 1);
  }
}

TEST(ClockLine, LinesFollowEachOther) {
  const ClockLine other{50 * kSecond, -7'000'000, -20e-6};
  const ClockLine both = kGains.Then(other);
  for (const TimeNs own : {0 * kSecond, 90 * kSecond, 100 * kSecond, 3600 * kSecond}) {
    EXPECT_NEAR(static_cast<double>(both.Convert(own) - other.Convert(kGains.Convert(own))), 0, 1);
  }
}

// `count` samples, one each `every`, of a difference of 1 ms that grows by `ppm`.
std::vector<ClockSample> Samples(TimeNs count, TimeNs every, TimeNs ppm) {
  std::vector<ClockSample> samples;
  for (TimeNs i = 0; i < count; ++i) {
    samples.push_back({i * every, 1'000'000 + i * every * ppm / 1'000'000});
  }
  return samples;
}

TEST(FitClockLine, FindsTheDrift) {
  const ClockFit fit = FitClockLine(Samples(20, kSecond / 4, 50));
  EXPECT_NEAR(fit.line.drift, 50e-6, 1e-9);
  EXPECT_EQ(fit.line.Convert(4 * kSecond), 4 * kSecond - 1'200'000);
  EXPECT_LE(fit.sigma, 1);
}

TEST(FitClockLine, AQuarterMayBeWrong) {
  std::vector<ClockSample> samples = Samples(41, kSecond / 4, 50);
  for (std::size_t i = 0; i < samples.size(); i += 5) samples[i].difference += 3'000'000;
  const ClockFit fit = FitClockLine(samples);
  EXPECT_NEAR(fit.line.drift, 50e-6, 1e-9);
  EXPECT_NEAR(static_cast<double>(fit.line.Convert(8 * kSecond)), 8e9 - 1'400'000, 2);
}

TEST(FitClockLine, ShortCapturesShowNoDrift) {
  const ClockFit fit = FitClockLine(Samples(20, kSecond / 40, 50));
  EXPECT_EQ(fit.line.drift, 0);
  EXPECT_EQ(fit.line.offset, 1'011'875)
      << "the median, between the 10th and the 11th: 9.5 x 1.25 us";
}

TEST(FitClockLine, LittleDriftIsNone) {
  EXPECT_EQ(FitClockLine(Samples(5, kSecond, 1)).line.drift, 0) << "4 us";
  EXPECT_GT(FitClockLine(Samples(5, kSecond, 2)).line.drift, 0) << "8 us";
}

TEST(FitClockLine, NothingTells) {
  EXPECT_EQ(FitClockLine({}).line.Convert(5), 5);
  EXPECT_EQ(FitClockLine({{7, 3}, {7, 3}, {7, 3}}).line.Convert(9), 6) << "at one time";
}

}  // namespace
}  // namespace mpa
