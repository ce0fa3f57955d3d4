// SPDX-License-Identifier: Apache-2.0
// Profiler databases: host operators with their launches, and collectives with their groups.
#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"
#include "support/profiler_db.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;
using Times = std::vector<TimeNs>;

RankTrace ReadHostDb(const std::string& sql) {
  const test::TempDir dir;
  return test::ReadFile(
      FileKind::kProfilerDb,
      test::BuildDatabase(dir / "ascend_pytorch_profiler_0.db", test::kStrings + sql));
}

// Threads 5 and 6 of process 3: globalTid holds the process in its upper half.
const std::string kOps = std::string(test::kOperators) + R"(
    INSERT INTO STRING_IDS VALUES
        (1, 'aten::mm'), (2, 'MmBackward0'), (3, 'Enqueue'), (4, 'aten::add');
    INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) VALUES
        ('1736412474721331650', '1736412474721331950', 12884901893, 100, 1, 50001),
        ('1736412474721332000', '1736412474721332100', 12884901893, NULL, 3, 50002),
        ('1736412474721333000', '1736412474721333500', 12884901894, 101, 2, 50001),
        ('1736412474721334000', '1736412474721334001', 12884901893, NULL, 4, 50001);
    INSERT INTO CONNECTION_IDS VALUES
        (100, 71), (100, 72), (100, 900), (101, 900), (101, 73), (55, 74);)";

TEST(ProfilerDbHost, ReadsOperatorsOnly) {
  const RankTrace trace = ReadHostDb(kOps);
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name),
            (Names{"aten::mm", "MmBackward0", "aten::add"}));
  EXPECT_EQ(trace.host_ops.start,
            (Times{1736412474721331650, 1736412474721333000, 1736412474721334000}));
  EXPECT_EQ(trace.host_ops.dur, (Times{300, 500, 1}));
  EXPECT_EQ(trace.host_ops.track[0], trace.host_ops.track[2]);
  EXPECT_NE(trace.host_ops.track[0], trace.host_ops.track[1]);
  EXPECT_EQ(trace.tracks.pid, (Numbers{3, 3}));
  EXPECT_EQ(trace.tracks.tid, (Numbers{5, 6}));
}

TEST(ProfilerDbHost, KnowsOperatorsByTheNameOfTheirKind) {
  const RankTrace trace = ReadHostDb(kOps + R"(
      UPDATE ENUM_API_TYPE SET name = 'queue' WHERE id = 50001;
      UPDATE ENUM_API_TYPE SET name = 'op' WHERE id = 50002;)");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), Names{"Enqueue"});
}

TEST(ProfilerDbHost, ReadsSeveralLaunchesOfOneOperator) {
  const RankTrace trace = ReadHostDb(kOps);
  const Launches& launches = trace.launches;
  EXPECT_EQ(launches.link, (Numbers{71, 72, 900, 900, 73}));
  EXPECT_EQ(launches.host_time,
            (Times{1736412474721331650, 1736412474721331650, 1736412474721331650,
                   1736412474721333000, 1736412474721333000}));
  EXPECT_EQ(launches.device_time, Times(5, -1));
  EXPECT_EQ(launches.host_track[0], trace.host_ops.track[0]);
  EXPECT_EQ(launches.host_track[4], trace.host_ops.track[1]);
}

// Each of them would have all connections: 25 million launches.
TEST(ProfilerDbHost, LeavesOutLaunchesOfOperatorsThatShareAllConnections) {
  const RankTrace trace = ReadHostDb(std::string(test::kOperators) + R"(
      INSERT INTO STRING_IDS VALUES (1, 'aten::mm');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type)
          SELECT i, i + 1, 5, 7, 1, 50001 FROM n;
      INSERT INTO CONNECTION_IDS SELECT 7, startNs FROM PYTORCH_API;)");
  EXPECT_EQ(trace.host_ops.Size(), 5000u);
  EXPECT_LT(trace.launches.Size(), 2'000'000u);
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "launches left out");
}

