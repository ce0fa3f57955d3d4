// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank_sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "mpa/recipe/part_bytes.h"
#include "support/failures.h"

namespace mpa {
namespace {

using Ranks = std::vector<RankId>;

TEST(RankSequence, OneRunOfAnyLengthIsKeptAsOne) {
  RankSequence ranks;
  for (std::int64_t i = 0; i < 5000; ++i) ranks.push_back(7 + 8 * i);
  EXPECT_EQ(ranks.Runs().size(), 1u);
  EXPECT_EQ(ranks.size(), 5000u);
  EXPECT_EQ(ranks[4999], RankId(39999));
  EXPECT_EQ(ranks[5000], RankId());
  EXPECT_EQ(ranks.Largest(), RankId(39999));
  EXPECT_EQ(std::ranges::find(ranks, RankId(23)) - ranks.begin(), 2);
  EXPECT_EQ(*std::ranges::min_element(ranks), RankId(7));
}

TEST(RankSequence, HoldsWhatWasPutIn) {
  std::mt19937 random(3);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (int round = 0; round < 2000; ++round) {
    Ranks expected;
    for (std::size_t left = random() % 20; left > 0; --left) {
      const auto number = static_cast<std::int64_t>(random() % 12) - 1;
      expected.push_back(number > 9    ? most
                         : number == 9 ? least
                         : number == 8 ? kMaxRanks
                                       : number);
    }
    const RankSequence ranks(expected);
    EXPECT_EQ(ranks.size(), expected.size());
    EXPECT_EQ(Ranks(ranks), expected);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(ranks[i], expected[i]);
    EXPECT_EQ(ranks.Largest(),
              expected.empty() ? RankId() : std::max(RankId(), std::ranges::max(expected)));
  }
}

TEST(RankSequence, TravelsInParts) {
  const Ranks ranks = {5, 3, 1, 4, 4, 9, RankOfLabel("a node")};
  EXPECT_EQ(Ranks(FromBytes<RankSequence>(ToBytes(RankSequence(ranks)))), ranks);
  for (const StridedRanks& run :
       {StridedRanks{0, 1, kMaxRanks + 1}, StridedRanks{5, -3, 3}, StridedRanks{0, 1, 0},
        StridedRanks{0, std::int64_t{1} << 60, 3}, StridedRanks{0, 1, -1}}) {
    const std::string bytes = ToBytes(std::vector{run});
    EXPECT_EQ(test::ErrorOf([&] { FromBytes<RankSequence>(bytes); }).kind(), ErrorKind::kCorrupt);
  }
  const std::string bytes = ToBytes(std::vector(2, StridedRanks{0, 1, kMaxRanks}));
  EXPECT_EQ(test::ErrorOf([&] { FromBytes<RankSequence>(bytes); }).kind(), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace mpa
