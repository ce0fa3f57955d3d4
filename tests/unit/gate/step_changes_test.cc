// SPDX-License-Identifier: Apache-2.0
// Where a history changes: planted steps are found, and noise of any form is not taken for one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "mpa/gate/history.h"

namespace mpa::gate {
namespace {

enum class NoiseKind { kIndependent, kAutocorrelated, kOutliers, kUneven };

// Runs of a step of 400 ms that differ by 1 %.
class NoisyProgram {
 public:
  NoisyProgram(NoiseKind noise, std::uint64_t seed) : noise_(noise), random_(seed) {}

  std::vector<std::int64_t> Run(int count, double step = 0, int from = 0, int to = 1'000) {
    std::vector<std::int64_t> values;
    for (int i = 0; i < count; ++i) {
      const double level = i >= from && i < to ? 1 + step : 1;
      values.push_back(std::llround(400e6 * (level + 0.01 * Next(i < count / 2))));
    }
    return values;
  }

 private:
  double Uniform() { return std::ldexp(static_cast<double>(random_() >> 11), -53); }
  double Normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum;
  }
  double Next(bool first_half) {
    switch (noise_) {
      case NoiseKind::kAutocorrelated:
        last_ = 0.5 * last_ + std::sqrt(0.75) * Normal();
        return last_;
      case NoiseKind::kOutliers:
        return Normal() + (Uniform() < 0.08 ? -8 * std::log(1 - Uniform()) : 0);
      case NoiseKind::kUneven:
        return (first_half ? 0.4 : 1.6) * Normal();
      case NoiseKind::kIndependent:
        break;
    }
    return Normal();
  }

  NoiseKind noise_;
  std::mt19937_64 random_;
  double last_ = 0;
};

constexpr NoiseKind kAllNoise[] = {NoiseKind::kIndependent, NoiseKind::kAutocorrelated,
                                   NoiseKind::kOutliers, NoiseKind::kUneven};
constexpr std::uint64_t kSeedsOfNoise = 20;

TEST(StepChanges, FlatHistoriesHaveNone) {
  for (const NoiseKind noise : kAllNoise) {
    for (std::uint64_t seed = 1; seed <= kSeedsOfNoise; ++seed) {
      EXPECT_EQ(FindStretches(NoisyProgram(noise, seed).Run(60)).size(), 1u)
          << static_cast<int>(noise) << ", seed " << seed;
    }
  }
}

TEST(StepChanges, APlantedStepIsFoundWithinARun) {
  for (const int from : {15, 30, 45}) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= kSeedsOfNoise; ++seed) {
      const auto stretches =
          FindStretches(NoisyProgram(NoiseKind::kIndependent, seed).Run(60, 0.04, from));
      if (stretches.size() != 2) continue;
      if (std::abs(static_cast<int>(stretches[1].begin) - from) > 1) continue;
      const double growth =
          static_cast<double>(stretches[1].median) / static_cast<double>(stretches[0].median);
      found += std::abs(growth - 1.04) < 0.015 ? 1 : 0;
    }
    EXPECT_GE(found, 19) << from;
  }
}

TEST(StepChanges, OutliersHideNoStep) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= kSeedsOfNoise; ++seed) {
    const auto stretches =
        FindStretches(NoisyProgram(NoiseKind::kOutliers, seed).Run(60, 0.05, 30));
    if (stretches.size() == 2 && std::abs(static_cast<int>(stretches[1].begin) - 30) <= 1) ++found;
  }
  EXPECT_GE(found, 17);
}

TEST(StepChanges, WhatWasMendedHasTwo) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= kSeedsOfNoise; ++seed) {
    const auto stretches =
        FindStretches(NoisyProgram(NoiseKind::kIndependent, seed).Run(60, 0.05, 20, 40));
    if (stretches.size() == 3 && std::abs(static_cast<int>(stretches[1].begin) - 20) <= 1 &&
        std::abs(static_cast<int>(stretches[2].begin) - 40) <= 1)
      ++found;
  }
  EXPECT_GE(found, 19);
}

TEST(StepChanges, LevelsAndNoiseAreThoseOfTheStretch) {
  std::vector<std::int64_t> values;
  for (int i = 0; i < 12; ++i) values.push_back(i % 2 == 0 ? 100 : 102);
  for (int i = 0; i < 12; ++i) values.push_back(i % 2 == 0 ? 200 : 204);
  const auto stretches = FindStretches(values);
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_EQ(stretches[0].begin, 0u);
  EXPECT_EQ(stretches[0].end, 12u);
  EXPECT_EQ(stretches[0].median, 101);
  EXPECT_EQ(stretches[0].noise, 1);  // 1.4826 times 1
  EXPECT_FALSE(stretches[0].probability);
  EXPECT_EQ(stretches[1].median, 202);
  EXPECT_EQ(stretches[1].noise, 3);  // 1.4826 times 2
  ASSERT_TRUE(stretches[1].probability);
  EXPECT_LE(*stretches[1].probability, 0.01);
}

TEST(StepChanges, FewOrEqualValuesHaveNone) {
  EXPECT_TRUE(FindStretches({}).empty());
  EXPECT_EQ(FindStretches({7}).size(), 1u);
  EXPECT_EQ(FindStretches({1, 1, 1, 9, 9, 9}).size(), 1u);  // three runs may be chance
  EXPECT_EQ(FindStretches(std::vector<std::int64_t>(60, 5)).size(), 1u);
}

TEST(StepChanges, SizesWithoutNoiseChangeAtOnce) {
  std::vector<std::int64_t> values(30, 1'000'000);
  values.resize(60, 1'000'001);
  const auto stretches = FindStretches(values);
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_EQ(stretches[1].begin, 30u);
}

}  // namespace
}  // namespace mpa::gate