TEST(ProfilerDbHost, FindsTheBackwardThreadWhereTwoOperatorsShareAConnection) {
  EXPECT_EQ(ReadHostDb(kOps).backward_tid, 6);
  EXPECT_EQ(ReadHostDb(kOps + "DELETE FROM CONNECTION_IDS WHERE connectionId = 900;").backward_tid,
            -1);
}

const std::string kComm = std::string(test::kTasks) + test::kCollectives + test::kCommTasks + R"(
    INSERT INTO STRING_IDS VALUES
        (1, 'hcom_allReduce__868_0_1'), (2, 'hcom_allReduce_'), (3, 'host%eth_0'),
        (4, 'host%eth_1'), (5, 'Notify_Wait'), (6, 'RDMASend'), (7, 'hcom_send__1_0_1'),
            (8, 'hcom_send_');
    INSERT INTO COMMUNICATION_OP (opName, startNs, endNs, connectionId, groupName, opId,
        opType) VALUES
        (7, 3000, 3500, 0, 4, 2, 8), (1, 1000, 2000, 88, 3, 1, 2);
    INSERT INTO TASK (startNs, endNs, globalTaskId, taskType, streamId) VALUES
        (1100, 1200, 21, 5, 7), (1300, 1350, 22, 6, 7), (3100, 3200, 23, 5, 8);
    INSERT INTO COMMUNICATION_TASK_INFO (name, globalTaskId, taskType, planeId, groupName,
        opId) VALUES
        (1, 23, 5, 0, 4, 2), (1, 22, 6, 1, 3, 1), (1, 21, 5, 1, 3, 1);)";

