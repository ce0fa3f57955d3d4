// SPDX-License-Identifier: Apache-2.0
// Which chip a rank ran on, what the user says of it, and its clock.
#include "mpa/mfu/chip_of_rank.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

RankTrace WithChips(std::int64_t device, const std::vector<Chips::Row>& chips) {
  RankTrace trace;
  trace.device_id = device;
  for (const Chips::Row& chip : chips) trace.chips.Append(chip);
  return trace;
}

constexpr Chips::Row kZero{.device = 0, .cube_cores = 20, .vector_cores = 40, .cube_mhz = 1800};
constexpr Chips::Row kOne{.device = 1, .cube_cores = 24, .vector_cores = 48, .cube_mhz = 1650};

TEST(ChipOf, IsTheChipOfTheRanksDevice) {
  const ChipPeak chip = ChipOf(WithChips(1, {kZero, kOne}), {});
  EXPECT_EQ(chip.cores, 24);
  EXPECT_DOUBLE_EQ(chip.frequency_mhz, 1650);
  EXPECT_TRUE(chip.multiplies_fp32);
}

TEST(ChipOf, OfAnUnknownDeviceIsKnownWhenAllChipsAreAlike) {
  Chips::Row other = kZero;
  other.device = 7;
  EXPECT_EQ(ChipOf(WithChips(-1, {kZero, other}), {}).cores, 20);
  EXPECT_EQ(ChipOf(WithChips(-1, {kZero, kOne}), {}).cores, 0);  // better none than the wrong one
  EXPECT_EQ(ChipOf(RankTrace(), {}).cores, 0);
}

TEST(ChipOf, MultipliesNoFp32WithoutVectorCoresOfItsOwn) {
  EXPECT_FALSE(ChipOf(WithChips(0, {{.device = 0, .cube_cores = 32, .cube_mhz = 1000}}), {})
                   .multiplies_fp32);
}

TEST(ChipOf, IsWhatTheUserSays) {
  const RankTrace trace = WithChips(0, {kZero});
  RecipeArguments arguments;
  arguments.Set(kAiCores, "25");
  arguments.Set(kAicFrequency, "1700.5");
  const ChipPeak chip = ChipOf(trace, arguments);
  EXPECT_EQ(chip.cores, 25);
  EXPECT_DOUBLE_EQ(chip.frequency_mhz, 1700.5);
  EXPECT_EQ(chip.peak_tflops, std::nullopt);
  RecipeArguments peak;
  peak.Set(kPeakTflops, "313");
  EXPECT_DOUBLE_EQ(*ChipOf(RankTrace(), peak).peak_tflops, 313);
}

TEST(MeanMhz, WeighsEachClockByItsTime) {
  CoreClocks clocks;
  clocks.Append({.start = 100, .mhz = 1800});
  clocks.Append({.start = 200, .mhz = 1000});
  clocks.Append({.start = 300, .mhz = 1400});
  EXPECT_DOUBLE_EQ(*MeanMhz(clocks, 100, 150), 1800);
  EXPECT_DOUBLE_EQ(*MeanMhz(clocks, 150, 350), (50 * 1800 + 100 * 1000 + 50 * 1400) / 200.0);
  EXPECT_DOUBLE_EQ(*MeanMhz(clocks, 250, 250), 1000);
  EXPECT_DOUBLE_EQ(*MeanMhz(clocks, 5000, 6000), 1400);  // the last one holds on
  EXPECT_EQ(MeanMhz(clocks, 50, 150), std::nullopt);     // not measured from the start on
  EXPECT_EQ(MeanMhz({}, 0, 10), std::nullopt);
}

}  // namespace
}  // namespace mpa
