// SPDX-License-Identifier: Apache-2.0
// What the formats say of the host beside its operators: shapes, call stacks, Python functions,
// modules, the backward pass, queued work; and which device work a launch ends at.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "readers/python_text.h"
#include "support/files.h"
#include "support/profiler_db.h"
#include "support/reading.h"

namespace mpa {
namespace {

using test::ColumnTexts;
using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;
using Times = std::vector<TimeNs>;

RankTrace ReadNpu(const std::string& events, Tables wanted = test::kAllTables) {
  const test::TempDir dir;
  return test::ReadFile(
      FileKind::kTraceView,
      dir.Write("trace_view.json",
                R"([{"ph":"M","name":"process_name","pid":9,"args":{"name":"Ascend Hardware"}},)" +
                    events + "]"),
      {wanted, ""});
}

RankTrace ReadGpu(const std::string& events, Tables wanted = test::kAllTables) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kKinetoTrace,
                        dir.Write("gpu.json", R"({"traceEvents":[)" + events + "]}"), {wanted, ""});
}

constexpr const char* kOpWithDetails =
    R"({"ph":"X","cat":"cpu_op","name":"mm","pid":1,"tid":2,"ts":1,"dur":1,"args":{
        "Input Dims":"2,3;\r\n3,4","Input type":"float;\r\nfloat","Call stack":"a.py(1): f"}})";
constexpr const char* kOpWithout =
    R"({"ph":"X","cat":"cpu_op","name":"add","pid":1,"tid":2,"ts":3,"dur":1})";

TEST(TraceViewDetails, ReadsShapesTypesAndStacks) {
  const RankTrace trace = ReadNpu(std::string(kOpWithDetails) + "," + kOpWithout);
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.shapes), (Names{"2,3;\r\n3,4", "N/A"}));
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.types), (Names{"float;\r\nfloat", "N/A"}));
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.stack), (Names{"a.py(1): f", "N/A"}));
}

TEST(TraceViewDetails, AreLeftOutWhenNobodyAsks) {
  const RankTrace trace = ReadNpu(
      std::string(kOpWithDetails) +
          R"(,{"ph":"X","cat":"python_function","name":"f","pid":1,"tid":2,"ts":1,"dur":1})",
      Tables::kHostOps);
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.shapes), Names{""});
  EXPECT_TRUE(trace.python_calls.Empty());
}

TEST(TraceViewDetails, ReadsStacksAlone) {
  const RankTrace trace =
      ReadNpu(std::string(kOpWithDetails) + "," + kOpWithout, Tables::kHostOps | Tables::kOpStacks);
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.stack), (Names{"a.py(1): f", ""}));
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.shapes), (Names{"", ""}));
}

TEST(TraceViewDetails, ReadsPythonFunctionsOnTheThreadOfTheOperators) {
  const RankTrace trace = ReadNpu(
      std::string(kOpWithout) +
      R"(,{"ph":"X","cat":"Python_Function","name":"nn.Module: A_0","pid":1,"tid":2,"ts":"2.5","dur":4})");
  EXPECT_EQ(ColumnTexts(trace, trace.python_calls.name), Names{"nn.Module: A_0"});
  EXPECT_EQ(trace.python_calls.start, Times{2500});
  EXPECT_EQ(trace.python_calls.dur, Times{4000});
  EXPECT_EQ(trace.python_calls.track, trace.host_ops.track);
}

TEST(TraceViewDetails, PairsBothEndsOfQueuedWork) {
  const auto event = [](const char* category, int id, int tid, int ts) {
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"q","pid":1,"tid":{},"ts":{},"dur":2,"args":{{"correlation_id":{}}}}})",
        category, tid, ts, id);
  };
  const RankTrace trace =
      ReadNpu(event("enqueue", 1, 2, 10) + "," + event("enqueue", 2, 2, 20) + "," +
              event("dequeue", 2, 3, 40) + "," + event("dequeue", 1, 3, 30) + "," +
              event("dequeue", 7, 3, 50));  // queued before the collection
  EXPECT_EQ(trace.queued_work.queued, (Times{20000, 10000}));
  EXPECT_EQ(trace.queued_work.start, (Times{40000, 30000}));
  EXPECT_EQ(trace.queued_work.dur, (Times{2000, 2000}));
  EXPECT_NE(trace.queued_work.track[0], trace.queued_work.queued_track[0]);
}