TEST(ProfilerDbHost, ReadsCollectivesInTheOrderOfTheirNumbers) {
  const RankTrace trace = ReadHostDb(kComm);
  EXPECT_EQ(test::ColumnTexts(trace, trace.communications.name),
            (Names{"hcom_allReduce__868_0_1", "hcom_send__1_0_1"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.communications.op_type),
            (Names{"hcom_allReduce_", "hcom_send_"}));
  EXPECT_EQ(trace.communications.start, (Times{1000, 3000}));
  EXPECT_EQ(trace.communications.dur, (Times{1000, 500}));
  EXPECT_EQ(trace.communications.link, (Numbers{88, -1}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_groups.name), (Names{"host%eth_0", "host%eth_1"}));
  EXPECT_EQ(trace.communications.group, (std::vector<std::int32_t>{0, 1}));
}

TEST(ProfilerDbHost, ReadsTheTasksOfCollectivesWithTheirPlanes) {
  const RankTrace trace = ReadHostDb(kComm);
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_tasks.name),
            (Names{"Notify_Wait", "RDMASend", "Notify_Wait"}));
  EXPECT_EQ(trace.comm_tasks.start, (Times{1100, 1300, 3100}));
  EXPECT_EQ(trace.comm_tasks.group, (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_EQ(trace.comm_tasks.plane, (Numbers{1, 1, 0}));
}

TEST(ProfilerDbHost, ReadsPeersBytesAndLinksOfTheTasksOfCollectives) {
  const RankTrace trace = ReadHostDb(kComm + R"(
      CREATE TABLE ENUM_HCCL_TRANSPORT_TYPE (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO ENUM_HCCL_TRANSPORT_TYPE VALUES (0, 'SDMA'), (1, 'RDMA'), (65535, 'INVALID_TYPE');
      CREATE TABLE ENUM_HCCL_LINK_TYPE (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO ENUM_HCCL_LINK_TYPE VALUES (1, 'HCCS'), (3, 'ROCE');
      CREATE TABLE ENUM_HCCL_RDMA_TYPE (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO ENUM_HCCL_RDMA_TYPE VALUES (1, 'RDMA_SEND_PAYLOAD');
      ALTER TABLE COMMUNICATION_TASK_INFO ADD COLUMN srcRank INTEGER;
      ALTER TABLE COMMUNICATION_TASK_INFO ADD COLUMN dstRank INTEGER;
      ALTER TABLE COMMUNICATION_TASK_INFO ADD COLUMN size INTEGER;
      ALTER TABLE COMMUNICATION_TASK_INFO ADD COLUMN transportType INTEGER;
      ALTER TABLE COMMUNICATION_TASK_INFO ADD COLUMN linkType INTEGER;
      ALTER TABLE COMMUNICATION_TASK_INFO ADD COLUMN rdmaType INTEGER;
      ALTER TABLE COMMUNICATION_TASK_INFO ADD COLUMN notifyId INTEGER;
      UPDATE COMMUNICATION_TASK_INFO SET srcRank = 2, dstRank = 5, size = 4096, transportType = 1,
          linkType = 3, rdmaType = 1, notifyId = 77 WHERE globalTaskId = 22;
      UPDATE COMMUNICATION_TASK_INFO SET srcRank = 2, dstRank = 4294967295, size = 0,
          transportType = 65535, linkType = 9, rdmaType = 65535, notifyId = 9223372036854775807
          WHERE globalTaskId = 23;)");
  const CommTasks& tasks = trace.comm_tasks;
  EXPECT_EQ(tasks.own_rank, (std::vector<std::int32_t>{-1, 2, 2}));
  EXPECT_EQ(tasks.peer, (std::vector<std::int32_t>{-1, 5, -1}));
  EXPECT_EQ(tasks.bytes, (Numbers{-1, 4096, 0}));
  EXPECT_EQ(test::ColumnTexts(trace, tasks.transport), (Names{"", "RDMA", ""}));
  EXPECT_EQ(test::ColumnTexts(trace, tasks.link_type), (Names{"", "ROCE", ""}));
  EXPECT_EQ(test::ColumnTexts(trace, tasks.rdma_type), (Names{"", "RDMA_SEND_PAYLOAD", ""}));
  EXPECT_EQ(tasks.notify, (Numbers{-1, 77, -1}));
  EXPECT_EQ(tasks.stream, (Numbers{7, 7, 8}));
}

TEST(ProfilerDbHost, NamesGroupsAsTheJobDoes) {
  const RankTrace trace = ReadHostDb(kComm + R"(
      CREATE TABLE META_DATA (name TEXT, value TEXT);
      INSERT INTO META_DATA VALUES ('SCHEMA_VERSION', '1.0'), ('parallel_group_info',
          '{"host%eth_1": {"group_name": "dp", "global_ranks": [0, 1]},
              "other": {"group_name": "tp"}}');)");
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_groups.process_group), (Names{"", "dp"}));
  EXPECT_EQ(trace.comm_groups.ranks, (std::vector<std::int32_t>{0, 2}));
}

TEST(ProfilerDbHost, KeepsTheTechnicalNamesWhenTheMetadataIsBroken) {
  ::testing::internal::CaptureStderr();
  const RankTrace trace = ReadHostDb(kComm + R"(
      CREATE TABLE META_DATA (name TEXT, value TEXT);
      INSERT INTO META_DATA VALUES ('parallel_group_info', '{"host%eth_1": {');)");
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("parallel_group_info"),
            std::string::npos);
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_groups.process_group), (Names{"", ""}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.comm_groups.name), (Names{"host%eth_0", "host%eth_1"}));
}

TEST(ProfilerDbHost, ReadsCollectivesWithoutTasks) {
  const RankTrace trace = ReadHostDb(kComm + "DROP TABLE COMMUNICATION_TASK_INFO;");
  EXPECT_EQ(trace.communications.Size(), 2u);
  EXPECT_TRUE(trace.comm_tasks.Empty());
}

}  // namespace
}  // namespace mpa
