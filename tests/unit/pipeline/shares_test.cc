// SPDX-License-Identifier: Apache-2.0
#include "pipeline/shares.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

using Positions = std::vector<std::size_t>;

TEST(PositionsOf, SharesBytesNotCounts) {
  const std::vector<std::int64_t> bytes = {10, 100, 20, 30, 40};
  EXPECT_EQ(PositionsOf({0, 2}, bytes), Positions{1});
  EXPECT_EQ(PositionsOf({1, 2}, bytes), (Positions{0, 2, 3, 4}));
}

TEST(PositionsOf, EachPositionBelongsToOneShare) {
  std::vector<std::int64_t> bytes;
  for (std::int64_t i = 0; i < 100; ++i) bytes.push_back(i * 7919 % 101);
  std::vector<int> times(bytes.size(), 0);
  for (std::size_t number = 0; number < 7; ++number) {
    for (const std::size_t i : PositionsOf({number, 7}, bytes)) ++times[i];
  }
  EXPECT_EQ(times, std::vector<int>(bytes.size(), 1));
}

TEST(PositionsOf, RanksWithoutFilesAreSharedOut) {
  EXPECT_EQ(PositionsOf({1, 2}, {0, 0, 0, 0}), (Positions{1, 3}));
}

}  // namespace
}  // namespace mpa
