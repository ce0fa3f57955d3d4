// SPDX-License-Identifier: Apache-2.0
#include "mpa/compare/sequence_matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <set>
#include <string_view>

namespace mpa {

std::ostream& operator<<(std::ostream& out, const MatchedBlock& block) {
  return out << block.base_begin << "/" << block.comparison_begin << "+" << block.length;
}

namespace {

using Keys = std::vector<std::uint32_t>;
using Blocks = std::vector<MatchedBlock>;
using AlignedPairs = std::vector<AlignedPair>;

Keys KeysOf(std::string_view letters) { return {letters.begin(), letters.end()}; }

Blocks Match(std::string_view base, std::string_view comparison) {
  return MatchSequences(KeysOf(base), KeysOf(comparison));
}

TEST(MatchSequences, FindsOneBlockInEqualSequences) {
  EXPECT_EQ(Match("abcab", "abcab"), (Blocks{{0, 0, 5}}));
  EXPECT_EQ(Match("aaaa", "aaaa"), (Blocks{{0, 0, 4}}));
}

TEST(MatchSequences, FindsNothingWhereNoKeyIsShared) {
  EXPECT_EQ(Match("abc", "xyz"), Blocks{});
  EXPECT_EQ(Match("", "abc"), Blocks{});
  EXPECT_EQ(Match("abc", ""), Blocks{});
  EXPECT_EQ(Match("", ""), Blocks{});
}

TEST(MatchSequences, MatchesWhatIsLeftAndRightOfTheLongestBlock) {
  EXPECT_EQ(Match("abxcdefyg", "abcdefzzg"), (Blocks{{0, 0, 2}, {3, 2, 4}, {8, 8, 1}}));
}

TEST(MatchSequences, TakesTheEarliestInBaseOfEquallyLongBlocks) {
  // "cd" comes first in the comparison, "ab" first in base; taking one categories no room for the
  // other.
  EXPECT_EQ(Match("abxcd", "cdyab"), (Blocks{{0, 3, 2}}));
}

TEST(MatchSequences, TakesTheEarliestInComparisonOfEqualBlocks) {
  EXPECT_EQ(Match("ab", "abxab"), (Blocks{{0, 0, 2}}));
  EXPECT_EQ(Match("ab", "xabyab"), (Blocks{{0, 1, 2}}));
}

TEST(MatchSequences, PrefersOneLongBlockToManyMatchedKeys) {
  // A longest common subsequence would match a, b, c and d.
  EXPECT_EQ(Match("xyzabcd", "axbxcxdxyz"), (Blocks{{0, 7, 3}}));
}

TEST(MatchSequences, MatchesARepeatedBlockWhereBaseHasItFirstWhateverThatLeavesOver) {
  // The second "abc" of the comparison is the first one whole; base has nothing left ahead of it.
  EXPECT_EQ(Match("abcabc", "abxabc"), (Blocks{{0, 3, 3}}));
}

TEST(MatchSequences, SkipsLongestBlocksThatLieBeforeTheOneTaken) {
  // After "ab" only "cd" of the later pairs lies right of it in both.
  EXPECT_EQ(Match("abxefycd", "efzabwcd"), (Blocks{{0, 3, 2}, {6, 6, 2}}));
}

TEST(MatchSequences, DoesNotTakeOverlappingBlocks) {
  EXPECT_EQ(Match("aaaaa", "aaxaaxaa"), (Blocks{{0, 0, 2}, {2, 3, 2}, {4, 6, 1}}));
}

TEST(MatchSequences, SplitsABlockWhereOneSequenceHasAKeyMore) {
  EXPECT_EQ(Match("abcd", "abxcd"), (Blocks{{0, 0, 2}, {2, 3, 2}}));
  EXPECT_EQ(Match("abxcd", "abcd"), (Blocks{{0, 0, 2}, {3, 2, 2}}));
}

TEST(MatchSequences, TellsLargeKeysApart) {
  EXPECT_EQ(MatchSequences({0xFFFFFFFFu, 7, 0}, {7, 0xFFFFFFFFu, 7}), (Blocks{{0, 1, 2}}));
}

TEST(AlignSequences, PutsUnmatchedItemsAheadOfTheBlockBaseFirst) {
  EXPECT_EQ(AlignSequences(KeysOf("pabqc"), KeysOf("rsabtt")),
            (AlignedPairs{
                {0, {}}, {{}, 0}, {{}, 1}, {1, 2}, {2, 3}, {3, {}}, {4, {}}, {{}, 4}, {{}, 5}}));
}

TEST(AlignSequences, KeepsEveryItemOfOneSidedInput) {
  EXPECT_EQ(AlignSequences({5, 6}, {}), (AlignedPairs{{0, {}}, {1, {}}}));
  EXPECT_EQ(AlignSequences({}, {5, 6}), (AlignedPairs{{{}, 0}, {{}, 1}}));
  EXPECT_EQ(AlignSequences({}, {}), AlignedPairs{});
}

// The definition word by word: every pair of places is tried.
struct Window {
  std::size_t base_begin, base_end, comparison_begin, comparison_end;
};

void MatchByDefinition(const Keys& base, const Keys& comparison, const Window& in, Blocks& blocks) {
  MatchedBlock longest;
  for (std::size_t i = in.base_begin; i < in.base_end; ++i) {
    for (std::size_t j = in.comparison_begin; j < in.comparison_end; ++j) {
      std::size_t length = 0;
      while (i + length < in.base_end && j + length < in.comparison_end &&
             base[i + length] == comparison[j + length]) {
        ++length;
      }
      if (length > longest.length) longest = {i, j, length};
    }
  }
  if (longest.length == 0) return;
  const std::size_t base_end = longest.base_begin + longest.length;
  const std::size_t comparison_end = longest.comparison_begin + longest.length;
  MatchByDefinition(
      base, comparison,
      {in.base_begin, longest.base_begin, in.comparison_begin, longest.comparison_begin}, blocks);
  blocks.push_back(longest);
  MatchByDefinition(base, comparison, {base_end, in.base_end, comparison_end, in.comparison_end},
                    blocks);
}

Blocks MatchByDefinition(const Keys& base, const Keys& comparison) {
  Blocks blocks;
  MatchByDefinition(base, comparison, {0, base.size(), 0, comparison.size()}, blocks);
  return blocks;
}

bool Touch(const MatchedBlock& a, const MatchedBlock& b) {
  return a.base_begin + a.length == b.base_begin &&
         a.comparison_begin + a.length == b.comparison_begin;
}

Keys RandomKeys(std::mt19937& random, std::size_t length, std::uint32_t names) {
  Keys keys(length);
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random() % names);
  return keys;
}

// A copy in which about one key in `rarity` is replaced, doubled by another one, or left out.
Keys Mutated(std::mt19937& random, const Keys& keys, std::uint32_t names, unsigned rarity) {
  Keys copy;
  for (const std::uint32_t key : keys) {
    const auto other = static_cast<std::uint32_t>(random() % names);
    const bool changes = random() % rarity == 0;
    const auto kind = random() % 3;
    if (!changes || kind == 1) copy.push_back(key);
    if (changes && kind != 2) copy.push_back(other);
  }
  return copy;
}

class SequenceMatching : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SequenceMatching, ::testing::Values(1u, 2u, 3u));

