// SPDX-License-Identifier: Apache-2.0
// From the files of a capture to the device work of its operators.
#include "mpa/measure/op_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/comparing.h"
#include "support/files.h"
#include "support/profiler_db.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Texts = std::vector<std::string>;

// "aten::mm: MatMul, Add" for every operator that launched something.
Texts LaunchedBy(const RankTrace& trace) {
  const OpTree tree(trace);
  Texts lines;
  for (const std::uint32_t op : tree.InOrder()) {
    std::string line;
    for (const DeviceWork& work : tree.Work(op)) {
      line += fmt::format("{} {}", line.empty() ? ":" : ",", NameOf(trace, work));
    }
    if (line.empty()) continue;
    lines.push_back(std::string(trace.strings.View(trace.host_ops.name[op])) + line);
  }
  return lines;
}

std::vector<LaunchedWork> Launched(const RankTrace& trace) { return OpTree(trace).Launched(); }

// Threads 5 (main) and 6 (queue) of process 3: globalTid holds the process in its upper half.
const std::string kDatabase = std::string(test::kStrings) + test::kOperators + test::kTasks +
                              test::kComputeTasks + test::kCollectives + R"(
    CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,
        connectionId INTEGER PRIMARY KEY, name INTEGER);
    INSERT INTO STRING_IDS VALUES
        (1, 'aten::addmm'), (2, 'aten::copy_'), (3, 'c10d::allreduce_'), (4, 'Enqueue'),
        (5, 'Dequeue@copy'), (6, 'MatMul'), (7, 'Cast'), (8, 'Add'), (9, 'MEMCPY_ASYNC'),
        (10, 'hcom_allReduce__001_0_1'), (11, 'group'), (12, 'nn.Module: Net_0');
    INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) VALUES
        (900, 9000, 12884901893, NULL, 12, 50003),
        (1000, 2000, 12884901893, 100, 1, 50001),
        (3000, 4000, 12884901893, NULL, 2, 50001),
        (3100, 3110, 12884901893, 101, 4, 50002),
        (5000, 5500, 12884901894, 101, 5, 50002),
        (5000, 6000, 12884901893, 102, 3, 50001);
    INSERT INTO CONNECTION_IDS VALUES (100, 71), (100, 72), (100, 73), (101, 900), (102, 75);
    INSERT INTO CANN_API VALUES (5100, 5200, 20000, 12884901894, 74, 9);
    INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId, taskType, streamId) VALUES
        (10000, 10100, 71, 1, 6, 2), (10100, 10150, 72, 2, 6, 2), (10200, 10220, 73, 3, 6, 2),
        (11000, 11500, 74, 4, 9, 2);
    INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId) VALUES (6, 1), (7, 2), (8, 3);
    INSERT INTO COMMUNICATION_OP (opName, startNs, endNs, connectionId, groupName, opId) VALUES
        (10, 12000, 13000, 75, 11, 1);)";

RankTrace ReadDatabase(const std::string& sql = kDatabase) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kProfilerDb,
                        test::BuildDatabase(dir / "ascend_pytorch_profiler_0.db", sql));
}

TEST(LaunchedWork, OfDatabasesHasKernelsCopiesAndCollectives) {
  // The copy is queued at 3100, within aten::copy_; the runtime is called while c10d::allreduce_
  // runs on the main thread.
  EXPECT_EQ(LaunchedBy(ReadDatabase()),
            (Texts{"aten::addmm: MatMul, Cast, Add", "aten::copy_: MEMCPY_ASYNC",
                   "c10d::allreduce_: hcom_allReduce__001_0_1"}));
}

TEST(LaunchedWork, OfDatabasesHasCopiesWhateverTheKeyOfTheRuntimesCalls) {
  std::string sql = kDatabase;
  const std::string key = "connectionId INTEGER PRIMARY KEY, name";
  sql.replace(sql.find(key), key.size(), "connectionId INTEGER, name");
  EXPECT_EQ(LaunchedBy(ReadDatabase(sql)), LaunchedBy(ReadDatabase()));
}

TEST(LaunchedWork, OfACallAtAnImpossibleTimeHasNoLaunchAndIsCounted) {
  const RankTrace trace =
      ReadDatabase(kDatabase + "UPDATE CANN_API SET startNs = 9000000000000000000;");
  EXPECT_EQ(std::count(trace.launches.link.begin(), trace.launches.link.end(), 74), 0);
  EXPECT_TRUE(trace.issues.Contains("row left out, invalid start or end"));
}

