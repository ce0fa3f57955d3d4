// SPDX-License-Identifier: Apache-2.0
// The device side of profiler databases: kernels, counters, tasks.
#include <gtest/gtest.h>

#include <cmath>

#include "support/failures.h"
#include "support/files.h"
#include "support/profiler_db.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;
using Times = std::vector<TimeNs>;

RankTrace ReadDeviceDb(const std::string& sql, Tables wanted = test::kAllTables) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kProfilerDb,
                        test::BuildDatabase(dir / "ascend_pytorch_profiler_0.db", sql),
                        {wanted, ""});
}

const std::string kTexts =
    std::string(test::kStrings) +
    "INSERT INTO STRING_IDS VALUES (1, 'MatMul'), (2, 'MatMulV2'), (3, 'AI_CORE'),"
    " (4, 'KERNEL_AICORE'), (5, 'N/A'), (6, 'aic_mac_time'), (7, 'aiv_vec_time'),"
    " (8, 'SDMA_SQE'), (9, 'aicore_time'), (0, 'Add');";

TEST(ProfilerDbDevice, ReadsKernelsAndTasksInTheOrderOfTasks) {
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + test::kComputeTasks + R"(
      INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId, taskType, streamId) VALUES
          (2000, 2500, 71, 12, 4, 7), (1000, 1300, 72, 11, 4, 0), (3000, 3010, 0, 13, 8, 7);
      INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES
          (0, 11, 3, 0), (1, 12, 3, 2);)");
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), (Names{"MatMul", "Add"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.op_type), (Names{"MatMulV2", "Add"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.core), (Names{"AI_CORE", "AI_CORE"}));
  EXPECT_EQ(trace.kernels.start, (Times{2000, 1000}));
  EXPECT_EQ(trace.kernels.dur, (Times{500, 300}));
  EXPECT_EQ(trace.kernels.stream, (Numbers{7, 0}));
  EXPECT_EQ(trace.kernels.link, (Numbers{71, 72}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.type),
            (Names{"KERNEL_AICORE", "KERNEL_AICORE", "SDMA_SQE"}));
  EXPECT_EQ(trace.device_tasks.link, (Numbers{71, 72, -1}));  // 0: no connection
}

// A collective that runs as a kernel is among the collectives, too.
TEST(ProfilerDbDevice, LeavesOutKernelsOfCollectives) {
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + test::kComputeTasks + R"(
      INSERT INTO STRING_IDS VALUES (20, 'COMMUNICATION'), (21, 'allReduce_AivKernel');
      INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId, taskType, streamId) VALUES
          (1000, 1300, 71, 11, 4, 7), (2000, 2500, 72, 12, 4, 7);
      INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES
          (1, 11, 3, 2), (21, 12, 20, 20);)");
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), Names{"MatMul"});
}

TEST(ProfilerDbDevice, ReadsKernelsThatHaveNoTypes) {
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + test::kComputeTasks + R"(
      INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId, taskType, streamId) VALUES
          (1000, 1300, NULL, 11, 4, 7), (2000, 2100, 4, 12, NULL, NULL);
      INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES
          (1, 11, 5, NULL), (999, 12, NULL, 5);)");
  ASSERT_EQ(trace.kernels.Size(), 2u);
  EXPECT_EQ(trace.kernels.op_type, (std::vector<StringId>{StringId::kEmpty, StringId::kEmpty}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.core),
            (Names{"KERNEL_AICORE", ""}));  // the task's type stands in
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), (Names{"MatMul", ""}));  // no text 999
  EXPECT_EQ(trace.kernels.link, (Numbers{-1, 4}));
  EXPECT_EQ(trace.kernels.stream, (Numbers{7, -1}));
}

