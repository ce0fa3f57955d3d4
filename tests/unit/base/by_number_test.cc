// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/by_number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace mpa {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(ByNumber, KeepsAValueForEachNumberHoweverFarApartTheyLie) {
  std::mt19937_64 random(7);
  for (const std::int64_t spread : {std::int64_t{1}, std::int64_t{10'000}, kMost / 1'000}) {
    std::vector<std::int64_t> numbers{0};
    for (int i = 0; i < 999; ++i) {
      // Three in four follow the one before closely.
      const auto step = static_cast<std::int64_t>(random() % 20);
      numbers.push_back(numbers.back() + (i % 4 == 0 ? spread : step));
    }
    std::ranges::shuffle(numbers, random);
    ByNumber<int> values(numbers);
    std::map<std::int64_t, int> expected;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      *values.Find(numbers[i]) = static_cast<int>(i) + 1;
      expected[numbers[i]] = static_cast<int>(i) + 1;
    }
    for (const auto& [number, value] : expected) {
      EXPECT_EQ(*values.Find(number), value);
      for (const std::int64_t beside : {number - 1, number + 1}) {
        const int* found = values.Find(beside);
        if (!expected.contains(beside)) {
          EXPECT_TRUE(found == nullptr || *found == 0);
        }
      }
    }
  }
}

TEST(ByNumber, TakesTheLeastAndTheLargestNumber) {
  ByNumber<int> values({kMost, kLeast, 0, kLeast});
  *values.Find(kLeast) = 1;
  *values.Find(kMost) = 2;
  EXPECT_EQ(*values.Find(0), 0);
  EXPECT_EQ(*values.Find(kLeast), 1);
  EXPECT_EQ(*values.Find(kMost), 2);
  EXPECT_EQ(values.Find(kLeast + 1), nullptr);
  EXPECT_EQ(values.Find(1), nullptr);
  EXPECT_EQ(ByNumber<int>({}).Find(0), nullptr);
}

TEST(ByNumber, TakesNoMoreThanAFewValuesForANumber) {
  // Apart by more than the values of a range, so that each is one by itself.
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 1'000; ++i) numbers.push_back(i * 1'000'000'007);
  const ByNumber<int> values(numbers);
  for (const std::int64_t number : numbers) EXPECT_EQ(values.Find(number + 1), nullptr);
}

}  // namespace
}  // namespace mpa
