// SPDX-License-Identifier: Apache-2.0
// Calls of the runtime, device runs and iterations, as both formats record them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/files.h"
#include "support/profiler_db.h"
#include "support/reading.h"

namespace mpa {
namespace {

using test::ColumnTexts;

// The process is 7: those of the viewer carry its number 10 bits further up.
constexpr const char* kRuntimeTrace = R"([
{"ph":"M","name":"process_name","pid":7392,"tid":0,"args":{"name":"CANN"}},
{"ph":"M","name":"process_name","pid":7587,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"M","name":"process_name","pid":7700,"tid":0,"args":{"name":"Step Trace"}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":7,"tid":70,"ts":"1700000000000000.123","dur":1},
{"ph":"X","name":"Node@launch","pid":7392,"tid":70,"ts":"1700000000000001.001","dur":2.5,
 "args":{"Thread Id":70,"item_id":"Add_1","connection_id":12}},
{"ph":"X","name":"Model@ModelExecute","pid":7392,"tid":71,"ts":"1700000000000002","dur":3,
 "args":{"item_id":"5","request_id":9}},
{"ph":"X","name":"Node@launch","pid":7392,"tid":70,"ts":"1700000000000004","dur":1,"args":{}},
{"ph":"s","cat":"HostToDevice","id":"13","name":"HostToDevice13","pid":7392,"tid":70,
 "ts":"1700000000000004"},
{"ph":"f","cat":"HostToDevice","id":"13","name":"HostToDevice13","pid":7587,"tid":2,
 "ts":"1700000000000006"},
{"ph":"X","name":"Add_1","pid":7587,"tid":2,"ts":"1700000000000005.001","dur":1,
 "args":{"Model Id":5,"Task Type":"AI_CORE","connection_id":12}},
{"ph":"X","name":"Mul_1","pid":7587,"tid":2,"ts":"1700000000000006","dur":1,
 "args":{"Model Id":4294967295,"Task Type":"AI_VECTOR_CORE"}},
{"ph":"X","name":"Notify Wait","pid":7587,"tid":2,"ts":"1700000000000008","dur":1,
 "args":{"Task Type":"Notify Wait"}},
{"ph":"X","name":"MEMCPY_ASYNC","pid":7587,"tid":2,"ts":"1700000000000009","dur":1,
 "args":{"Task Type":"SDMA_SQE"}},
{"ph":"X","name":"Iteration 9","pid":7700,"tid":70005,"ts":"1700000000000005","dur":4,"args":{}},
{"ph":"X","name":"Reduce_1_0","pid":7700,"tid":70005,"ts":"1700000000000005","dur":4,"args":{}},
{"ph":"X","cat":"GC","name":"GC","pid":3,"tid":70,"ts":"1700000000000010","dur":2}])";

constexpr TimeNs kEpoch = 1'700'000'000'000'000'000;

class RuntimeOfTrace : public ::testing::Test {
 protected:
  RankTrace Read(Tables wanted = test::kAllTables) const {
    return test::ReadFile(FileKind::kTraceView, dir_.Write("trace_view.json", kRuntimeTrace),
                          {wanted, ""});
  }
  const test::TempDir dir_;
};

TEST_F(RuntimeOfTrace, CallsRunOnTheThreadsOfTheProgram) {
  const RankTrace trace = Read();
  const HostCalls& calls = trace.host_calls;
  EXPECT_EQ(ColumnTexts(trace, calls.name),
            (std::vector<std::string>{"Node@launch", "Model@ModelExecute", "Node@launch"}));
  EXPECT_EQ(calls.start[0], kEpoch + 1001);
  EXPECT_EQ(calls.dur[0], 2500);
  EXPECT_EQ(trace.strings.View(calls.item[0]), "Add_1");
  EXPECT_EQ(calls.track[0], trace.host_ops.track[0]);
  const auto worker = static_cast<std::size_t>(calls.track[1]);
  EXPECT_EQ(trace.tracks.pid[worker], 7);
  EXPECT_EQ(trace.tracks.tid[worker], 71);
  EXPECT_EQ(calls.model[1], 5);
  EXPECT_EQ(calls.request[1], 9);
  EXPECT_EQ(calls.connection, (std::vector<std::int64_t>{12, -1, 13}));
}

TEST_F(RuntimeOfTrace, DeviceRunsAreKernelsWithTheirModelAndConnection) {
  const RankTrace trace = Read();
  const DeviceRuns& runs = trace.device_runs;
  EXPECT_EQ(ColumnTexts(trace, runs.name), (std::vector<std::string>{"Add_1", "Mul_1"}));
  EXPECT_EQ(runs.start[0], kEpoch + 5001);
  EXPECT_EQ(runs.model, (std::vector<std::int64_t>{5, -1}));
  EXPECT_EQ(runs.connection, (std::vector<std::int64_t>{12, 13}));  // the second by its arrow
  EXPECT_EQ(runs.pid[0], 7);
  EXPECT_EQ(runs.device[0], 3);
}

TEST_F(RuntimeOfTrace, IterationsAndGarbage) {
  const RankTrace trace = Read();
  EXPECT_EQ(trace.model_iterations.model, std::vector<std::int64_t>{5});
  EXPECT_EQ(trace.model_iterations.iteration, std::vector<std::int64_t>{9});
  EXPECT_EQ(trace.garbage_collections.dur, std::vector<TimeNs>{2000});
}

TEST(RuntimeOfBrokenTrace, IterationsOnImpossibleThreadsAreNone) {
  const test::TempDir dir;
  const RankTrace trace = test::ReadFile(FileKind::kTraceView, dir.Write("trace_view.json", R"([
      {"ph":"M","name":"process_name","pid":1,"args":{"name":"Step Trace"}},
      {"ph":"X","name":"Iteration 9","pid":1,"tid":-9223372036854775808,"ts":5,"dur":4}])"));
  EXPECT_TRUE(trace.model_iterations.Empty());
}

TEST_F(RuntimeOfTrace, OtherAnalysesDoNotPayForIt) {
  const RankTrace trace = Read(Tables::kHostOps);
  EXPECT_TRUE(trace.host_calls.Empty());
  EXPECT_TRUE(trace.device_runs.Empty());
  EXPECT_TRUE(trace.model_iterations.Empty());
  EXPECT_TRUE(trace.garbage_collections.Empty());
  EXPECT_TRUE(Read(Tables::kHostCalls).device_runs.Empty());
}

TEST(RuntimeOfDatabase, CallsRunsGarbageAndSession) {
  const test::TempDir dir;
  constexpr const char* kRows =
      "INSERT INTO STRING_IDS VALUES (1,'launch'),(2,'ModelExecute'),(3,'Add_1'),(4,'hcom');"
      "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,"
      " connectionId INTEGER PRIMARY KEY, name INTEGER);"
      "INSERT INTO CANN_API VALUES (100,150,10000,30064771142,12,1),"
      "(200,250,15000,30064771142,13,2),(300,290,10000,30064771142,14,1);"
      "INSERT INTO TASK VALUES (160,180,3,12,1,7,0,0,2,0,5),(190,195,3,0,2,7,0,0,2,0,4294967295),"
      "(300,310,3,20,3,7,0,0,2,0,4294967295);"
      "INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId) VALUES (3,1);"
      "INSERT INTO COMMUNICATION_OP (opName,startNs,endNs,connectionId,opId) VALUES"
      " (4,300,400,20,1);"
      "CREATE TABLE GC_RECORD (startNs INTEGER, endNs INTEGER, globalTid INTEGER);"
      "INSERT INTO GC_RECORD VALUES (10,30,30064771142);"
      "CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);"
      "INSERT INTO SESSION_TIME_INFO VALUES (5,500);";
  const std::string sql = fmt::format("{}{}{}{}{}", test::kStrings, test::kTasks,
                                      test::kComputeTasks, test::kCollectives, kRows);
  const RankTrace trace = test::ReadFile(
      FileKind::kProfilerDb, test::BuildDatabase(dir / "ascend_pytorch_profiler.db", sql));
  const HostCalls& calls = trace.host_calls;
  EXPECT_EQ(ColumnTexts(trace, calls.name),
            (std::vector<std::string>{"Node@launch", "Model@ModelExecute"}));
  EXPECT_EQ(trace.tracks.pid[static_cast<std::size_t>(calls.track[0])], 7);
  EXPECT_EQ(trace.tracks.tid[static_cast<std::size_t>(calls.track[0])], 70);
  EXPECT_EQ(calls.connection[0], 12);
  EXPECT_EQ(calls.model[1], -1);       // not in databases
  EXPECT_FALSE(trace.issues.Empty());  // the call that ends before it begins

  const DeviceRuns& runs = trace.device_runs;
  EXPECT_EQ(ColumnTexts(trace, runs.name), (std::vector<std::string>{"Add_1", "hcom"}));
  EXPECT_EQ(runs.is_collective, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(runs.model, (std::vector<std::int64_t>{5, -1}));
  EXPECT_EQ(runs.device, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(runs.stream, (std::vector<std::int64_t>{2, -1}));
  EXPECT_EQ(runs.pid, (std::vector<std::int64_t>{7, 7}));
  EXPECT_EQ(trace.garbage_collections.dur, std::vector<TimeNs>{20});
  EXPECT_EQ(trace.session_start, 5);
  EXPECT_EQ(trace.session_end, 500);
}

}  // namespace
}  // namespace mpa