TEST(ProfilerDbDevice, GivesCountersToTheirKernels) {
  const RankTrace trace =
      ReadDeviceDb(kTexts + test::kTasks + test::kComputeTasks + test::kCounters + R"(
      INSERT INTO TASK (startNs, endNs, globalTaskId, taskType, streamId) VALUES
          (1000, 1300, 11, 4, 7), (2000, 2100, 12, 4, 7);
      INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES
          (1, 11, 3, 2), (0, 12, 3, 0);
      INSERT INTO TASK_PMU_INFO VALUES
          (12, 6, 40.6), (11, 7, 30), (11, 9, NULL), (11, 1, 5), (99, 6, 7);)");
  EXPECT_EQ(trace.kernels.aic_mac, (Times{-1, 41}));
  EXPECT_EQ(trace.kernels.aiv_vec, (Times{30, -1}));
  EXPECT_EQ(trace.kernels.aic_total, (Times{-1, -1}));
}

TEST(ProfilerDbDevice, ListsTheCountersOfEachKernel) {
  const RankTrace trace =
      ReadDeviceDb(kTexts + test::kTasks + test::kComputeTasks + test::kCounters + R"(
      INSERT INTO TASK (startNs, endNs, globalTaskId, taskType, streamId) VALUES
          (1000, 1300, 11, 4, 7), (2000, 2100, 12, 4, 7), (3000, 3100, 13, 4, 7);
      INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId) VALUES (1, 11), (1, 12), (1, 13);
      INSERT INTO TASK_PMU_INFO VALUES
          (99, 9, 1), (12, 7, 0.5), (11, 6, 30), (11, 9, 4), (12, 7, 2.5);)");
  EXPECT_EQ(test::ColumnTexts(trace, trace.counter_names),
            (Names{"aicore_time", "aiv_vec_time", "aic_mac_time"}));
  const std::vector<std::vector<double>>& counters = trace.listed_kernels.counters;
  ASSERT_EQ(counters.size(), 3u);
  ASSERT_EQ(counters[0].size(), 3u);
  EXPECT_EQ(counters[0][0], 4);
  EXPECT_TRUE(std::isnan(counters[0][1]));
  EXPECT_EQ(counters[0][2], 30);
  ASSERT_EQ(counters[1].size(), 2u);
  EXPECT_EQ(counters[1][1], 2.5);  // the last one
  EXPECT_TRUE(counters[2].empty());
}

TEST(ProfilerDbDevice, ReadsHowLongUnitsMovedData) {
  const RankTrace trace =
      ReadDeviceDb(kTexts + test::kTasks + test::kComputeTasks + test::kCounters + R"(
      INSERT INTO STRING_IDS VALUES
          (30, 'aic_fixpipe_time'), (31, 'aiv_mte2_time'), (32, 'aiv_mte3_time');
      INSERT INTO TASK (startNs, endNs, globalTaskId, taskType, streamId) VALUES
          (1000, 1300, 11, 4, 7), (2000, 2100, 12, 4, 7);
      INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES
          (1, 11, 3, 2), (0, 12, 3, 0);
      INSERT INTO TASK_PMU_INFO VALUES
          (12, 30, 40), (11, 31, 30), (12, 32, 20), (11, 32, -5);)");
  EXPECT_EQ(trace.kernel_loads.aic_fixpipe_time, (Times{-1, 40}));
  EXPECT_EQ(trace.kernel_loads.aiv_mte2_time, (Times{30, -1}));
  EXPECT_EQ(trace.kernel_loads.aiv_mte3_time, (Times{-1, 20}));
}

TEST(ProfilerDbDevice, ReadsTimesStoredAsTexts) {
  const RankTrace trace = ReadDeviceDb(R"(
      CREATE TABLE TASK (startNs TEXT, endNs TEXT, taskType INTEGER, streamId INTEGER,
          connectionId INTEGER, globalTaskId INTEGER);
      INSERT INTO TASK VALUES ('1736412474721331650', '1736412474721331750', 1, 7, 0, 1);)");
  EXPECT_EQ(trace.device_tasks.start, Times{1736412474721331650});
  EXPECT_EQ(trace.device_tasks.dur, Times{100});
}

TEST(ProfilerDbDevice, FindsTextsInATableWithoutPrimaryKey) {
  const RankTrace trace = ReadDeviceDb(std::string(test::kTasks) + R"(
      CREATE TABLE STRING_IDS (id INTEGER, value TEXT);
      INSERT INTO STRING_IDS VALUES (5, 'SDMA_SQE'), (NULL, 'nobody'), (0, 'EVENT_WAIT_SQE');
      INSERT INTO TASK (startNs, endNs, taskType, streamId) VALUES
          (1, 2, 0, 7), (3, 4, 5, 7), (5, 6, 17, 7);)");
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.type),
            (Names{"EVENT_WAIT_SQE", "SDMA_SQE", ""}));
}