TEST_P(SequenceMatching, AgreesWithTheDefinitionOnSmallSequences) {
  std::mt19937 random(GetParam());
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const auto names = static_cast<std::uint32_t>(1 + random() % 6);
    const Keys base = RandomKeys(random, random() % 41, names);
    const Keys comparison = RandomKeys(random, random() % 41, names);
    ASSERT_EQ(MatchSequences(base, comparison), MatchByDefinition(base, comparison))
        << "base " << ::testing::PrintToString(base) << " comparison "
        << ::testing::PrintToString(comparison);
  }
}

TEST_P(SequenceMatching, AgreesWithTheDefinitionOnMutatedCopies) {
  std::mt19937 random(GetParam());
  for (int repeat = 0; repeat < 60; ++repeat) {
    const std::uint32_t names = repeat % 2 == 0 ? 30 : 3;
    Keys base = RandomKeys(random, 30 + random() % 150, names);
    if (repeat % 3 == 0) {  // layers: the same operators over and over
      const Keys layer = base;
      base.insert(base.end(), layer.begin(), layer.end());
    }
    const Keys comparison = Mutated(random, base, names, 20);
    ASSERT_EQ(MatchSequences(base, comparison), MatchByDefinition(base, comparison))
        << "repeat " << repeat;
    ASSERT_EQ(MatchSequences(comparison, base), MatchByDefinition(comparison, base))
        << "repeat " << repeat;
  }
}

TEST_P(SequenceMatching, AlignsEveryItemOnceAndOnlyEqualKeys) {
  std::mt19937 random(GetParam());
  for (int repeat = 0; repeat < 300; ++repeat) {
    const Keys base = RandomKeys(random, random() % 41, 4);
    const Keys comparison = RandomKeys(random, random() % 41, 4);
    std::size_t base_at = 0;
    std::size_t comparison_at = 0;
    std::size_t both = 0;
    for (const AlignedPair& pair : AlignSequences(base, comparison)) {
      ASSERT_TRUE(pair.base || pair.comparison);
      if (pair.base) {
        ASSERT_EQ(*pair.base, base_at++);
      }
      if (pair.comparison) {
        ASSERT_EQ(*pair.comparison, comparison_at++);
      }
      if (pair.base && pair.comparison) {
        ASSERT_EQ(base[*pair.base], comparison[*pair.comparison]);
        ++both;
      }
    }
    EXPECT_EQ(base_at, base.size());
    EXPECT_EQ(comparison_at, comparison.size());
    std::size_t matched = 0;
    for (const MatchedBlock& block : MatchSequences(base, comparison)) matched += block.length;
    EXPECT_EQ(both, matched);
  }
}

