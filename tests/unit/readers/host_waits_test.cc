// SPDX-License-Identifier: Apache-2.0
// Calls into the operating system, and uses of locks, as each tool records them.
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

RankTrace ReadWaits(FileKind kind, std::string_view content) {
  const test::TempDir dir;
  return test::ReadFile(kind, dir.Write("file", content));
}

std::string TheOnlyIssue(const RankTrace& trace) {
  const std::vector<std::string> lines = trace.issues.Lines();
  return lines.size() == 1 ? lines[0] : std::to_string(lines.size()) + " issues";
}

constexpr std::string_view kHeader = "Pid,Tid,Function,StartTime(ns),Duration(ns)\n";

TEST(SystemCallsCsv, ReadsCallsWithTheirThreads) {
  const RankTrace trace = ReadWaits(FileKind::kSystemCalls,
                                    std::string(kHeader) +
                                        "70,71,ioctl,1725398319218640000,512040720\n"
                                        "70,70,pthread_cond_wait,1725398310787080000,3088062410\n");
  EXPECT_EQ(test::ColumnTexts(trace, trace.system_calls.name),
            (Names{"ioctl", "pthread_cond_wait"}));
  EXPECT_EQ(trace.system_calls.start, (Times{1725398319218640000, 1725398310787080000}));
  EXPECT_EQ(trace.system_calls.dur, (Times{512040720, 3088062410}));
  EXPECT_EQ(trace.system_calls.process, (Numbers{70, 70}));
  EXPECT_EQ(trace.system_calls.thread, (Numbers{71, 70}));
  EXPECT_TRUE(trace.issues.Empty());
}

TEST(SystemCallsCsv, RowsThatSayNothingAreCounted) {
  const RankTrace trace =
      ReadWaits(FileKind::kSystemCalls, std::string(kHeader) +
                                            "70,71,read,1725398319218640000,5\n"
                                            "70,x,read,1725398319218640000,5\n"
                                            "70,71,,1725398319218640000,5\n"
                                            "70,71,read,1725398319218640000,-5\n"
                                            "70,71,read,99999999999999999999,5\n"
                                            "70,71,read,9223372036854775807,5\n");
  EXPECT_EQ(trace.system_calls.Size(), 1u);
  EXPECT_HAS_TEXT(TheOnlyIssue(trace), "its name, thread or time is invalid, 5 times");
}

TEST(SystemCallsCsv, NeedsItsColumns) {
  EXPECT_HAS_TEXT(test::ErrorOf([] {
                    ReadWaits(FileKind::kSystemCalls, "Pid,Tid,Function\n7,7,read\n");
                  }).what(),
                  "StartTime(ns)");
}

TEST(OsrtApi, IsReadFromDatabases) {
  const test::TempDir dir;
  const std::string sql =
      std::string(test::kStrings) + test::kTasks +
      "INSERT INTO STRING_IDS VALUES (4, 'ioctl'), (5, 'futex');"
      "CREATE TABLE OSRT_API (name NUMERIC, globalTid NUMERIC, startNs NUMERIC, endNs NUMERIC);"
      "INSERT INTO OSRT_API VALUES (4, 4294967296 * 70 + 71, 1000, 4000), (5, NULL, 5000, 6000),"
      " (5, 71, 7000, 6000);";
  const RankTrace trace =
      test::ReadFile(FileKind::kProfilerDb, test::BuildDatabase(dir / "p.db", sql));
  EXPECT_EQ(test::ColumnTexts(trace, trace.system_calls.name), (Names{"ioctl", "futex"}));
  EXPECT_EQ(trace.system_calls.start, (Times{1000, 5000}));
  EXPECT_EQ(trace.system_calls.dur, (Times{3000, 1000}));
  EXPECT_EQ(trace.system_calls.process, (Numbers{70, -1}));
  EXPECT_EQ(trace.system_calls.thread, (Numbers{71, -1}));
  EXPECT_EQ(trace.issues.Lines().size(), 2u) << "no thread, an end before the start";
}