TEST(ProfilerDbDevice, TakesMissingTablesForNotRecorded) {
  const RankTrace trace = ReadDeviceDb(
      std::string(test::kTasks) + "INSERT INTO TASK (startNs, endNs, streamId) VALUES (1, 2, 4);");
  EXPECT_EQ(trace.device_tasks.Size(), 1u);
  EXPECT_TRUE(trace.kernels.Empty());
  EXPECT_TRUE(trace.host_ops.Empty());
  EXPECT_TRUE(trace.communications.Empty());
  EXPECT_TRUE(trace.steps.Empty());
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "taskType is NULL");
}

TEST(ProfilerDbDevice, CountsTextsThatAreNotThere) {
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + R"(
      INSERT INTO STRING_IDS VALUES (77, NULL);
      INSERT INTO TASK (startNs, endNs, taskType, streamId) VALUES
          (1, 2, 77, 7), (2, 3, 78, 7), (3, 4, 78, 7);)");
  EXPECT_EQ(trace.device_tasks.Size(), 3u);
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "STRING_IDS does not have it, 2 times");
}

TEST(ProfilerDbDevice, CountsTasksWhoseTimesMakeNoSense) {
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + R"(
      INSERT INTO TASK (startNs, endNs, taskType, streamId) VALUES
          (5, 4, 1, 7), (NULL, 4, 1, 7), (-3, 4, 1, 7), (5, 'x', 1, 7), (5, 5, 1, 7);)");
  EXPECT_EQ(trace.device_tasks.start, Times{5});
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "4 times");
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "TASK");
}

TEST(ProfilerDbDevice, LeavesOutNumbersThatWouldOverflowSums) {
  const RankTrace trace =
      ReadDeviceDb(kTexts + test::kTasks + test::kComputeTasks + test::kCounters + R"(
      INSERT INTO TASK (startNs, endNs, globalTaskId, connectionId, taskType, streamId) VALUES
          (0, 9000000000000000000, 1, 1, 1, 7), (8999999999999999999, 9000000000000000000, 2, 1, 1, 7),
          (1, 2, 3, 1, 1, 7);
      INSERT INTO COMPUTE_TASK_INFO (globalTaskId, name, opType, taskType) VALUES (3, 1, 1, 1);
      INSERT INTO TASK_PMU_INFO VALUES (3, 6, 9000000000000000000), (3, 7, -5), (3, 9, 1);
      CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalReserved INTEGER);
      INSERT INTO MEMORY_RECORD VALUES (1, 5, 9000000000000000000), (1, 5, -1), (1, 9e18, 4);
      CREATE TABLE OP_MEMORY (name INTEGER, size INTEGER, allocationTime INTEGER,
                              releaseTime INTEGER);
      INSERT INTO OP_MEMORY VALUES (1, 1, 9000000000000000000, -9000000000000000000);)");
  EXPECT_EQ(trace.device_tasks.start, Times{1});
  EXPECT_EQ(trace.kernels.aic_mac, Times{-1});
  EXPECT_EQ(trace.kernels.aiv_vec, Times{-1});
  EXPECT_EQ(trace.kernels.aic_total, Times{1});
  EXPECT_EQ(trace.memory_samples.reserved_bytes, Numbers{4});
  EXPECT_EQ(trace.memory_samples.allocated_bytes, Numbers{-1}) << "there is no such column";
  EXPECT_EQ(trace.memory_samples.time, Times{-1});
  EXPECT_EQ(trace.allocations.allocated, Times{-1});
  EXPECT_EQ(trace.allocations.released, Times{-1});
  EXPECT_EQ(trace.issues.Lines().size(), 3u);
}

TEST(ProfilerDbDevice, RefusesTasksWithoutIdsOfTheirOwn) {
  const Error error = test::ErrorOf([] {
    ReadDeviceDb(std::string(test::kTasks) + R"(
        CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER,
                                        opType INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO TASK (startNs, endNs, globalTaskId) SELECT i, i + 1, 7 FROM n;
        INSERT INTO COMPUTE_TASK_INFO (globalTaskId) SELECT globalTaskId FROM TASK;)");
  });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "ascend_pytorch_profiler_0.db");
}