TEST(TraceViewDetails, PairsForwardAndBackward) {
  const RankTrace trace = ReadNpu(
      R"({"ph":"s","cat":"fwdbwd","name":"x","id":5,"pid":1,"tid":2,"ts":10},
         {"ph":"f","cat":"fwdbwd","name":"x","id":5,"pid":1,"tid":3,"ts":30},
         {"ph":"s","cat":"fwdbwd","name":"x","id":6,"pid":1,"tid":2,"ts":11})");
  EXPECT_EQ(trace.backward_links.forward_time, Times{10000});
  EXPECT_EQ(trace.backward_links.backward_time, Times{30000});
}

TEST(TraceViewDetails, TiesALaunchToTheTaskOfItsStreamOnly) {
  const RankTrace trace = ReadNpu(
      R"({"ph":"X","name":"copy","pid":9,"tid":1,"ts":"50.500","dur":1},
         {"ph":"X","name":"other","pid":9,"tid":2,"ts":"50.5","dur":1},
         {"ph":"s","cat":"async_npu","name":"x","id":5,"pid":1,"tid":2,"ts":10},
         {"ph":"f","cat":"async_npu","name":"x","id":5,"pid":9,"tid":1,"ts":"50.5"})");
  ASSERT_EQ(trace.launches.Size(), 1u);
  EXPECT_EQ(trace.device_tasks.link, (Numbers{trace.launches.link[0], -1}));
}

TEST(TraceViewDetails, TiesTheFirstOfTwoLaunchesToTheTaskAtWhichBothEnd) {
  const RankTrace trace = ReadNpu(
      R"({"ph":"X","name":"k","pid":9,"tid":1,"ts":50,"dur":1},
         {"ph":"s","cat":"async_npu","name":"x","id":5,"pid":1,"tid":2,"ts":10},
         {"ph":"f","cat":"async_npu","name":"x","id":5,"pid":9,"tid":1,"ts":50},
         {"ph":"s","cat":"async_npu","name":"x","id":6,"pid":1,"tid":2,"ts":20},
         {"ph":"f","cat":"async_npu","name":"x","id":6,"pid":9,"tid":1,"ts":50})");
  EXPECT_EQ(trace.launches.host_time, (Times{10000, 20000}));
  EXPECT_EQ(trace.device_tasks.link, Numbers{trace.launches.link[0]});
}

TEST(TraceViewDetails, KeepsWhatADurationHasBeyondNanoseconds) {
  const RankTrace trace = ReadNpu(
      R"({"ph":"X","name":"a","pid":9,"tid":1,"ts":1,"dur":828.33653125},
         {"ph":"X","name":"b","pid":9,"tid":1,"ts":2,"dur":2.26},
         {"ph":"X","name":"c","pid":9,"tid":1,"ts":3,"dur":"2.2600625"})");
  EXPECT_EQ(trace.device_tasks.dur, (Times{828337, 2260, 2260}));
  EXPECT_EQ(trace.device_tasks.dur_rest, (std::vector<double>{-0.46875f, 0, 0.0625f}));
}

TEST(PythonText, PrintsArraysAsPythonDoes) {
  EXPECT_EQ(readers::PythonText("[[32,3],[ ],[\"int\",null,true,1.5]]"),
            "[[32, 3], [], ['int', None, True, 1.5]]");
  EXPECT_EQ(readers::PythonText(" [\n 1 ,\t2 ] "), "[1, 2]");
}

TEST(PythonText, LeavesOtherTextAlone) {
  EXPECT_EQ(readers::PythonText("2,3;\r\n4"), "2,3;\r\n4");
  EXPECT_EQ(readers::PythonText(""), "");
}

TEST(PythonText, EndsWithTextThatBreaksOff) {
  EXPECT_EQ(readers::PythonText("[\"ab"), "['a'");  // as much as can be told
  EXPECT_EQ(readers::PythonText("[1,"), "[1, ");
}