// COMMUNICATION_TASK_INFO, which would name them, is missing; two tasks of the collective share its
// connection, one also its start.
TEST(LaunchedWork, OfACollectiveLeavesItsTasksOut) {
  const test::TempDir dir;
  const RankTrace trace =
      test::ReadFile(FileKind::kProfilerDb,
                     test::BuildDatabase(dir / "ascend_pytorch_profiler_0.db", kDatabase + R"(
          INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId, taskType, streamId) VALUES
              (12000, 12100, 75, 5, 9, 3), (12200, 12300, 75, 6, 9, 3);)"));
  EXPECT_EQ(LaunchedBy(trace).back(), "c10d::allreduce_: hcom_allReduce__001_0_1");
}

TEST(LaunchedWork, OfAnOperatorWithThreeLaunchesLeavesItOneCall) {
  const RankTrace trace = ReadDatabase();
  const Report api = test::Compare("api", trace, trace);
  ASSERT_EQ(api.sheets.size(), 1u);
  EXPECT_EQ(test::Lines(api.sheets[0], 5, 6), (Texts{"1", "1", "1"}));
  const Report modules = test::Compare("operator", trace, trace);
  ASSERT_EQ(modules.sheets.size(), 2u);
  EXPECT_EQ(test::Lines(modules.sheets[0], 4, 6).at(1),
            "aten::addmm MatMul, [number: 1], [duration_ms: 0.000]\n"
            "Cast, [number: 1], [duration_ms: 0.000]\nAdd, [number: 1], [duration_ms: 0.000]\n");
}

// An operator that launches one kernel; the times of the kernel and of the end of the launch as
// the trace writes them.
RankTrace ReadOneTrace(std::string_view kernel_time, std::string_view launch_end,
                       std::string_view kernel = "MatMul") {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kTraceView,
                        dir.Write("trace_view.json", fmt::format(R"([
      {{"ph":"M","name":"process_name","pid":10,"tid":0,"args":{{"name":"Ascend Hardware"}}}},
      {{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":"300.000","dur":2}},
      {{"ph":"X","name":"{2}","pid":10,"tid":4,"ts":{0},"dur":2,
        "args":{{"Task Type":"AI_CORE","Stream Id":4,"Task Id":7}}}},
      {{"ph":"s","cat":"async_npu","id":1,"name":"torch_to_npu","pid":1,"tid":2,"ts":"300.0"}},
      {{"ph":"f","cat":"async_npu","id":1,"name":"torch_to_npu","pid":10,"tid":4,"ts":{1}}}])",
                                                                 kernel_time, launch_end, kernel)));
}

TEST(LaunchedWork, IsFoundHoweverItsTimeIsWritten) {
  const Texts expected{"aten::mm: MatMul"};
  EXPECT_EQ(LaunchedBy(ReadOneTrace(R"("331.650")", R"("331.65")")), expected);
  EXPECT_EQ(LaunchedBy(ReadOneTrace("331.65", R"("331.650\t")")), expected);
  EXPECT_EQ(LaunchedBy(ReadOneTrace("331", R"("331.000")")), expected);
  EXPECT_EQ(LaunchedBy(ReadOneTrace(R"("331.650")", R"("331.651")")), Texts{});
}

TEST(LaunchedWork, DoesNotTakeTheShapesOfAnotherLaunch) {
  RankTrace trace = ReadOneTrace("331", "331", "MEMCPY_ASYNC");
  const std::int64_t link = trace.device_tasks.link.at(0);
  const auto describe = [&] { return DescribeWork(trace, Launched(trace).at(0).work); };
  const auto add_kernel = [&](std::string_view shapes, std::int64_t of) {
    trace.kernels.Append({.start = 331000, .shapes = trace.strings.Intern(shapes), .link = of});
  };
  add_kernel("1", link + 1);  // another kernel that starts in the same instant
  EXPECT_EQ(describe(), "MEMCPY_ASYNC, 7, AI_CORE [duration: 2.0]\n");
  add_kernel("2", -1);  // whose launch is unknown
  EXPECT_EQ(describe(), "MEMCPY_ASYNC, 7, AI_CORE, [input shapes: 2] [duration: 2.0]\n");
  add_kernel("3", link);
  add_kernel("4", -1);
  EXPECT_EQ(describe(), "MEMCPY_ASYNC, 7, AI_CORE, [input shapes: 3] [duration: 2.0]\n");
}

