// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"

namespace mpa {
namespace {

// Three steps in which rank 1 comes 3 ms after rank 0 to an operation of 1 ms.
std::vector<RankDiagnosis> TwoParts() {
  std::vector<RankDiagnosis> parts;
  for (const TimeNs more : {0 * kMs, 3 * kMs}) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step().Host(TimeCategory::kPython, kMs).Kernel("MatMulV3", 2 * kMs + more);
      builder.Kernel("Add", kMs, TimeCategory::kVector);
      builder.Collective("all_" + std::to_string(step), 4 * kMs - more);
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

JobPictures PicturesOf(const std::vector<RankDiagnosis>& parts) {
  return DiagnoseJob(parts, {}, true).pictures;
}

std::vector<std::string> TitlesOf(const Timeline& timeline) {
  std::vector<std::string> titles;
  for (const TimelineLane& lane : timeline.lanes) titles.push_back(lane.title);
  return titles;
}

std::vector<TimeNs> LengthsOf(const TimelineLane& lane) {
  std::vector<TimeNs> lengths;
  for (const TimelineSpan& span : lane.spans) lengths.push_back(span.end - span.begin);
  return lengths;
}

TEST(JobPictures, KernelsOfTheMeanRankAndStep) {
  const auto kernels = PicturesOf(TwoParts()).kernels;
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0], std::pair(std::string("MatMulV3"), 3'500 * kUs));
  EXPECT_EQ(kernels[1], std::pair(std::string("Add"), kMs));
}

TEST(JobPictures, AnArrowLeadsToWhomARankWaitsFor) {
  const auto wait = PicturesOf(TwoParts()).wait;
  ASSERT_TRUE(wait);
  EXPECT_EQ(TitlesOf(*wait),
            (std::vector<std::string>{"rank 0, host", "rank 0, device", "rank 0, communication",
                                      "rank 1, host", "rank 1, device", "rank 1, communication"}));
  ASSERT_EQ(wait->arrows.size(), 1u);
  EXPECT_EQ(wait->arrows[0].end - wait->arrows[0].begin, 3 * kMs);
  EXPECT_EQ(wait->lanes[wait->arrows[0].to].title, "rank 1, communication");
  // Rank 0 waits for 3 of the 4 ms; of rank 1 all of it moves data.
  EXPECT_EQ(LengthsOf(wait->lanes[2]), (std::vector<TimeNs>{3 * kMs, kMs}));
  EXPECT_EQ(LengthsOf(wait->lanes[5]), (std::vector<TimeNs>{kMs}));
  EXPECT_EQ(wait->lanes[2].spans[0].name, "all_0 waits for rank 1");
}

TEST(JobPictures, StreamsAndTheTaskQueueHaveLanes) {
  std::vector<RankDiagnosis> parts = TwoParts();
  for (GraphNode& node : parts[1].graph.nodes) {
    if (node.kind == NodeKind::kKernel) node.stream = node.dur > kMs ? 2 : 5;
  }
  for (const HostShare& share : parts[1].shares)
    parts[1].graph.nodes[parts[1].graph.edges[share.edge].node].kind = NodeKind::kQueue;
  const auto wait = PicturesOf(parts).wait;
  ASSERT_TRUE(wait);
  const std::vector<std::string> titles = TitlesOf(*wait);
  EXPECT_EQ((std::vector<std::string>{titles.begin() + 3, titles.end()}),
            (std::vector<std::string>{"rank 1, host", "rank 1, queue", "rank 1, stream 2",
                                      "rank 1, stream 5", "rank 1, communication"}));
  EXPECT_TRUE(wait->lanes[3].spans.empty());
  EXPECT_EQ(wait->lanes.back().title, wait->lanes[wait->arrows.at(0).to].title);
}

TEST(JobPictures, AreMadeForPagesAlone) {
  EXPECT_TRUE(DiagnoseJob(TwoParts()).pictures.kernels.empty());
}

TEST(JobPictures, OneRankWaitsForNobody) {
  const auto pictures =
      PicturesOf({ThreeSteps([](PartBuilder& step) { step.Kernel("MatMulV3", 2 * kMs); })});
  EXPECT_FALSE(pictures.wait);
  EXPECT_TRUE(pictures.links.empty());
}

}  // namespace
}  // namespace mpa
