// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "diagnosis/part/part_facts.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

constexpr TimeNs kMillisecond = 1'000'000;

// What is recorded of a step of 10 ms, in ms: operators of the main thread until 1, from 5.9 to 6
// and from 9.5 on, and one of another thread from 4 to 5.
RankTrace StepWithGaps() {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1), other = rank.Thread(2);
  const auto op = [&](std::string_view name, double begin, double end, std::int32_t track) {
    rank.Op(name, static_cast<TimeNs>(begin * kMillisecond),
            static_cast<TimeNs>(end * kMillisecond), track);
  };
  op("ProfilerStep#3", 0, 10, main);
  op("aten::mm", 0, 1, main);
  op("aten::add", 4, 5, other);
  op("aten::mul", 5.9, 6, main);
  op("aten::mm", 9.5, 10, main);
  return std::move(rank.trace);
}

TEST(SilentGaps, NoThreadRecordsAnything) {
  const RankTrace trace = StepWithGaps();
  const std::vector<SilentGap> gaps =
      FindSilentGaps(trace, HostTimeline(trace), {{7, 0, 10 * kMillisecond, 0, 0}});
  ASSERT_EQ(gaps.size(), 2u) << "0.9 ms are too little";
  EXPECT_EQ(gaps[0].edge, 7u);
  EXPECT_EQ(gaps[0].start, 1 * kMillisecond);
  EXPECT_EQ(gaps[0].dur, 3 * kMillisecond) << "until the other thread works";
  EXPECT_EQ(gaps[1].start, 6 * kMillisecond);
  EXPECT_EQ(gaps[1].dur, 3'500'000);
}

TEST(SilentGaps, OnlyWhileTheHostHadToIssueWork) {
  const RankTrace trace = StepWithGaps();
  const auto found = [&](TimeNs begin, TimeNs end) {
    return FindSilentGaps(trace, HostTimeline(trace), {{7, begin, end, 0, 0}});
  };
  EXPECT_TRUE(found(1'500'000, 2'400'000).empty());
  ASSERT_EQ(found(1'500'000, 2'600'000).size(), 1u);
  EXPECT_EQ(found(1'500'000, 2'600'000)[0].dur, 1'100'000);
  EXPECT_TRUE(found(10 * kMillisecond, 20 * kMillisecond).empty()) << "the record has ended";
}

TEST(SilentGaps, WithoutARecordOfTheHostNothingIsSilent) {
  const RankTrace trace;
  EXPECT_TRUE(
      FindSilentGaps(trace, HostTimeline(trace), {{7, 0, 10 * kMillisecond, 0, 0}}).empty());
}

}  // namespace
}  // namespace mpa