// The process is 7: those of the viewer carry its number 10 bits further up.
TEST(OsRuntimeApi, IsReadFromTraces) {
  const RankTrace trace = ReadWaits(FileKind::kTraceView, R"([
{"ph":"M","name":"process_name","pid":7200,"tid":0,"args":{"name":"OS Runtime API"}},
{"ph":"M","name":"process_name","pid":7587,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":7,"tid":70,"ts":"1700000000000000.123","dur":1},
{"ph":"X","name":"ioctl","pid":7200,"tid":70,"ts":"1700000000000010.5","dur":20000.25,"args":{}},
{"ph":"X","name":"Add","pid":7587,"tid":2,"ts":"1700000000000005","dur":1,
 "args":{"Task Type":"AI_CORE"}}])");
  EXPECT_EQ(test::ColumnTexts(trace, trace.system_calls.name), Names{"ioctl"});
  EXPECT_EQ(trace.system_calls.start, Times{1700000000000010500});
  EXPECT_EQ(trace.system_calls.dur, Times{20000250});
  EXPECT_EQ(trace.system_calls.process, Numbers{7});
  EXPECT_EQ(trace.system_calls.thread, Numbers{70});
}

// A wait of 3 us, then 2 us with the lock; another thread waits meanwhile.
constexpr std::string_view kLog = R"([
{"name":"take_gil","ph":"X","ts":"1700000000000001.000","dur":3.0,"pid":7,"tid":70},
{"name":"take_gil","ph":"X","ts":"1700000000000002.500","dur":4.5,"pid":7,"tid":71},
{"name":"drop_gil","ph":"X","ts":"1700000000000006.000","dur":0.1,"pid":7,"tid":70}])";

TEST(LockTrace, AThreadHoldsTheLockUntilItGivesItBack) {
  const RankTrace trace = ReadWaits(FileKind::kLockTrace, kLog);
  const LockUses& uses = trace.lock_uses;
  ASSERT_EQ(uses.Size(), 3u);
  EXPECT_EQ(uses.thread, (Numbers{70, 70, 71}));
  EXPECT_EQ(uses.start, (Times{1700000000000001000, 1700000000000004000, 1700000000000002500}));
  EXPECT_EQ(uses.dur, (Times{3000, 2000, 4500}));
  EXPECT_EQ(uses.is_held, (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(uses.process, (Numbers{7, 7, 7}));
  EXPECT_EQ(trace.strings.View(uses.lock[0]), "GIL");
  EXPECT_TRUE(trace.issues.Empty());
}

TEST(LockTrace, WhatGilTracerMakesOfItIsTheSame) {
  const RankTrace trace = ReadWaits(FileKind::kLockTrace, R"([
{"name":"take_gil","ph":"X","ts":"1700000000000001.000","dur":3.0,"pid":7,"tid":70},
{"name":"hold_gil","ph":"X","ts":"1700000000000004","dur":2.0,"pid":7,"tid":70},
{"name":"drop_gil","ph":"X","ts":"1700000000000006.000","dur":0.1,"pid":7,"tid":70},
{"name":"process_name","ph":"M","pid":7,"tid":0,"args":{"name":"GIL Trace"}}])");
  EXPECT_EQ(trace.lock_uses.start, (Times{1700000000000001000, 1700000000000004000}));
  EXPECT_EQ(trace.lock_uses.dur, (Times{3000, 2000}));
  EXPECT_EQ(trace.lock_uses.is_held, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_TRUE(trace.issues.Empty());
}

TEST(LockTrace, EventsThatSayNothingAreCounted) {
  const RankTrace trace = ReadWaits(FileKind::kLockTrace, R"([
{"name":"take_gil","ph":"X","ts":"x","dur":3.0,"pid":7,"tid":70},
{"name":"take_gil","ph":"X","ts":1,"dur":-3,"pid":7,"tid":70},
{"name":"take_gil","ph":"X","ts":1,"dur":3,"pid":7,"tid":"main"},
{"name":"aten::add","ph":"X","ts":1,"dur":3,"pid":7,"tid":70},
{"name":"drop_gil","ph":"X","ts":1,"pid":7,"tid":70}])");
  EXPECT_TRUE(trace.lock_uses.Empty()) << "who gives back what it did not take held nothing";
  EXPECT_EQ(trace.issues.Lines().size(), 3u);
}

}  // namespace
}  // namespace mpa
