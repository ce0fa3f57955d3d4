// SPDX-License-Identifier: Apache-2.0
// Marks and ranges of the program itself, and the kernels that arrange collectives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mpa/model/step_selection.h"
#include "support/files.h"
#include "support/profiler_db.h"
#include "support/rank_builder.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Kinds = std::vector<MstxKind>;
using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;
using Times = std::vector<TimeNs>;

RankTrace ReadMstxDb(const std::string& sql, Tables wanted = test::kAllTables) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kProfilerDb,
                        test::BuildDatabase(dir / "ascend_pytorch_profiler_0.db",
                                            fmt::format("{}{}{}{}", test::kStrings,
                                                        test::kOperators, test::kTasks, sql)),
                        {wanted, ""});
}

// A mark, a push/pop range, a start/end range, a mark by the extended interface and one without
// message, domain, thread and end. Thread 5 of process 3.
const std::string kMstx = R"(
    CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER,
        category INTEGER, message INTEGER, globalTid INTEGER, endGlobalTid INTEGER,
        domainId INTEGER, connectionId INTEGER);
    INSERT INTO STRING_IDS VALUES (1, 'Linear'), (2, 'Module'), (3, 'aten::mm');
    INSERT INTO PYTORCH_API (startNs, endNs, globalTid, name, type) VALUES
        ('10', '20', 12884901893, 3, 50001);
    INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, message, globalTid, domainId) VALUES
        (100, 100, 0, 1, 12884901893, 2), (110, 120, 1, 1, 12884901893, 2),
        (130, 150, 2, 1, 12884901893, 2), (160, 160, 3, 1, 12884901893, 2),
        (170, NULL, NULL, NULL, NULL, NULL), (190, 180, 2, 1, 12884901893, 2);)";

TEST(Mstx, ReadsMarksAndRangesOfDatabases) {
  const RankTrace trace = ReadMstxDb(kMstx);
  const MstxEvents& mstx = trace.mstx;
  EXPECT_EQ(mstx.start, (Times{100, 110, 130, 160, 170}));
  EXPECT_EQ(mstx.dur, (Times{0, 10, 20, 0, 0}));
  EXPECT_EQ(mstx.kind, (Kinds{MstxKind::kMark, MstxKind::kPushPop, MstxKind::kStartEnd,
                              MstxKind::kMark, MstxKind::kMark}));
  EXPECT_EQ(test::ColumnTexts(trace, mstx.message),
            (Names{"Linear", "Linear", "Linear", "Linear", ""}));
  EXPECT_EQ(test::ColumnTexts(trace, mstx.domain),
            (Names{"Module", "Module", "Module", "Module", ""}));
  EXPECT_EQ(mstx.track[0], trace.host_ops.track[0]);
  EXPECT_EQ(mstx.track[4], -1);
  EXPECT_EQ(trace.issues.Lines().size(), 1u);  // the end before the start
}

// A range with two tasks, one without, one that nothing refers to.
TEST(Mstx, KnowsTheTasksOfDatabases) {
  const RankTrace trace = ReadMstxDb(kMstx + R"(
      DELETE FROM MSTX_EVENTS;
      INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, connectionId) VALUES
          (10, 20, 2, 4000000001), (30, 40, 2, 4000000002), (50, 60, 2, 4294967295);
      INSERT INTO TASK (startNs, endNs, connectionId) VALUES
          (500, 600, 4000000001), (450, 550, 4000000001), (1, 2, 4294967295);)");
  EXPECT_EQ(trace.mstx.link, (Numbers{4000000001, 4000000002, -1}));
  EXPECT_EQ(trace.mstx.device_start, (Times{450, -1, -1}));
  EXPECT_EQ(trace.mstx.device_dur[0], 150);
}

TEST(Mstx, KnowsTheKindsByTheirNames) {
  const RankTrace trace = ReadMstxDb(kMstx + R"(
      CREATE TABLE ENUM_MSTX_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES (0, 'start/end'), (2, 'marker');)");
  EXPECT_EQ(trace.mstx.kind[0], MstxKind::kStartEnd);
  EXPECT_EQ(trace.mstx.kind[2], MstxKind::kMark);
}

TEST(Mstx, DoesWithoutColumns) {
  const RankTrace trace = ReadMstxDb(R"(
      CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER);
      INSERT INTO MSTX_EVENTS VALUES (1, 1), (2, 4);)");
  EXPECT_EQ(trace.mstx.kind, (Kinds{MstxKind::kMark, MstxKind::kStartEnd}));
  EXPECT_EQ(trace.mstx.track, (std::vector<std::int32_t>{-1, -1}));
}

// Two ranges around steps, and one around something else; the table of steps comes first.
TEST(Mstx, MarksTheStepsWhereTheDatabaseHasNone) {
  const std::string marked = R"(
      CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, message INTEGER);
      INSERT INTO STRING_IDS VALUES (1, 'ProfilerStep#7'), (2, 'ProfilerStep#8'), (3, 'Linear');
      INSERT INTO MSTX_EVENTS VALUES (500, 900, 2), (100, 500, 1), (120, 130, 3);)";
  const std::string table = "CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);";
  for (const std::string& sql : {marked, marked + table}) {
    const RankTrace trace = ReadMstxDb(sql);
    EXPECT_EQ(trace.steps.id, (std::vector<std::int32_t>{7, 8})) << sql;
    EXPECT_EQ(trace.steps.start, (Times{100, 500})) << sql;
    EXPECT_EQ(trace.steps.end, (Times{500, 900})) << sql;
  }
  const RankTrace trace =
      ReadMstxDb(marked + table + "INSERT INTO STEP_TIME VALUES (3, 110, 490);");
  EXPECT_EQ(trace.steps.id, std::vector<std::int32_t>{3});
}

