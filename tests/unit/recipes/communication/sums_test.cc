// SPDX-License-Identifier: Apache-2.0
#include "recipes/communication/sums.h"

#include <gtest/gtest.h>

#include "mpa/base/error.h"

namespace mpa::recipes::communication {
namespace {

// An operator of which a half is transfer, a quarter waiting, a tenth synchronization.
CommunicationOp OpOf(const char* name, double elapse) {
  CommunicationOp op;
  op.name = name;
  op.group = "13039520724198";  // the hash of "g1"
  op.time = {.elapse = elapse,
             .transit = elapse / 2,
             .wait = elapse / 4,
             .synchronization = elapse / 10,
             .idle = elapse / 4};
  op.links[LinkKind::kHccs] = {.megabytes = 4,
                               .milliseconds = 0.4,
                               .bandwidth = 10,
                               .large_packet_ratio = 0,
                               .sizes = {{1.0, {2, 0.2}}, {2.0, {1, 0.1}}}};
  return op;
}

Part PartWith(std::vector<CommunicationOp> ops, std::vector<MatrixEntry> links = {}) {
  Part part;
  KeepSteps({{.step = "step1",
              .p2p = {},
              .collective = std::move(ops),
              .p2p_matrix = {},
              .collective_matrix = std::move(links)}},
            part);
  return part;
}

// What the Python tool gives for two operators of 1 and 2 ms.
TEST(CommunicationSums, AddUpTheOperatorsOfAGroup) {
  const Part part = PartWith({OpOf("a__1_0_1", 1), OpOf("a__1_1_1", 2)});
  const OpSums sums = SumOps({{0, part}});
  ASSERT_EQ(sums.ops.size(), 2u);
  ASSERT_EQ(sums.totals.listed.size(), 1u);
  const CommunicationOp& total = *sums.totals.listed[0].op;
  EXPECT_DOUBLE_EQ(total.time.elapse, 3);
  EXPECT_DOUBLE_EQ(total.time.transit, 1.5);
  EXPECT_DOUBLE_EQ(total.time.wait, 0.75);
  EXPECT_DOUBLE_EQ(total.time.wait_ratio, 0.3333);
  EXPECT_DOUBLE_EQ(total.time.synchronization_ratio, 0.1667);
  const LinkUse& use = total.links.at(LinkKind::kHccs);
  EXPECT_DOUBLE_EQ(use.megabytes, 8);
  EXPECT_DOUBLE_EQ(use.milliseconds, 0.8);
  EXPECT_DOUBLE_EQ(use.bandwidth, 10);
  EXPECT_DOUBLE_EQ(use.sizes.at(1.0).first, 4);
  EXPECT_DOUBLE_EQ(use.sizes.at(2.0).second, 0.2);
}

TEST(CommunicationSums, LeaveOutWhatCapturesSumUpThemselves) {
  CommunicationOp total = OpOf("Total Op Info", 9);
  total.group.clear();
  const Part part = PartWith({OpOf("a__1_0_1", 1), total});
  EXPECT_EQ(SumOps({{0, part}}).ops.size(), 1u);
}

TEST(CommunicationSums, RefuseTextsThatAreNotThere) {
  Part part = PartWith({}, {MatrixEntry()});
  EXPECT_NO_THROW(CheckSteps(part));
  part.steps[0].collective_matrix[0].op = static_cast<std::uint32_t>(part.texts.size());
  EXPECT_THROW(CheckSteps(part), Error);
}

// Links between ranks whose captures are missing have their ranks from the metadata.
TEST(CommunicationSums, LinksAreInRanksOfTheJob) {
  Part part;
  KeepSteps({{.step = "step1",
              .p2p = {},
              .collective = {},
              .p2p_matrix = {},
              .collective_matrix = {{.name = "allreduce-total",
                                     .group = "13039520724198",
                                     .source = 0,
                                     .destination = 1,
                                     .transport = "HCCS",
                                     .megabytes = 8,
                                     .milliseconds = 2,
                                     .bandwidth = 4,
                                     .op = ""}}}},
            part);
  Ranks ranks = {{6, part}};
  const LinkSums unknown = SumLinks(ranks, FindGroups(ranks));
  ASSERT_EQ(unknown.links.size(), 1u);
  EXPECT_FALSE(unknown.links[0].KnowsEnds());
  EXPECT_EQ(unknown.links[0].source_in_group, 0);
  EXPECT_EQ(unknown.links[0].destination_in_group, 1);
  EXPECT_EQ(SumLinks(ranks, FindGroups(ranks)).notes.size(), 2u);
  part.job.groups.push_back({"g1", "dp", {2, 6}});
  const LinkSums sums = SumLinks(ranks, FindGroups(ranks));
  ASSERT_EQ(sums.links.size(), 1u);
  EXPECT_EQ(sums.links[0].source, 2);
  EXPECT_EQ(sums.links[0].destination, 6);
  EXPECT_DOUBLE_EQ(sums.links[0].Bandwidth(), 4);
  EXPECT_EQ(sums.totals.size(), 1u);
}

TEST(CommunicationSums, LinksOfOneDestinationStayApart) {
  Part part;
  part.job.groups.push_back({"g1", "dp", {2, 6}});
  CommunicationStep step;
  for (const std::int64_t source : {0, 1, 1}) {
    MatrixEntry& entry = step.collective_matrix.emplace_back();
    entry.name = "allreduce-top1";
    entry.group = "13039520724198";
    entry.source = source;
    entry.destination = 1;
    entry.megabytes = 3;
  }
  KeepSteps({step}, part);
  const Ranks ranks = {{6, part}};
  const LinkSums sums = SumLinks(ranks, FindGroups(ranks));
  ASSERT_EQ(sums.links.size(), 2u);
  EXPECT_EQ(sums.links[0].source, 2);
  EXPECT_DOUBLE_EQ(sums.links[0].megabytes, 3);
  EXPECT_EQ(sums.links[1].source, 6);
  EXPECT_DOUBLE_EQ(sums.links[1].megabytes, 6);
  EXPECT_TRUE(sums.totals.empty());
}

// 4 ranks: tensor groups {0, 1} and {2, 3}, pipelines {0, 2} and {1, 3}.
// Two of eight ranks were captured, and the metadata does not name the others.
TEST(CommunicationGroups, HaveTheRanksThatTheirLinksLeadTo) {
  std::vector<MatrixEntry> links;
  for (const std::int64_t other : {1, 7}) {
    MatrixEntry& entry = links.emplace_back();
    entry.group = "13039520724198";
    entry.destination = other;
  }
  const Part part = PartWith({OpOf("a__1_0_1", 1)}, std::move(links));
  const std::vector<Group> groups = FindGroups({{0, part}, {1, part}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].ranks, (std::set<RankId>{0, 1}));
  EXPECT_EQ(groups[0].size, 8u);
  Report report;
  AddGroupLines(groups, 2, report);
  EXPECT_EQ(TextsOf(report.lines),
            (std::vector<std::string>{"  1 communication group; 2 of 8 ranks captured",
                                      "    collective  (no name)         1 group of 8 ranks"}));
  report.absent.Add(5, RankState::kLeftOut);
  AddGroupLines(groups, 2, report);
  EXPECT_EQ(report.lines[2].Text(), "  1 communication group; 2 of 8 ranks read (1 left out)");
}

TEST(CommunicationSteps, StagesAreGroupsThatNoPipelineCrosses) {
  const auto group = [](bool p2p, const char* name, std::set<RankId> ranks) {
    return Group{
        .p2p = p2p, .name = name, .id = "", .process_group = name, .seen = ranks, .ranks = ranks};
  };
  const std::vector<Group> groups = {group(false, "tp", {0, 1}), group(false, "tp", {2, 3}),
                                     group(false, "world", {0, 1, 2, 3}), group(true, "pp", {0, 2}),
                                     group(true, "pp", {1, 3})};
  EXPECT_EQ(StagesOf(groups), (std::vector<std::set<RankId>>{{0, 1}, {2, 3}}));
}

TEST(CommunicationSteps, TheGridCountsTensorThenDataThenPipeline) {
  Part part;
  part.job.distributed_args =
      R"({"world_size": 8, "tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 2,
          "data_parallel_size": 2})";
  std::string problem;
  const Grid grid({{0, part}}, problem);
  EXPECT_EQ(problem, "");
  const GridPlace place = grid.Of(2).value();
  EXPECT_EQ(place.dp, 1);
  EXPECT_EQ(place.pp, 0);
  EXPECT_EQ(place.tp, 0);
  EXPECT_FALSE(grid.Of(8).has_value());
  part.job.distributed_args = R"({"world_size": 8})";
  const Grid none({{0, part}}, problem);
  EXPECT_FALSE(none.Known());
  EXPECT_NE(problem.find("world_size 8"), std::string::npos);
}

}  // namespace
}  // namespace mpa::recipes::communication