// A trace of the operator aten::op on thread 2 of process 1 from 300 to 310 us, of stream 4 of the
// device, and of a group of collectives; with further events.
RankTrace ReadTraceWith(std::string_view events) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kTraceView, dir.Write("trace_view.json", fmt::format(R"([
      {{"ph":"M","name":"process_name","pid":10,"tid":0,"args":{{"name":"Ascend Hardware"}}}},
      {{"ph":"M","name":"process_name","pid":11,"tid":0,"args":{{"name":"Communication"}}}},
      {{"ph":"M","name":"process_name","pid":12,"tid":0,"args":{{"name":"CANN"}}}},
      {{"ph":"M","name":"thread_name","pid":11,"tid":0,"args":{{"name":"Group 1 Communication"}}}},
      {{"ph":"M","name":"thread_sort_index","pid":11,"tid":0,"args":{{"sort_index":0}}}},
      {{"ph":"X","cat":"cpu_op","name":"aten::op","pid":1,"tid":2,"ts":300,"dur":10}},
      {{"ph":"s","cat":"async_npu","id":1,"name":"torch_to_npu","pid":1,"tid":2,"ts":300}},
      {}])",
                                                                                       events)));
}

// The operator has two arrows; one ends at a wait for an event.
TEST(LaunchedWork, HasNoWaits) {
  const RankTrace trace = ReadTraceWith(R"(
      {"ph":"X","name":"EVENT_WAIT","pid":10,"tid":4,"ts":320,"dur":5000,
        "args":{"Task Type":"EVENT_WAIT"}},
      {"ph":"X","name":"MatMul","pid":10,"tid":4,"ts":5400,"dur":2,
        "args":{"Task Type":"AI_CORE"}},
      {"ph":"f","cat":"async_npu","id":1,"name":"torch_to_npu","pid":10,"tid":4,"ts":320},
      {"ph":"s","cat":"async_npu","id":2,"name":"torch_to_npu","pid":1,"tid":2,"ts":300},
      {"ph":"f","cat":"async_npu","id":2,"name":"torch_to_npu","pid":10,"tid":4,"ts":5400})");
  EXPECT_EQ(LaunchedBy(trace), (Texts{"aten::op: MatMul"}));
}

// A kernel and a wait that start in one instant: arrows are numbered by these times.
TEST(LaunchedWork, HasTheKernelsOfArrowsWithOneNumber) {
  const RankTrace trace = ReadTraceWith(R"(
      {"ph":"X","name":"MatMul","pid":10,"tid":4,"ts":320,"dur":2,"args":{"Task Type":"AI_CORE"}},
      {"ph":"X","name":"EVENT_WAIT","pid":10,"tid":5,"ts":320,"dur":9,
        "args":{"Task Type":"EVENT_WAIT"}},
      {"ph":"f","cat":"async_npu","id":1,"name":"torch_to_npu","pid":10,"tid":4,"ts":320},
      {"ph":"s","cat":"async_npu","id":1,"name":"torch_to_npu","pid":1,"tid":2,"ts":300},
      {"ph":"f","cat":"async_npu","id":1,"name":"torch_to_npu","pid":10,"tid":5,"ts":320})");
  EXPECT_EQ(LaunchedBy(trace), (Texts{"aten::op: MatMul"}));
}

// The arrow ends at the first copy that the second run of the collective makes, which begins before
// the tasks by which the collective is timed.
TEST(LaunchedWork, HasTheCollectiveOfWhichACopyIsAPiece) {
  const RankTrace trace = ReadTraceWith(R"(
      {"ph":"X","name":"hcom_allReduce__1_0_1","pid":11,"tid":0,"ts":100,"dur":5,
        "args":{"connection_id":8}},
      {"ph":"X","name":"hcom_allReduce__1_1_1","pid":11,"tid":0,"ts":322,"dur":50,
        "args":{"connection_id":9}},
      {"ph":"X","name":"MEMCPY_ASYNC","pid":10,"tid":4,"ts":321,"dur":2,
        "args":{"Task Type":"SDMA_SQE","connection_id":9}},
      {"ph":"X","name":"MEMCPY_ASYNC","pid":10,"tid":4,"ts":340,"dur":2,
        "args":{"Task Type":"SDMA_SQE","connection_id":9}},
      {"ph":"f","cat":"async_npu","id":1,"name":"torch_to_npu","pid":10,"tid":4,"ts":321})");
  EXPECT_EQ(LaunchedBy(trace), (Texts{"aten::op: hcom_allReduce__1_1_1"}));
}

