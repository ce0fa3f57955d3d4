// SPDX-License-Identifier: Apache-2.0
// The sheet CommunicationCompare: which rows it has, whose the tasks are.
#include <gtest/gtest.h>

#include "support/comparing.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::Lines;
using test::RankBuilder;
using Texts = std::vector<std::string>;

class CommunicationCompareTest : public ::testing::Test {
 protected:
  // The rows of the sheet with the base's cells, or the comparison's, from name to total.
  Texts BaseRows() { return Lines(OnlySheet(), 1, 5); }
  Texts ComparisonRows() { return Lines(OnlySheet(), 8, 12); }

  Sheet OnlySheet() {
    report_ = test::Compare("communication", base_.trace, comparison_.trace);
    EXPECT_EQ(report_.sheets.size(), 1u);
    return report_.sheets.empty() ? Sheet() : report_.sheets[0];
  }

  static void Operation(RankBuilder& rank, std::string_view type, std::string_view name,
                        std::int64_t op_id, TimeNs start, TimeNs end) {
    rank.trace.communications.Append({.start = start,
                                      .dur = end - start,
                                      .name = rank.Text(name),
                                      .op_type = rank.Text(type),
                                      .op_id = op_id});
  }
  static void TaskOf(RankBuilder& rank, std::int64_t op_id, std::string_view name, TimeNs start,
                     TimeNs end) {
    rank.trace.comm_tasks.Append(
        {.start = start, .dur = end - start, .name = rank.Text(name), .op_id = op_id});
  }

  RankBuilder base_, comparison_;
  std::int32_t dp_ = base_.Group("dp"), tp_ = base_.Group("tp");
  Report report_;
};

TEST_F(CommunicationCompareTest, TellsCallsAndDurationsOfBothSides) {
  base_.Collective(dp_, 0, 1000);
  base_.Collective(dp_, 2000, 5000);
  comparison_.Collective(comparison_.Group("dp"), 0, 6000);
  const Sheet sheet = OnlySheet();
  EXPECT_EQ(Lines(sheet, 0, 17), Texts{"1 allreduce - 2 4 2 3 1 allreduce - 1 6 6 6 6 2 1.5"});
  ASSERT_EQ(sheet.columns.size(), 17u);
  ASSERT_EQ(sheet.banners.size(), 2u);
  EXPECT_EQ(sheet.banners[0].first_column, 1u);
  EXPECT_EQ(sheet.banners[0].last_column, 7u);
  EXPECT_EQ(sheet.banners[1].last_column, 14u);
}

TEST_F(CommunicationCompareTest, ListsWhatChangedMostFirst) {
  Operation(base_, "hcom_send_", "", 1, 5000, 6000);
  Operation(base_, "hcom_allGather_", "", 2, 0, 1000);
  Operation(comparison_, "hcom_broadcast_", "", 1, 0, 2000);
  Operation(comparison_, "hcom_send_", "", 2, 3000, 4000);
  EXPECT_EQ(Lines(OnlySheet(), 0, 17), (Texts{"1 - - - 0 - - - broadcast - 1 2 2 2 2 2 inf",
                                              "2 allgather - 1 1 1 1 1 - - - 0 - - - -1 0",
                                              "3 send - 1 1 1 1 1 send - 1 1 1 1 1 0 1"}));
}

TEST_F(CommunicationCompareTest, PutsHcclAndNcclInOneRow) {
  base_.Collective(-1, 0, 1000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)");
  comparison_.Collective(comparison_.Group("dp"), 0, 2000, "hcom_allReduce__271_0_1");
  EXPECT_EQ(Lines(OnlySheet(), 1, 17), Texts{"allreduce - 1 1 1 1 1 allreduce - 1 2 2 2 2 1 2"});
}

TEST_F(CommunicationCompareTest, GivesTasksToTheOperationOfTheirOwnGroup) {
  base_.Collective(dp_, 0, 10000, "hcom_allReduce__1_0_1");
  base_.Collective(tp_, 5000, 15000, "hcom_allGather__2_0_1");
  base_.CommTask(dp_, 1, "Memcpy", 1000, 2000);
  base_.CommTask(tp_, 2, "Notify_Wait", 6000, 9000);  // while dp communicates, too
  base_.CommTask(dp_, 1, "Memcpy", 7000, 9000);
  EXPECT_EQ(BaseRows(),
            (Texts{"allreduce - 1 10", "| Memcpy 2 3", "allgather - 1 10", "| Notify_Wait 1 3"}));
}

TEST_F(CommunicationCompareTest, LeavesOutTasksWhileTheirGroupDoesNotCommunicate) {
  base_.Collective(dp_, 0, 10000);
  base_.Collective(tp_, 20000, 30000);
  base_.CommTask(dp_, 1, "Memcpy", 21000, 22000);
  base_.CommTask(tp_, 2, "Memcpy", 0, 1000);
  EXPECT_EQ(BaseRows(), Texts{"allreduce - 2 20"});
}

