// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"

namespace mpa {
namespace {

// Three steps in which rank 1 comes 3 ms after rank 0 to an operation of 1 ms.
JobPictures TwoRanks() {
  std::vector<RankDiagnosis> parts;
  for (const TimeNs more : {0 * kMs, 3 * kMs}) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step().Host(Leaf::kPython, kMs).Kernel("MatMulV3", 2 * kMs + more);
      builder.Kernel("Add", kMs, Leaf::kVector);
      builder.Collective("all_" + std::to_string(step), 4 * kMs - more);
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts).pictures;
}

std::vector<TimeNs> LengthsOf(const TimelineLane& lane) {
  std::vector<TimeNs> lengths;
  for (const TimelineSpan& span : lane.spans) lengths.push_back(span.end - span.begin);
  return lengths;
}

TEST(JobPictures, KernelsOfTheMeanRankAndStep) {
  const auto kernels = TwoRanks().kernels;
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0], std::pair(std::string("MatMulV3"), 3'500 * kUs));
  EXPECT_EQ(kernels[1], std::pair(std::string("Add"), kMs));
}

TEST(JobPictures, AnArrowLeadsToWhomARankWaitsFor) {
  const auto wait = TwoRanks().wait;
  ASSERT_TRUE(wait);
  std::vector<std::string> titles;
  for (const TimelineLane& lane : wait->lanes) titles.push_back(lane.title);
  EXPECT_EQ(titles,
            (std::vector<std::string>{"rank 0, host", "rank 0, device", "rank 0, communication",
                                      "rank 1, host", "rank 1, device", "rank 1, communication"}));
  ASSERT_EQ(wait->arrows.size(), 1u);
  EXPECT_EQ(wait->arrows[0].end - wait->arrows[0].begin, 3 * kMs);
  EXPECT_EQ(wait->lanes[wait->arrows[0].to].title, "rank 1, communication");
  // Rank 0 waits for 3 of the 4 ms; of rank 1 all of it moves data.
  EXPECT_EQ(LengthsOf(wait->lanes[2]), (std::vector<TimeNs>{3 * kMs, kMs}));
  EXPECT_EQ(LengthsOf(wait->lanes[5]), (std::vector<TimeNs>{kMs}));
}

TEST(JobPictures, OneRankWaitsForNobody) {
  const auto pictures = DiagnoseJob({ThreeSteps([](PartBuilder& step) {
                          step.Kernel("MatMulV3", 2 * kMs);
                        })}).pictures;
  EXPECT_FALSE(pictures.wait);
  EXPECT_TRUE(pictures.links.empty());
}

}  // namespace
}  // namespace mpa
