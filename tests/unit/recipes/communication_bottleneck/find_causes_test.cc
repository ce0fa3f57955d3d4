// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include "recipes/communication_bottleneck/find_causes.h"

#include <gtest/gtest.h>

#include "mpa/base/error.h"

namespace mpa::bottleneck {
namespace {

constexpr TimeNs kUs = 1000;

PackedEvents Packed(const std::vector<std::tuple<TimeNs, TimeNs, std::string>>& events) {
  PackedEvents packed;
  for (const auto& [start, dur, name] : events) packed.Append(start * kUs, dur * kUs, name);
  return packed;
}

TEST(PackedEvents, GiveBackWhatEndsInTime) {
  const PackedEvents packed = Packed({{5, 10, "a"}, {6, 1, "b"}, {300, 2, "a"}});
  const std::vector<Event> events = packed.EndingBy(15 * kUs);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].dur, 10 * kUs);
  EXPECT_EQ(packed.Names()[events[1].name], "b");
  EXPECT_EQ(packed.EndingBy(14 * kUs).size(), 1u);
}

TEST(PackedEvents, BytesThatBreakOffAreAnError) {
  std::string bytes = ToBytes(Packed({{5, 10, "a"}}));
  for (char& byte : bytes) {
    if (byte == '\0') continue;
    byte = static_cast<char>(0xff);
    break;
  }
  EXPECT_THROW(FromBytes<PackedEvents>(bytes).EndingBy(1), Error);
}

// Both ranks start Mul together. MatMul takes 9000 us instead of 50 on the slow one, and what
// follows begins that much later.
TEST(Lags, AreSoughtFromTheEndBackToWhereTheRanksWereTogether) {
  const PackedEvents slow =
      Packed({{0, 10, "Old"}, {100, 10, "Mul"}, {110, 9000, "MatMul"}, {9110, 10, "Add"}});
  const PackedEvents fast =
      Packed({{0, 10, "Old"}, {100, 10, "Mul"}, {110, 50, "MatMul"}, {160, 10, "Add"}});
  const auto lags = FindLags(slow, 9200 * kUs, fast, 200 * kUs, 0, 1000 * kUs);
  ASSERT_TRUE(lags);
  EXPECT_EQ(lags->duration.name, "MatMul");
  EXPECT_EQ(lags->duration.diff, 8950 * kUs);
  EXPECT_EQ(lags->start.name, "Add");
  EXPECT_EQ(lags->start.diff, 8950 * kUs);
}

TEST(Lags, RanksThatWereNeverTogetherHaveNone) {
  const PackedEvents slow = Packed({{5000, 10, "Mul"}}), fast = Packed({{0, 10, "Mul"}});
  EXPECT_FALSE(FindLags(slow, 6000 * kUs, fast, 6000 * kUs, 0, 1000 * kUs));
}

RankEvents WithRun(TimeNs start, TimeNs dur, std::size_t runs = 1) {
  RankEvents rank;
  rank.runs.texts = {"group", "allReduce"};
  rank.runs.rows.resize(runs, {.group = 0, .name = 1, .start = start * kUs, .dur = dur * kUs});
  rank.is_looked_at.resize(runs, true);
  return rank;
}

TEST(FindCauses, TheShortestRunIsThatOfTheRankThatCameLast) {
  RankEvents first = WithRun(500, 9700), second = WithRun(9700, 500);
  first.device = Packed({{100, 10, "Mul"}, {200, 50, "MatMul"}});
  second.device = Packed({{100, 10, "Mul"}, {200, 9000, "MatMul"}});
  second.tasks = {{600 * kUs, 9600 * kUs, 5 * kUs, 300 * kUs}};  // waits 295 us longer there
  const auto found = FindCauses({{0, first}, {1, second}}, 0, 10, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].slow, 1);
  EXPECT_EQ(found[0].fast, 0);
  EXPECT_EQ(found[0].bound, Bound::kDevice);
  EXPECT_EQ(found[0].reason,
            "[Device-bound]Device: max duration-diff op MatMul, diff 8950.0 us, max"
            " start-time-diff op MatMul, diff 0.0 us.");
}

TEST(FindCauses, RanksThatHardlyDifferHaveNoSlowOne) {
  const RankEvents first = WithRun(0, 100), second = WithRun(4, 96);
  const auto found = FindCauses({{0, first}, {1, second}}, 0, 10, {});
  EXPECT_FALSE(found[0].slow);
  EXPECT_EQ(found[0].reason,
            "[Completed] No slow NPU detected: execution time difference is less than 5%");
}

// The second rank ran another operator first, so that its allReduce is its second run.
TEST(FindCauses, TheRunsOfOneOperationMayHaveOtherPlacesOnOtherRanks) {
  const RankEvents first = WithRun(0, 100);
  RankEvents second = WithRun(50, 50, 2);
  second.runs.texts.push_back("allGather");
  second.runs.rows[0] = {.group = 0, .name = 2, .start = 0, .dur = 40 * kUs};
  const auto found = FindCauses({{0, first}, {1, second}}, 0, 10, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "allReduce");
  EXPECT_EQ(found[0].slow, 1);
  EXPECT_EQ(found[0].fast, 0);
}

TEST(FindCauses, RunsOfRanksThatRanANameDifferentlyOftenAreNotPaired) {
  const RankEvents first = WithRun(0, 100), second = WithRun(50, 50, 2);
  const auto found = FindCauses({{0, first}, {1, second}}, 0, 10, {});
  EXPECT_EQ(found[0].reason, "[Failed] No other rank recorded the communication operator");
}

}  // namespace
}  // namespace mpa::bottleneck