TEST(ProfilerDbDevice, NamesTheDatabaseAndTheColumnThatIsMissing) {
  const RankTrace trace = ReadDeviceDb(R"(
      CREATE TABLE TASK (startNs INTEGER, endNs INTEGER);
      CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
      INSERT INTO STEP_TIME VALUES (1, 10, 20);)");
  EXPECT_EQ(trace.steps.Size(), 1u) << "what other tables tell is there";
  ASSERT_FALSE(trace.issues.Lines().empty());
  const std::string line = trace.issues.Lines()[0];
  EXPECT_HAS_TEXT(line, "ascend_pytorch_profiler_0.db");
  EXPECT_HAS_TEXT(line, "left out, table TASK: no such column: taskType");
}

TEST(ProfilerDbDevice, RefusesADatabaseOfSomethingElse) {
  const Error error = test::ErrorOf([] { ReadDeviceDb("CREATE TABLE cookies (name TEXT);"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "ascend_pytorch_profiler_0.db");
}

TEST(ProfilerDbDevice, ReadsOnlyWhatIsWanted) {
  const RankTrace trace = ReadDeviceDb(std::string(test::kTasks) + R"(
      INSERT INTO TASK (startNs, endNs, taskType) VALUES (1, 2, 1);
      CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
      INSERT INTO STEP_TIME VALUES (3, 10, 20);)",
                                       Tables::kSteps);
  EXPECT_TRUE(trace.device_tasks.Empty());
  EXPECT_EQ(trace.steps.id, std::vector<std::int32_t>{3});
}

TEST(ProfilerDbDevice, ReadsStepsAndMemory) {
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + R"(
      CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
      INSERT INTO STEP_TIME VALUES (50, 100, 200), (51, 300, 250), (52, '300', '400');
      CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalAllocated NUMERIC,
          totalReserved NUMERIC);
      INSERT INTO MEMORY_RECORD VALUES (1, 10, 5, 4096), (1, 20, 5, NULL);
      CREATE TABLE OP_MEMORY (name INTEGER, size INTEGER, allocationTime INTEGER,
          releaseTime INTEGER);
      INSERT INTO OP_MEMORY VALUES (0, 512, 10, NULL), (0, 1024, 20, 30);)");
  EXPECT_EQ(trace.steps.id, (std::vector<std::int32_t>{50, 52}));
  EXPECT_EQ(trace.steps.end, (Times{200, 400}));
  EXPECT_EQ(trace.memory_samples.reserved_bytes, Numbers{4096});
  EXPECT_EQ(trace.memory_samples.allocated_bytes, Numbers{5});
  EXPECT_EQ(trace.memory_samples.time, Times{10});
  EXPECT_EQ(trace.allocations.bytes, (Numbers{512, 1024}));
  EXPECT_EQ(trace.allocations.released, (Times{-1, 30}));
}

// That of the device is of other processes, too.
TEST(ProfilerDbDevice, ReadsTheMemoryOfTheProcess) {
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + R"(
      INSERT INTO STRING_IDS VALUES (901, 'app'), (902, 'device');
      CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER,
          deviceId INTEGER);
      INSERT INTO NPU_MEM VALUES (902, 0, 90, 1, 0), (901, 2, 40, 5, 0), (901, -1, 40, 6, 0);)");
  EXPECT_EQ(trace.memory_samples.reserved_bytes, Numbers{42});
  EXPECT_EQ(trace.memory_samples.time, Times{5});
  EXPECT_EQ(test::ColumnTexts(trace, trace.memory_samples.component), (Names{"APP"}));
  EXPECT_HAS_TEXT(trace.issues.Lines().front(), "memory sample left out, invalid size");
}