TEST(LaunchedWork, HasTheRunOfACollectiveInWhichTheCopyIs) {
  const RankTrace trace = ReadTraceWith(R"(
      {"ph":"X","name":"hcom_allReduce__1_0_1","pid":11,"tid":0,"ts":311,"dur":5,
        "args":{"connection_id":9}},
      {"ph":"X","name":"hcom_allReduce__1_0_2","pid":11,"tid":0,"ts":320,"dur":5,
        "args":{"connection_id":9}},
      {"ph":"X","name":"hcom_allReduce__1_0_3","pid":11,"tid":0,"ts":330,"dur":5,
        "args":{"connection_id":9}},
      {"ph":"X","name":"MEMCPY_ASYNC","pid":10,"tid":4,"ts":321,"dur":2,
        "args":{"Task Type":"SDMA_SQE","connection_id":9}},
      {"ph":"f","cat":"async_npu","id":1,"name":"torch_to_npu","pid":10,"tid":4,"ts":321})");
  EXPECT_EQ(LaunchedBy(trace), (Texts{"aten::op: hcom_allReduce__1_0_2"}));
}

// No arrow of the framework ends at the copies; two of them are made by a call on the operator's
// thread, the third by one of a thread that runs no operators, the last is a piece of a collective.
TEST(LaunchedWork, HasCopiesThatTheOperatorMadeItself) {
  const RankTrace trace = ReadTraceWith(R"(
      {"ph":"X","name":"hcom_send__1_0_1","pid":11,"tid":0,"ts":400,"dur":50,
        "args":{"connection_id":9}},
      {"ph":"X","name":"MEMCPY_ASYNC","pid":10,"tid":4,"ts":320,"dur":1,
        "args":{"Task Type":"SDMA_SQE","connection_id":7}},
      {"ph":"X","name":"MEMCPY_ASYNC","pid":10,"tid":4,"ts":330,"dur":1,
        "args":{"Task Type":"SDMA_SQE","connection_id":7}},
      {"ph":"X","name":"MEMCPY_ASYNC","pid":10,"tid":4,"ts":340,"dur":1,
        "args":{"Task Type":"SDMA_SQE","connection_id":8}},
      {"ph":"X","name":"MEMCPY_ASYNC","pid":10,"tid":4,"ts":410,"dur":1,
        "args":{"Task Type":"SDMA_SQE","connection_id":9}},
      {"ph":"s","cat":"HostToDevice","id":"7","name":"HostToDevice","pid":12,"tid":2,"ts":305},
      {"ph":"f","cat":"HostToDevice","id":"7","name":"HostToDevice","pid":10,"tid":4,"ts":320},
      {"ph":"f","cat":"HostToDevice","id":"7","name":"HostToDevice","pid":10,"tid":4,"ts":330},
      {"ph":"s","cat":"HostToDevice","id":"8","name":"HostToDevice","pid":12,"tid":3,"ts":305},
      {"ph":"f","cat":"HostToDevice","id":"8","name":"HostToDevice","pid":10,"tid":4,"ts":340},
      {"ph":"s","cat":"HostToDevice","id":"9","name":"HostToDevice","pid":12,"tid":2,"ts":305},
      {"ph":"f","cat":"HostToDevice","id":"9","name":"HostToDevice","pid":10,"tid":4,"ts":410})");
  EXPECT_EQ(LaunchedBy(trace), (Texts{"aten::op: MEMCPY_ASYNC, MEMCPY_ASYNC"}));
}

// The trace lists it as a task and as an operation, kernel_details.csv as a kernel.
TEST(LaunchedWork, CountsAKernelOfLcclOnceAndTellsAllOfIt) {
  RankTrace trace = ReadOneTrace("331", "331", "kernel_aivec");
  trace.kernels.Append({.start = 331000,
                        .dur = 2000,
                        .name = trace.strings.Intern("kernel_aivec"),
                        .shapes = trace.strings.Intern("8,8"),
                        .link = trace.device_tasks.link.at(0)});
  ASSERT_EQ(trace.communications.link, trace.device_tasks.link);
  const std::vector<LaunchedWork> launched = Launched(trace);
  ASSERT_EQ(launched.size(), 1u);
  EXPECT_EQ(DescribeWork(trace, launched[0].work),
            "kernel_aivec, 7, AI_CORE, [input shapes: 8,8] [duration: 2.0]\n");
}

}  // namespace
}  // namespace mpa
