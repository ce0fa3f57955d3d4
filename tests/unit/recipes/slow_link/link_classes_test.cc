// SPDX-License-Identifier: Apache-2.0
#include "recipes/slow_link/link_classes.h"

#include <gtest/gtest.h>

namespace mpa::recipes::slow_link {
namespace {

// All-reduces of 1024 FP16 on two ranks; rank 1 comes `late` after rank 0.
struct TwoRanks {
  explicit TwoRanks(const std::vector<TimeNs>& transfers, TimeNs late = 7) {
    for (RankRuns& part : parts) part.texts = {"g", "hcom_allReduce_", "FP16"};
    for (const TimeNs transfer : transfers) {
      const auto name = static_cast<std::uint32_t>(parts[0].texts.size());
      for (RankRuns& part : parts) {
        part.texts.push_back("op" + std::to_string(name));
        const TimeNs dur = &part == parts.data() ? transfer + late : transfer;
        part.rows.push_back({0, name, 1, 2, 1000 * name, dur, 1024});
      }
    }
  }

  LinkClasses Find() {
    instances = JoinInstancesOfRuns({&parts[0], &parts[1]});
    return FindLinkClasses({&parts[0], &parts[1]}, instances);
  }

  std::vector<RankRuns> parts = std::vector<RankRuns>(2);
  CollectiveInstances instances;
};

// What the Python tool gives.
TEST(LinkClasses, OfManyDeviateByThreeDeviations) {
  TwoRanks job({100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 10000});
  job.parts[1].rows[5].dur = 105;
  const LinkClasses found = job.Find();
  ASSERT_EQ(found.deviating.size(), 1u);
  const LinkClass& same = found.deviating[0];
  EXPECT_EQ(same.type, "hcom_allReduce_");
  EXPECT_EQ(same.bytes, 2048);
  EXPECT_EQ(same.ranks, 2);
  EXPECT_EQ(same.rows.size(), 24u);
  EXPECT_EQ(same.stats.sum, 2 * (1155 + 10000));
  EXPECT_NEAR(same.offset, 3.24679, 1e-3);
  EXPECT_EQ(same.Longest().transmit, 10000);
  EXPECT_EQ(same.Shortest().transmit, 100);
}

// Of ten collectives none can be three deviations away from the mean.
TEST(LinkClasses, OfFewAreHeldAgainstTheMedian) {
  EXPECT_EQ(TwoRanks({100, 101, 99, 100, 151}).Find().deviating.size(), 1u);
  EXPECT_EQ(TwoRanks({100, 101, 99, 100, 149}).Find().deviating.size(), 0u);
  EXPECT_EQ(TwoRanks({100, 180, 60, 140, 170}).Find().deviating.size(), 0u);  // all differ
  EXPECT_EQ(TwoRanks({100, 900}).Find().deviating.size(), 0u);
}

TEST(LinkClasses, NeedTheSizeOfElements) {
  TwoRanks job({100, 101, 99, 100, 151});
  for (RankRuns& part : job.parts) part.texts[2] = "RESERVED";
  const LinkClasses found = job.Find();
  EXPECT_EQ(found.count, 0u);
  EXPECT_EQ(found.unsized, 10u);
}

TEST(LinkClasses, TellSizesApart) {
  TwoRanks job({100, 101, 99, 100, 151});
  for (RankRuns& part : job.parts) part.rows[4].count = 2048;
  EXPECT_EQ(job.Find().count, 2u);
  EXPECT_TRUE(job.Find().deviating.empty());
  job.parts[0].rows[0].count = std::int64_t{1} << 62;  // times 2 is no number
  EXPECT_EQ(job.Find().unsized, 1u);
}

}  // namespace
}  // namespace mpa::recipes::slow_link