TEST_F(CommunicationCompareTest, CountsBothEndsOfAnOperationToItAndASharedEndToTheEarlier) {
  base_.Collective(dp_, 1000, 2000, "hcom_allReduce__1_0_1");
  base_.Collective(dp_, 2000, 3000, "hcom_allGather__1_1_1");
  for (const TimeNs start : {999, 1000, 2000, 2001, 3000, 3001}) {
    base_.CommTask(dp_, 1, "Memcpy", start, start + 1000);
  }
  EXPECT_EQ(BaseRows(),
            (Texts{"allreduce - 1 1", "| Memcpy 3 3", "allgather - 1 1", "| Memcpy 3 3"}));
}

TEST_F(CommunicationCompareTest, FindsTheLongOperationAgainAfterAShortOneWithinIt) {
  base_.Collective(dp_, 0, 3000, "hcom_allReduce__1_0_1");
  base_.Collective(dp_, 1000, 9000, "hcom_allGather__1_1_1");
  base_.Collective(dp_, 4000, 5000, "hcom_send__1_2_1");
  base_.CommTask(dp_, 1, "Memcpy", 6000, 7000);
  base_.CommTask(dp_, 1, "Memcpy", 2000, 4000);
  EXPECT_EQ(BaseRows(), (Texts{"allgather - 1 8", "| Memcpy 1 1", "allreduce - 1 3", "| Memcpy 1 2",
                               "send - 1 1"}));
}

TEST_F(CommunicationCompareTest, BelievesTheOperationIdOfATaskMoreThanItsTime) {
  Operation(base_, "hcom_allReduce_", "", 1, 0, 10000);
  Operation(base_, "hcom_allGather_", "", 2, 20000, 30000);
  TaskOf(base_, 2, "Memcpy", 1000, 2000);
  TaskOf(base_, 1, "Notify_Wait", 40000, 42000);
  TaskOf(base_, 3, "Reduce_Inline", 1000, 2000);  // its operation is not in the capture
  EXPECT_EQ(BaseRows(),
            (Texts{"allreduce - 1 10", "| Notify_Wait 1 2", "allgather - 1 10", "| Memcpy 1 1"}));
}

TEST_F(CommunicationCompareTest, LetsTheTimeDecideWhereTheGroupOfATaskIsUnknown) {
  const std::int32_t unknown = base_.Group("Unknown Group");
  base_.Collective(tp_, 0, 10000, "hcom_allReduce__1_0_1");
  base_.CommTask(unknown, 1, "Memcpy", 1000, 2000);
  base_.CommTask(-1, 1, "Memcpy", 2000, 4000);
  base_.CommTask(unknown, 1, "Memcpy", 21000, 22000);  // further away than 10000
  EXPECT_EQ(BaseRows(), (Texts{"allreduce - 1 10", "| Memcpy 2 3"}));
}

TEST_F(CommunicationCompareTest, JoinsTasksByTheirNames) {
  base_.Collective(dp_, 0, 10000);
  base_.CommTask(dp_, 1, "Memcpy", 0, 1000);
  base_.CommTask(dp_, 1, "Notify_Wait", 1000, 3000);
  const std::int32_t group = comparison_.Group("dp");
  comparison_.Collective(group, 0, 10000);
  comparison_.CommTask(group, 1, "RDMASend", 0, 5000);
  comparison_.CommTask(group, 1, "Notify_Wait", 5000, 9000);
  EXPECT_EQ(Lines(OnlySheet(), 0, 17),
            (Texts{"1 allreduce - 1 10 10 10 10 allreduce - 1 10 10 10 10 0 1",
                   "2 | Memcpy 1 1 1 1 1 - - - 0 - - - - -",
                   "3 | Notify_Wait 1 2 2 2 2 | Notify_Wait 1 4 4 4 4 - -",
                   "4 - - - 0 - - - | RDMASend 1 5 5 5 5 - -"}));
}

TEST_F(CommunicationCompareTest, ShowsNoTasksWhoseNamesAreNotRecorded) {
  Operation(base_, "hcom_allReduce_", "", 1, 0, 1000);
  TaskOf(base_, 1, "", 0, 1000);
  EXPECT_EQ(BaseRows(), Texts{"allreduce - 1 1"});
}

TEST_F(CommunicationCompareTest, TakesTheNameWhereTheTypeIsNotRecorded) {
  Operation(base_, "N/A", "hcom_allReduce__576_0_1", 1, 0, 1000);
  Operation(base_, "", "hcom_allReduce__576_1_1", 2, 1000, 2000);
  Operation(base_, "N/A", "N/A", 3, 2000, 3000);
  EXPECT_EQ(BaseRows(), (Texts{"allreduce - 2 2", "N/A - 1 1"}));
}

TEST_F(CommunicationCompareTest, ShowsTheOneSideThatCommunicates) {
  const std::int32_t group = comparison_.Group("dp");
  comparison_.Collective(group, 0, 1000);
  comparison_.CommTask(group, 1, "Memcpy", 0, 1000);
  EXPECT_EQ(ComparisonRows(), (Texts{"allreduce - 1 1", "| Memcpy 1 1"}));
  EXPECT_EQ(BaseRows(), (Texts{"- - - 0", "- - - 0"}));
  EXPECT_TRUE(report_.notes.empty());
}

TEST_F(CommunicationCompareTest, SaysWhyThereIsNoSheetWithoutCommunication) {
  const Report report = test::Compare("communication", base_.trace, comparison_.trace);
  EXPECT_TRUE(report.sheets.empty());
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("neither capture recorded communication"), std::string::npos);
}

}  // namespace
}  // namespace mpa
