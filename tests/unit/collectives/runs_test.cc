// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/base/error.h"
#include "mpa/collectives/instances.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

struct Op {
  const char *group, *name;
  TimeNs start, dur;
};

RankRuns RankWith(const std::vector<Op>& ops) {
  test::RankBuilder rank;
  std::int32_t group = 0;
  for (const Op& op : ops) {
    rank.trace.comm_groups.Append({.name = rank.Text(op.group)});
    rank.trace.communications.Append({.start = op.start,
                                      .dur = op.dur,
                                      .name = rank.Text(op.name),
                                      .op_type = rank.Text(op.name),
                                      .group = group++});
  }
  return CollectiveRuns(rank.trace);
}

TEST(CollectiveRuns, LeaveOutWhatTwoRanksDo) {
  const RankRuns part = RankWith({{"g", "hcom_allReduce__001_0_1", 5, 1},
                                  {"g", "hcom_send__001_0_1", 1, 1},
                                  {"g", "hcom_receive__001_0_1", 2, 1},
                                  {"g", "hcom_batchSendRecv__001_0_1", 3, 1},
                                  {"g", "hcom_recv__001_0_1", 4, 1}});
  ASSERT_EQ(part.rows.size(), 1u);
  EXPECT_EQ(part.texts[part.rows[0].name], "hcom_allReduce__001_0_1");
  EXPECT_EQ(part.texts[part.rows[0].type], "hcom_allReduce_");
}

TEST(JoinInstances, TakesRunsInTheOrderOfTheirStarts) {
  // A name repeats in the second step; rank 1 calls the group as traces do.
  const RankRuns first = RankWith({{"g", "a", 100, 1}, {"g", "a", 10, 2}});
  const RankRuns second =
      RankWith({{"Group g Communication", "a", 11, 3}, {"Group g Communication", "a", 101, 4}});
  const CollectiveInstances joined = JoinInstancesOfRuns({&first, &second});
  ASSERT_EQ(joined.size(), 2u);
  const auto dur = [&](std::size_t instance, std::size_t member) {
    const RankRuns& runs = member == 0 ? first : second;
    return runs.rows[joined[instance].members[member].row].dur;
  };
  EXPECT_EQ(dur(0, 0), 2);
  EXPECT_EQ(dur(0, 1), 3);
  EXPECT_EQ(dur(1, 0), 1);
  EXPECT_EQ(dur(1, 1), 4);
}

TEST(JoinInstances, MarksOneNameOfOneGroup) {
  const RankRuns first = RankWith({{"g", "a", 1, 1}, {"g", "b", 2, 1}, {"h", "a", 3, 1}});
  const RankRuns second =
      RankWith({{"g", "a", 1, 1}, {"g", "a", 2, 1}, {"g", "b", 3, 1}, {"h", "a", 4, 1}});
  CollectiveInstances joined = JoinInstancesOfRuns({&first, &second});
  EXPECT_EQ(std::erase_if(joined, [](const auto& one) { return one.is_uneven && one.name == "a"; }),
            3u);
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].name, "b");
  EXPECT_EQ(joined[1].group, "h");
  EXPECT_EQ(joined[1].members.size(), 2u);
}

TEST(JoinInstances, RefusesPartsThatNameTextsTheyLack) {
  RankRuns part = RankWith({{"g", "a", 1, 1}});
  part.rows[0].data_type = 99;
  EXPECT_THROW(JoinInstancesOfRuns({&part}), Error);
}

}  // namespace
}  // namespace mpa