// What any answer must fulfil: blocks of equal keys, in the order of both sequences, none the
// continuation of another, and between them nothing that the sequences still have in common.
void ExpectValidAndComplete(const Keys& base, const Keys& comparison, const Blocks& blocks) {
  std::size_t base_at = 0;
  std::size_t comparison_at = 0;
  const auto check_gap = [&](std::size_t base_until, std::size_t comparison_until) {
    ASSERT_LE(base_at, base_until);
    ASSERT_LE(comparison_at, comparison_until);
    std::set<std::uint32_t> in_base;
    for (; base_at < base_until; ++base_at) in_base.insert(base[base_at]);
    for (; comparison_at < comparison_until; ++comparison_at) {
      ASSERT_FALSE(in_base.contains(comparison[comparison_at])) << "comparison " << comparison_at;
    }
  };
  for (const MatchedBlock& block : blocks) {
    ASSERT_GT(block.length, 0u);
    check_gap(block.base_begin, block.comparison_begin);
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_LE(block.length, std::min(base.size() - base_at, comparison.size() - comparison_at));
    for (std::size_t i = 0; i < block.length; ++i) {
      ASSERT_EQ(base[base_at++], comparison[comparison_at++]);
    }
  }
  check_gap(base.size(), comparison.size());
  EXPECT_EQ(std::adjacent_find(blocks.begin(), blocks.end(), Touch), blocks.end());
}

constexpr std::size_t kMany = 200'000;

TEST(MatchSequencesOfManyKeys, MatchesOneNameAsFarAsTheShorterSideGoes) {
  const Keys all(kMany, 7);
  EXPECT_EQ(MatchSequences(all, all), (Blocks{{0, 0, kMany}}));
  EXPECT_EQ(MatchSequences(all, Keys(kMany / 2, 7)), (Blocks{{0, 0, kMany / 2}}));
}

TEST(MatchSequencesOfManyKeys, FindsTheKeyInsertedAmongTwoNames) {
  std::mt19937 random(1);
  const Keys base = RandomKeys(random, kMany, 2);
  constexpr std::size_t kPlace = 120'000;
  Keys comparison = base;
  // The opposite of the key it goes ahead of; the same would count to the block before it.
  comparison.insert(comparison.begin() + kPlace, 1 - base[kPlace]);
  EXPECT_EQ(MatchSequences(base, comparison),
            (Blocks{{0, 0, kPlace}, {kPlace, kPlace + 1, kMany - kPlace}}));
}

TEST(MatchSequencesOfManyKeys, LeavesNothingInCommonBetweenTheBlocksOfTwoNames) {
  std::mt19937 random(1);
  const Keys base = RandomKeys(random, kMany, 2);
  const Keys comparison = Mutated(random, base, 2, 50);
  const Blocks blocks = MatchSequences(base, comparison);
  ExpectValidAndComplete(base, comparison, blocks);
  std::size_t matched = 0;
  for (const MatchedBlock& block : blocks) matched += block.length;
  EXPECT_GT(matched, kMany * 95 / 100);  // 2 % of the keys differ
}

TEST(MatchSequencesOfManyKeys, MatchesPeriodAfterPeriodOfDifferentPeriods) {
  // 0 1 0 1 ... and 0 1 2 0 1 2 ...: one "0 1" per period of the longer one, until it ends.
  Keys base(kMany);
  Keys comparison(kMany);
  Blocks expected;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    base[i] = i % 2;
    comparison[i] = i % 3;
    if (i % 3 == 1) expected.push_back({expected.size() * 2, i - 1, 2});
  }
  EXPECT_EQ(MatchSequences(base, comparison), expected);
}

TEST(MatchSequencesOfManyKeys, MatchesBlocksThatAllDifferInLength) {
  // Longest first, so that each search leaves one window that is hardly smaller.
  Keys base;
  Keys comparison;
  Blocks expected;
  std::mt19937 random(1);
  for (std::uint32_t length = 200; length > 0; --length) {
    expected.push_back({base.size(), comparison.size(), length});
    const Keys block = RandomKeys(random, length, 300);
    base.insert(base.end(), block.begin(), block.end());
    comparison.insert(comparison.end(), block.begin(), block.end());
    base.push_back(1000 + length);  // separators of one side each
    comparison.push_back(2000 + length);
  }
  EXPECT_EQ(MatchSequences(base, comparison), expected);
}

}  // namespace
}  // namespace mpa
