// SPDX-License-Identifier: Apache-2.0
// Logs of function_monitor.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/failures.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa {
namespace {

using FunctionTexts = std::vector<std::string>;
using FunctionNumbers = std::vector<std::int64_t>;
using FunctionTimes = std::vector<TimeNs>;

constexpr std::string_view kHead = "[2026-11-30 10:00:00,123][INFO][function_monitor.py:190] ";

// The monotonic clock shows 5 s when the epoch is 100 s.
RankTrace ReadFunctions(const std::string& text, bool knows_clock = true) {
  const test::TempDir dir;
  if (knows_clock) {
    dir.Write("start_info",
              R"({"clockMonotonicRaw": "5000000000", "collectionTimeBegin": "100000000"})");
  }
  return test::ReadFile(FileKind::kFunctionLog, dir.Write("function_monitor_70.log", text));
}

TEST(FunctionLog, ReadsCallsWithTheirCounts) {
  const RankTrace trace = ReadFunctions(
      std::string(kHead) +
      "name:layer_forward start:5000001.5 duration:1200.25 rankId:0 pid:70 pname:python3 tid:71"
      " tname:Thread-1 (worker) extraInfo:event-cycles:900;event-instructions:400;"
      "event-LLC-load-misses:7;event-LLC-loads:50;event-page-faults:1\n" +
      std::string(kHead) +
      "name:a::b start:5000002.0 duration:3.0 rankId:-1 pid:70 pname:my job tid:70"
      " tname:MainThread extraInfo:\n" +
      "[ERROR] Failed to import kperf module: No module named 'kperf'\n");
  EXPECT_EQ(test::ColumnTexts(trace, trace.function_counts.name),
            (FunctionTexts{"layer_forward", "a::b"}));
  EXPECT_EQ(trace.function_counts.start, (FunctionTimes{100000001500, 100000002000}));
  EXPECT_EQ(trace.function_counts.dur, (FunctionTimes{1200250, 3000}));
  EXPECT_EQ(trace.function_counts.process, (FunctionNumbers{70, 70}));
  EXPECT_EQ(trace.function_counts.thread, (FunctionNumbers{71, 70}));
  EXPECT_EQ(trace.function_counts.cycles, (FunctionNumbers{900, -1}));
  EXPECT_EQ(trace.function_counts.instructions, (FunctionNumbers{400, -1}));
  EXPECT_EQ(trace.function_counts.misses, (FunctionNumbers{7, -1}));
  EXPECT_TRUE(trace.issues.Empty());
}

// Processors have names of their own, and counts of the user's mode alone.
TEST(FunctionLog, EventsHaveSeveralNames) {
  const auto misses = [](const std::string& counts) {
    return ReadFunctions("name:f start:5000001.5 duration:2.0 rankId:0 pid:70 tid:70 extraInfo:" +
                         counts + "\n")
        .function_counts.misses;
  };
  EXPECT_EQ(misses("event-LLC-load-misses:u:5"), FunctionNumbers{5});
  EXPECT_EQ(misses("event-cache-misses:6"), FunctionNumbers{6});
  EXPECT_EQ(misses("event-cache-misses:6;event-LLC-load-misses:5"), FunctionNumbers{5});
  EXPECT_EQ(misses("event-LLC-load-misses:-3"), FunctionNumbers{-1});
  EXPECT_EQ(misses("event-L1-dcache-load-misses:3"), FunctionNumbers{-1});
}

TEST(FunctionLog, LinesThatSayNothingAreCounted) {
  const RankTrace trace = ReadFunctions(
      "name:f start:5000001.5 duration:2.0 rankId:0 pid:70 tid:70 extraInfo:\n"
      "name:f start:x duration:2.0 rankId:0 pid:70 tid:70 extraInfo:\n"
      "name:f start:5000001.5 duration:-2.0 rankId:0 pid:70 tid:70 extraInfo:\n"
      "name:f start:5000001.5 duration:2.0 rankId:0 pid:70 tid: extraInfo:\n"
      "start:5000001.5 duration:2.0 rankId:0 pid:70 tid:70 extraInfo:\n"
      "name:f start:9e30 duration:2.0 rankId:0 pid:70 tid:70 extraInfo:\n"
      "name:f start:5000001.5 duration:9223372036854775807 rankId:0 pid:70 tid:70\n");
  EXPECT_EQ(trace.function_counts.Size(), 1u);
  const std::vector<std::string> lines = trace.issues.Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_HAS_TEXT(lines[0], "its name, thread or time is invalid, 6 times");
  EXPECT_HAS_TEXT(lines[0], "function_monitor_70.log, line 2");
}

TEST(FunctionLog, WithoutTheClockNothingIsJoined) {
  const RankTrace trace = ReadFunctions(
      "name:f start:5000001.5 duration:2.0 rankId:0 pid:70 tid:70 extraInfo:\n", false);
  EXPECT_EQ(trace.function_counts.Size(), 0u);
}

}  // namespace
}  // namespace mpa