TEST(Mstx, IsReadIfWanted) {
  EXPECT_TRUE(ReadMstxDb(kMstx, Tables::kHostOps).mstx.Empty());
  EXPECT_TRUE(ReadMstxDb("").mstx.Empty());
}

constexpr const char* kTrace = R"([
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":44,"tid":5,"ts":"1.0","dur":2},
    {"ph":"M","name":"process_name","pid":45287,"tid":0,"args":{"name":"python3"}},
    {"ph":"X","name":"Linear","pid":45287,"tid":5,"ts":"0.500","dur":6.5,
     "args":{"event_type":"start/end","domain":"Module"}},
    {"ph":"X","name":"here","pid":45287,"tid":6,"ts":"0.700","dur":0.0,
     "args":{"event_type":"marker","domain":"default"}},
    {"ph":"X","name":"Node@launch","pid":45288,"tid":5,"ts":"0.800","dur":1.0,
     "args":{"Mode":"launch","level":"node"}}])";

RankTrace ReadText(Tables wanted = test::kAllTables) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kTraceView, dir.Write("trace_view.json", kTrace), {wanted, ""});
}

TEST(Mstx, ReadsMarksAndRangesOfTraces) {
  const RankTrace trace = ReadText();
  const MstxEvents& mstx = trace.mstx;
  EXPECT_EQ(mstx.start, (Times{500, 700}));
  EXPECT_EQ(mstx.dur, (Times{6500, 0}));
  EXPECT_EQ(mstx.kind, (Kinds{MstxKind::kStartEnd, MstxKind::kMark}));
  EXPECT_EQ(test::ColumnTexts(trace, mstx.message), (Names{"Linear", "here"}));
  EXPECT_EQ(test::ColumnTexts(trace, mstx.domain), (Names{"Module", "default"}));
  // The process is the viewer's, the thread that of the operator.
  EXPECT_EQ(mstx.track[0], trace.host_ops.track[0]);
  EXPECT_NE(mstx.track[1], trace.host_ops.track[0]);
  EXPECT_TRUE(ReadText(Tables::kHostOps).mstx.Empty());
}

// The arrow leads from the mark to the task of the second range.
TEST(Mstx, FollowsTheArrowsOfTraces) {
  const test::TempDir dir;
  const RankTrace trace = test::ReadFile(FileKind::kTraceView, dir.Write("trace_view.json", R"([
      {"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"Ascend Hardware"}},
      {"ph":"X","name":"a","pid":45287,"tid":5,"ts":"0.500","dur":6.5,
       "args":{"event_type":"start/end","domain":"d"}},
      {"ph":"s","id":"4000000001","name":"MsTx_4000000001","cat":"MsTx","pid":45287,"tid":5,"ts":"0.500"},
      {"ph":"X","name":"b","pid":45287,"tid":5,"ts":"8.000","dur":1,
       "args":{"event_type":"start/end","domain":"d"}},
      {"ph":"s","id":"4000000002","name":"MsTx_4000000002","cat":"MsTx","pid":45287,"tid":5,"ts":"8.000"},
      {"ph":"X","name":"b","pid":9,"tid":2,"ts":"20.000","dur":3,"args":{"Physic Stream Id":2,"Task Id":1}},
      {"ph":"f","bp":"e","id":"4000000002","name":"MsTx_4000000002","cat":"MsTx","pid":9,"tid":2,"ts":"20.000"}])"),
                                         {test::kAllTables, ""});
  EXPECT_EQ(trace.mstx.link, (Numbers{4000000001, 4000000002}));
  EXPECT_EQ(trace.mstx.device_start, (Times{-1, 20000}));
  EXPECT_EQ(trace.mstx.device_dur, (Times{-1, 3000}));
}

TEST(ScheduleKernels, AreApartFromTheOthers) {
  const RankTrace trace = ReadMstxDb(fmt::format("{}{}", test::kComputeTasks, R"(
      CREATE TABLE COMMUNICATION_SCHEDULE_TASK_INFO (name INTEGER,
          globalTaskId INTEGER PRIMARY KEY, taskType INTEGER, opType INTEGER);
      INSERT INTO STRING_IDS VALUES (1, 'aicpu_allreduce'), (2, 'N/A');
      INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId, taskType, streamId) VALUES
          (1000, 1300, 71, 11, 1, 7);
      INSERT INTO COMMUNICATION_SCHEDULE_TASK_INFO VALUES (1, 11, 1, 2);)"));
  EXPECT_TRUE(trace.kernels.Empty());
  EXPECT_EQ(test::ColumnTexts(trace, trace.schedule_kernels.name), Names{"aicpu_allreduce"});
  EXPECT_EQ(trace.schedule_kernels.start, Times{1000});
  EXPECT_EQ(trace.schedule_kernels.dur, Times{300});
  EXPECT_EQ(trace.schedule_kernels.link, Numbers{71});
}

TEST(Mstx, AStepKeepsItsOwnEventsAndThoseAroundIt) {
  test::RankBuilder rank;
  rank.Step(1, 0, 100);
  rank.Step(2, 100, 200);
  for (const auto& [start, end] : {std::pair<TimeNs, TimeNs>{10, 20}, {50, 150}, {110, 120}}) {
    rank.trace.mstx.Append({.start = start, .dur = end - start});
  }
  SelectStep(rank.trace, 2);
  EXPECT_EQ(rank.trace.mstx.start, (Times{50, 110}));
}

}  // namespace
}  // namespace mpa