TEST(KinetoDetails, ReadsShapesAndTypesThatAreArrays) {
  const RankTrace trace = ReadGpu(
      R"({"ph":"X","cat":"cpu_op","name":"mm","pid":1,"tid":2,"ts":1,"dur":1,"args":{
          "Input Dims":[[2,3],[],[3,4]],"Input type":["float","Scalar"],"Ewma":{"a":1}}})");
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.shapes), Names{"[[2, 3], [], [3, 4]]"});
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.types), Names{"['float', 'Scalar']"});
  EXPECT_EQ(ColumnTexts(trace, trace.host_ops.stack), Names{"N/A"});
}

TEST(KinetoDetails, TiesALaunchToTheKernelOfItsDeviceAndStream) {
  const auto kernel = [](int pid, int tid) {
    return fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"k","pid":{},"tid":{},"ts":5,"dur":1,
             "args":{{"device":0}}}})",
        pid, tid);
  };
  const RankTrace trace =
      ReadGpu(kernel(0, 7) + "," + kernel(1, 7) + "," + kernel(0, 0) +
              R"(,{"ph":"s","cat":"ac2g","name":"x","id":1,"pid":5,"tid":6,"ts":2},
          {"ph":"f","cat":"ac2g","name":"x","id":1,"pid":1,"tid":7,"ts":5},
          {"ph":"s","cat":"ac2g","name":"x","id":2,"pid":5,"tid":6,"ts":3},
          {"ph":"f","cat":"ac2g","name":"x","id":2,"pid":0,"tid":0,"ts":5})");
  EXPECT_EQ(trace.kernels.link, (Numbers{-1, 0, 1}));  // stream 0 is a stream
}

TEST(KinetoDetails, TiesLaunchesToCopiesAndMemsetsToo) {
  const RankTrace trace = ReadGpu(
      R"events({"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":5,"dur":8},
         {"ph":"s","cat":"ac2g","name":"x","id":1,"pid":5,"tid":6,"ts":2},
         {"ph":"f","cat":"ac2g","name":"x","id":1,"pid":0,"tid":7,"ts":5})events");
  EXPECT_EQ(trace.device_tasks.link, Numbers{0});
}

TEST(KinetoDetails, PairsAllocationsAndReleasesByAddress) {
  const auto memory = [](int ts, int bytes, int address) {
    return fmt::format(
        R"({{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":2,"ts":{},)"
        R"("args":{{"Device Id":0,"Bytes":{},"Addr":{},"Total Reserved":1}}}})",
        ts, bytes, address);
  };
  const RankTrace trace = ReadGpu(memory(1, 100, 16) + "," + memory(2, 200, 32) + "," +
                                  memory(5, -100, 16) + "," +  // released
                                  memory(6, 300, 32) + "," +   // allocated again before
                                  memory(7, 400, 48) + "," +   // never released
                                  memory(8, -999, 32) + "," +  // another size
                                  memory(9, -50, 64));         // allocated before the collection
  const Allocations& allocations = trace.allocations;
  EXPECT_EQ(allocations.bytes, (Numbers{100, 200, 400}));
  EXPECT_EQ(allocations.allocated, (Times{1000, 2000, 7000}));
  EXPECT_EQ(allocations.released, (Times{5000, -1, -1}));
}

RankTrace ReadDb(const std::string& sql, Tables wanted = test::kAllTables) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kProfilerDb,
                        test::BuildDatabase(dir / "ascend_pytorch_profiler_0.db",
                                            std::string(test::kStrings) + test::kOperators + sql),
                        {wanted, ""});
}

// One operator whose columns for types and shapes hold the texts 10 and 11.
std::string DbOp(const char* dtypes, const char* shapes, const char* rest = "") {
  return fmt::format(R"(
      INSERT INTO STRING_IDS VALUES (1, 'mm'), (10, 'float;Scalar'), (11, '2,3;'), (20, 'f'), (21, 'g');
      INSERT INTO PYTORCH_API (startNs, endNs, globalTid, name, inputDtypes, inputShapes, callchainId, type)
          VALUES ('100', '200', 1, 1, {}, {}, 3, 50001);{})",
                     dtypes, shapes, rest);
}