TEST(ProfilerDbDevice, ReadsTheMemoryOfOperatorsWhereNothingElseHasIt) {
  const std::string table = kTexts + test::kTasks + R"(
      INSERT INTO STRING_IDS VALUES (901, 'allocate'), (902, 'release'), (903, 'Conv');
      CREATE TABLE NPU_OP_MEM (operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER,
          timestampNs INTEGER, globalTid INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC,
          component INTEGER, deviceId INTEGER);
      INSERT INTO NPU_OP_MEM VALUES (903, 7, 902, 10, 50, 1, 20, 90, 0, 0),
          (903, 7, 901, 10, 20, 1, 10, 80, 0, 0), (903, 8, 901, 20, 30, 1, 30, 90, 0, 0),
          (903, 9, 901, -5, 35, 1, 30, 90, 0, 0), (903, 7, 901, 4, 60, 1, 24, 90, 0, 0),
          (903, 6, 901, 4, 70, 1, 24, 90, 0, 3);)";
  const RankTrace trace = ReadDeviceDb(table);
  EXPECT_EQ(trace.allocations.bytes, (Numbers{10, 20, 4}));
  EXPECT_EQ(trace.allocations.allocated, (Times{20, 30, 60}));
  EXPECT_EQ(trace.allocations.released, (Times{50, -1, -1}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.allocations.name), (Names{"Conv", "Conv", "Conv"}));
  EXPECT_EQ(trace.memory_samples.reserved_bytes, (Numbers{80, 90, 90, 90}));
  EXPECT_EQ(trace.memory_samples.allocated_bytes, (Numbers{10, 30, 20, 24}));
  EXPECT_HAS_TEXT(trace.issues.Lines().front(), "allocation left out, invalid size");

  const RankTrace both = ReadDeviceDb(table + R"(
      CREATE TABLE OP_MEMORY (name INTEGER, size INTEGER, allocationTime INTEGER,
          releaseTime INTEGER);
      CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalAllocated INTEGER,
          totalReserved INTEGER);
      INSERT INTO OP_MEMORY VALUES (903, 512, 10, NULL);
      INSERT INTO MEMORY_RECORD VALUES (903, 10, 1, 2);)");
  EXPECT_EQ(both.allocations.bytes, Numbers{512});
  EXPECT_EQ(both.memory_samples.reserved_bytes, Numbers{2});
}

TEST(ProfilerDbDevice, ReadsTheTensorsOfKernels) {
  const std::string kernel = R"(
      INSERT INTO TASK (startNs, endNs, globalTaskId) VALUES (1000, 1300, 11);)";
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + kernel + R"(
      CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER,
          opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,
          outputFormats INTEGER, outputShapes INTEGER, hf32Eligible INTEGER);
      INSERT INTO STRING_IDS VALUES (20, 'ND;NZ'), (21, 'FLOAT16;INT8'), (22, '"2,3;3,4"'),
          (23, 'NCHW'), (24, '"2,4"'), (25, 'NO');
      INSERT INTO COMPUTE_TASK_INFO VALUES (1, 11, 3, 2, 20, 21, 22, 23, 24, 25);)");
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.input_formats), (Names{"ND;NZ"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.input_types), (Names{"FLOAT16;INT8"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.shapes), (Names{"\"2,3;3,4\""}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.output_formats), (Names{"NCHW"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.output_shapes), (Names{"\"2,4\""}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.hf32), (Names{"NO"}));
  // Older exporters do not write these columns.
  const RankTrace old =
      ReadDeviceDb(kTexts + test::kTasks + test::kComputeTasks + kernel +
                   "INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId) VALUES (1, 11);");
  EXPECT_EQ(test::ColumnTexts(old, old.kernels.output_shapes), (Names{""}));
}

TEST(ProfilerDbDevice, ReadsTheClockOfTheRanksOwnDevice) {
  const RankTrace trace = ReadDeviceDb(kTexts + test::kTasks + R"(
      CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
      CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER);
      INSERT INTO RANK_DEVICE_MAP VALUES (9, 1);
      INSERT INTO AICORE_FREQ VALUES (1, 300, 1650), (0, 200, 800), (1, 100, 1800), (1, 50, 0);)");
  EXPECT_EQ(trace.device_id, 1);
  EXPECT_EQ(trace.core_clocks.start, (Times{100, 300}));
  EXPECT_EQ(trace.core_clocks.mhz, (Numbers{1800, 1650}));
}

}  // namespace
}  // namespace mpa