TEST(ProfilerDbDetails, ReadsShapesAndTypesWhicheverColumnTheyAreIn) {
  for (const auto& sql : {DbOp("10", "11"), DbOp("11", "10")}) {
    const RankTrace trace = ReadDb(sql);
    EXPECT_EQ(ColumnTexts(trace, trace.host_ops.shapes), Names{"2,3;"});
    EXPECT_EQ(ColumnTexts(trace, trace.host_ops.types), Names{"float;Scalar"});
  }
  const RankTrace none = ReadDb(DbOp("NULL", "NULL"));
  EXPECT_EQ(ColumnTexts(none, none.host_ops.shapes), Names{"N/A"});
  EXPECT_EQ(ColumnTexts(none, none.host_ops.types), Names{"N/A"});
}

TEST(ProfilerDbDetails, AreReadWithoutStacksAndStacksWithoutDetails) {
  const std::string sql = DbOp("10", "11", R"(
      CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER);
      INSERT INTO PYTORCH_CALLCHAINS VALUES (3, 20, 0);)");
  const RankTrace details = ReadDb(sql, Tables::kHostOps | Tables::kOpDetails);
  EXPECT_EQ(ColumnTexts(details, details.host_ops.shapes), Names{"2,3;"});
  EXPECT_EQ(ColumnTexts(details, details.host_ops.types), Names{"float;Scalar"});
  EXPECT_EQ(ColumnTexts(details, details.host_ops.stack), Names{"N/A"});
  const RankTrace stacks = ReadDb(sql, Tables::kHostOps | Tables::kOpStacks);
  EXPECT_EQ(ColumnTexts(stacks, stacks.host_ops.shapes), Names{""});
  EXPECT_EQ(ColumnTexts(stacks, stacks.host_ops.stack), Names{"f"});
}

TEST(ProfilerDbDetails, PutsCallStacksTogetherFromTheInside) {
  for (const char* frames : {"(1, 1, 0), (3, 21, 1), (3, 20, 0), (4, 1, 0)",
                             "(4, 1, 0), (3, 21, 1), (1, 1, 0), (3, 20, 0)"}) {
    const RankTrace trace = ReadDb(DbOp("10", "11", R"(
        CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER);
        INSERT INTO PYTORCH_CALLCHAINS VALUES )") +
                                   frames + ";");
    EXPECT_EQ(ColumnTexts(trace, trace.host_ops.stack), Names{"f;\r\ng"}) << frames;
  }
  const RankTrace none = ReadDb(DbOp("10", "11"));
  EXPECT_EQ(ColumnTexts(none, none.host_ops.stack), Names{"N/A"});
}

TEST(ProfilerDbDetails, PairsBothEndsOfQueuedWorkByTheConnectionTheyShare) {
  const RankTrace trace = ReadDb(R"(
      INSERT INTO STRING_IDS VALUES (1, 'Enqueue'), (2, 'Dequeue@mm'), (3, 'nn.Module: A_0');
      INSERT INTO CONNECTION_IDS VALUES (0, 70), (9, 70), (1, 71);
      INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) VALUES
          ('10', '12', 1, 0, 1, 50002), ('30', '35', 2, 9, 2, 50002), ('40', '41', 2, 1, 2, 50002),
          ('5', '50', 1, NULL, 3, 50003);)");
  EXPECT_EQ(trace.queued_work.queued, Times{10});
  EXPECT_EQ(trace.queued_work.start, Times{30});
  EXPECT_EQ(trace.queued_work.dur, Times{5});
  EXPECT_EQ(ColumnTexts(trace, trace.python_calls.name), Names{"nn.Module: A_0"});
  EXPECT_EQ(trace.python_calls.track, trace.queued_work.queued_track);
  EXPECT_TRUE(trace.host_ops.Empty());
  EXPECT_TRUE(trace.backward_links.Empty());  // two ends of a queue are no forward and backward
}

}  // namespace
}  // namespace mpa
