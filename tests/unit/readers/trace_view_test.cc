// SPDX-License-Identifier: Apache-2.0
// trace_view.json: host operators, device tasks, overlaps, flows and steps.
#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;
using Times = std::vector<TimeNs>;

RankTrace ReadEvents(std::string_view content) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kTraceView, dir.Write("trace_view.json", content));
}

constexpr const char* kHardware =
    R"({"ph":"M","name":"process_name","pid":10,"tid":0,"args":{"name":"Ascend Hardware"}})";
constexpr const char* kOverlap =
    R"({"ph":"M","name":"process_name","pid":30,"tid":0,"args":{"name":"Overlap Analysis"}})";

// A host operator of 2 us at 5 us.
std::string Op(std::string_view name) {
  return R"({"ph":"X","cat":"cpu_op","name":")" + std::string(name) +
         R"(","pid":1,"tid":2,"ts":"5.0","dur":2})";
}

TEST(TraceView, ReadsTimesAsTextsIntegersAndDecimals) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":"1736408883704643.212\t",
       "dur":"5.5"},
      {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":2,"ts":1736408883704643,"dur":7},
      {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":2,"ts":1736408883704643.25,"dur":0.001},
      {"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":2,"ts":"1736408883704643.65012345678901",
       "dur":2343.76665625000014}])");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(trace.host_ops.start, (Times{1736408883704643212, 1736408883704643000,
                                         1736408883704643250, 1736408883704643650}));
  EXPECT_EQ(trace.host_ops.dur, (Times{5500, 7000, 1, 2343767}));
}

TEST(TraceView, ReadsNamesInUtf8AndWithEscapes) {
  const RankTrace trace =
      ReadEvents("[" + Op("\xE6\xAD\xA5") + "," + Op(R"(\u6b65)") + "," + Op(R"(a\"b\\)") + "]");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name),
            (Names{"\xE6\xAD\xA5", "\xE6\xAD\xA5", "a\"b\\"}));
  EXPECT_EQ(trace.host_ops.name[0], trace.host_ops.name[1]);
}

TEST(TraceView, TakesWindowsLineEndsAndAByteOrderMark) {
  const RankTrace trace =
      ReadEvents("\xEF\xBB\xBF[\r\n" + Op("a") + ",\r\n" + Op("b") + "\r\n]\r\n");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), (Names{"a", "b"}));
  EXPECT_TRUE(trace.issues.Empty());
}

TEST(TraceView, ReadsAPackedTrace) {
  EXPECT_EQ(ReadEvents(test::Gzip("[" + Op("a") + "]")).host_ops.Size(), 1u);
}

TEST(TraceView, KeepsTheEventsBeforeTheTraceBreaksOff) {
  const RankTrace trace = ReadEvents("[" + Op("a") + "," + Op("b") + ",{\"ph\":\"X\",\"na");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), (Names{"a", "b"}));
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "trace_view.json");
}

TEST(TraceView, LosesOnlyTheEventThatIsBroken) {
  const Names broken = {
      R"({"ph":"X" "cat":"cpu_op"})", R"({"ph":"X","args":{"a":]}})",
      R"({"ph":"X","cat":"cpu_op","name":bad,"pid":1,"tid":2,"ts":1,"dur":1})",
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\xff\",\"pid\":1,\"ts\":1,\"dur\":1}",
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\nb\",\"pid\":1,\"ts\":1,\"dur\":1}"};
  for (const std::string& event : broken) {
    const RankTrace trace =
        ReadEvents("[" + Op("a") + "," + event + "," + Op("b") + "," + Op("c") + "]");
    EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), (Names{"a", "b", "c"})) << event;
    ASSERT_EQ(trace.issues.Lines().size(), 1u) << event;
    EXPECT_HAS_TEXT(trace.issues.Lines()[0], "event left out");
  }
}

TEST(TraceView, CountsEventsWhoseTimesMakeNoSense) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":"N/A","dur":1},
      {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":2,"ts":1,"dur":-1},
      {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":2,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"e","pid":1,"tid":2,"ts":9223372036854775.807,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"f","pid":1,"tid":2,"ts":1,"dur":9223372036854775.807},
      {"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":2,"ts":1,"dur":1}])");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), Names{"d"});
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "5 times");
}

TEST(TraceView, TakesAMemberThatIsNullForAbsent) {
  const RankTrace trace = ReadEvents("[" + std::string(kHardware) + R"(,
      {"ph":"X","cat":null,"name":"MatMul","pid":10,"tid":3,"ts":1,"dur":2,"args":null}])");
  ASSERT_EQ(trace.device_tasks.Size(), 1u);
  EXPECT_EQ(trace.device_tasks.dur[0], 2000);
}

// Unknown is not 0.
TEST(TraceView, LeavesOutEventsWithoutADuration) {
  const RankTrace trace = ReadEvents("[" + std::string(kHardware) + R"(,
      {"ph":"X","name":"MatMul","pid":10,"tid":3,"ts":1,"dur":null},
      {"ph":"X","name":"Add","pid":10,"tid":3,"ts":5}])");
  EXPECT_TRUE(trace.device_tasks.Empty());
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0],
                  "event left out, its duration is missing, 2 times (first: trace_view.json:"
                  " \"MatMul\" at 1 us)");
}

// E closes the innermost B of its thread; one without its other half is counted.
TEST(TraceView, PairsTheBeginningsAndEndsOfSpans) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"E","pid":1,"tid":2,"ts":9},
      {"ph":"B","cat":"cpu_op","name":"outer","pid":1,"tid":2,"ts":1},
      {"ph":"B","cat":"cpu_op","name":"other thread","pid":1,"tid":3,"ts":2},
      {"ph":"B","cat":"cpu_op","name":"inner","pid":1,"tid":2,"ts":2},
      {"ph":"E","pid":1,"tid":2,"ts":4.5},
      {"ph":"E","pid":1,"tid":3,"ts":6},
      {"ph":"E","pid":1,"tid":4,"ts":6},
      {"ph":"B","cat":"cpu_op","name":"endless","pid":1,"tid":3,"ts":7}])");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name),
            (Names{"inner", "outer", "other thread"}));
  EXPECT_EQ(trace.host_ops.dur, (std::vector<TimeNs>{2500, 8000, 4000}));
  EXPECT_EQ(trace.issues.Lines().size(), 2u);
}

TEST(TraceView, IgnoresEventsOfOtherKinds) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"C","cat":"cpu_op","name":"counter","pid":1,"tid":2,"ts":1},
      {"ph":"X","cat":"python_function","name":"f","pid":1,"tid":2,"ts":1,"dur":1},
      {"ph":"X","name":"of an unknown process","pid":99,"tid":2,"ts":1,"dur":1}, {}])");
  EXPECT_TRUE(trace.host_ops.Empty());
  EXPECT_TRUE(trace.device_tasks.Empty());
  EXPECT_TRUE(trace.issues.Empty());
}

TEST(TraceView, ReadsTypeAndStreamOfDeviceTasksThoughTheProcessIsNamedLast) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"X","name":"MatMul","pid":10,"tid":3,"ts":1,"dur":4,
       "args":{"Task Type":"AI_CORE","Stream Id":7,"deep":{"Stream Id":8}}},
      {"ph":"X","name":"copy","pid":10,"tid":3,"ts":"2.5","dur":1,
       "args":{"Physic Stream Id":"9","Task Type":"SDMA_SQE"}},
      {"ph":"X","name":"plain","pid":10,"tid":3,"ts":4,"dur":1},)" +
                                     std::string(kHardware) + "]");
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.name), (Names{"MatMul", "copy", "plain"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.type), (Names{"AI_CORE", "SDMA_SQE", ""}));
  EXPECT_EQ(trace.device_tasks.stream, (std::vector<std::int64_t>{7, 9, 3}));
  EXPECT_EQ(trace.device_tasks.start, (Times{1000, 2500, 4000}));
  EXPECT_EQ(trace.device_tasks.dur, (Times{4000, 1000, 1000}));
}

TEST(TraceView, ReadsTheOverlapAnalysis) {
  const RankTrace trace = ReadEvents("[" + std::string(kOverlap) + R"json(,
      {"ph":"X","name":"Computing","pid":30,"tid":0,"ts":1,"dur":1},
      {"ph":"X","name":"Communication","pid":30,"tid":1,"ts":2,"dur":1},
      {"ph":"X","name":"Communication(Not Overlapped)","pid":30,"tid":2,"ts":3,"dur":1},
      {"ph":"X","name":"Free","pid":30,"tid":3,"ts":4,"dur":1},
      {"ph":"X","name":"Something else","pid":30,"tid":4,"ts":5,"dur":1}])json");
  EXPECT_EQ(trace.overlaps.start, (Times{1000, 2000, 3000, 4000}));
  EXPECT_EQ(trace.overlaps.activity,
            (std::vector<Activity>{Activity::kComputing, Activity::kCommunication,
                                   Activity::kExposedCommunication, Activity::kFree}));
}

// One arrow with several ends, before or behind its start, and others with the same number.
TEST(TraceView, TakesAllEndsOfAnArrow) {
  const auto flow = [](const std::string& kind, int time) {
    return R"({"ph":")" + kind + R"(","cat":"async_npu","id":1,"pid":1,"tid":2,"ts":)" +
           std::to_string(time) + "}";
  };
  const std::string s = flow("s", 1), a = flow("f", 10), b = flow("f", 20), c = flow("f", 30);
  for (const std::string& events :
       {s + "," + a + "," + b + "," + c, a + "," + b + "," + c + "," + s}) {
    const RankTrace trace = ReadEvents("[" + events + "]");
    EXPECT_EQ(trace.launches.device_time, (Times{10000, 20000, 30000})) << events;
    EXPECT_EQ(trace.launches.host_time, (Times{1000, 1000, 1000})) << events;
  }
  const std::string s2 = flow("s", 2);
  for (const std::string& events :
       {s + "," + a + "," + s2 + "," + b, a + "," + s + "," + b + "," + s2}) {
    EXPECT_EQ(ReadEvents("[" + events + "]").launches.host_time, (Times{1000, 2000})) << events;
  }
}

TEST(TraceView, PairsTheEndsOfFlowsByNumberOrText) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"s","cat":"async_npu","id":65536,"pid":1,"tid":2,"ts":"1","name":"x"},
      {"ph":"s","cat":"async_npu","id":"0xab","pid":1,"tid":4,"ts":"2","name":"x"},
      {"ph":"f","bp":"e","cat":"async_npu","id":"0xab","pid":10,"tid":8,"ts":"20","name":"x"},
      {"ph":"f","bp":"e","cat":"async_npu","id":"65536","pid":10,"tid":7,"ts":"10","name":"x"},
      {"ph":"s","cat":"async_npu","id":"no end","pid":1,"tid":2,"ts":"3","name":"x"},
      {"ph":"f","cat":"async_npu","id":"no start","pid":10,"tid":7,"ts":"30","name":"x"},
      {"ph":"s","cat":"HostToDevice","id":1,"pid":1,"tid":2,"ts":"3","name":"x"},
      {"ph":"f","cat":"HostToDevice","id":1,"pid":10,"tid":7,"ts":"30","name":"x"}])");
  const Launches& launches = trace.launches;
  EXPECT_EQ(launches.host_time, (Times{1000, 2000}));
  EXPECT_EQ(launches.device_time, (Times{10000, 20000}));
  EXPECT_EQ(launches.stream, (std::vector<std::int64_t>{7, 8}));
  EXPECT_NE(launches.link[0], launches.link[1]);
  const auto tid = [&](std::size_t row) {
    return trace.tracks.tid[static_cast<std::size_t>(launches.host_track[row])];
  };
  EXPECT_EQ(tid(0), 2);
  EXPECT_EQ(tid(1), 4);
}

TEST(TraceView, GivesAThreadOneTrack) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":1,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"b","pid":3,"tid":2,"ts":2,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":2,"ts":3,"dur":1}])");
  EXPECT_EQ(trace.host_ops.track[0], trace.host_ops.track[2]);
  EXPECT_NE(trace.host_ops.track[0], trace.host_ops.track[1]);
}

TEST(TraceView, FindsTheBackwardThreadInTheLastArrowFromForwardToBackward) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"s","cat":"fwdbwd","id":1,"pid":1,"tid":2,"ts":1,"name":"fwdbwd"},
      {"ph":"f","cat":"fwdbwd","id":1,"pid":1,"tid":5,"ts":2,"name":"fwdbwd"},
      {"ph":"f","cat":"fwdbwd","id":2,"pid":1,"tid":6,"ts":3,"name":"fwdbwd"},
      {"ph":"s","cat":"fwdbwd","id":3,"pid":1,"tid":2,"ts":4,"name":"fwdbwd"}])");
  EXPECT_EQ(trace.backward_tid, 6);
  EXPECT_EQ(ReadEvents("[" + Op("a") + "]").backward_tid, -1);
}

TEST(TraceView, FindsTheSteps) {
  const RankTrace trace = ReadEvents("[" + Op("ProfilerStep#50") + "," + Op("ProfilerStep#x") +
                                     "," + Op("Step#51") + "]");
  EXPECT_EQ(trace.steps.id, std::vector<std::int32_t>{50});
  EXPECT_EQ(trace.steps.start, Times{5000});
  EXPECT_EQ(trace.steps.end, Times{7000});
}

// An operator without a name is none; what stands beside it stays.
TEST(TraceView, LeavesOutEventsWhoseNamesCannotBeRead) {
  const RankTrace trace = ReadEvents("[" + Op("a") + R"(,
      {"ph":"X","cat":"cpu_op","name":"b\q","pid":1,"tid":2,"ts":20,"dur":1},
      {"ph":"X","cat":"cpu_op","name":null,"pid":1,"tid":2,"ts":30,"dur":1},)" +
                                     "\n" + std::string(3, '\0') + Op("c") + "]");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), (Names{"a", "c"}));
  const std::vector<std::string> lines = trace.issues.Lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_HAS_TEXT(lines[0], "NUL bytes in place of text");
  EXPECT_HAS_TEXT(lines[1], "it has no name (trace_view.json: \"\" at 30 us)");
  const std::size_t byte = 1 + Op("a").size() + std::string(",\n      ").size();
  EXPECT_HAS_TEXT(lines[2], "not valid JSON (trace_view.json: byte " + std::to_string(byte) + ":");
}

// Two ranks: processes 7 and 8, with device processes made from them.
TEST(TraceView, NeverAddsUpTheRanksOfAMergedTrace) {
  std::string events;
  for (const int pid : {7, 8}) {
    const std::string program = std::to_string(pid), device = std::to_string((pid << 10) + 3);
    events += R"({"ph":"M","name":"process_name","pid":)" + device +
              R"(,"args":{"name":"Ascend Hardware"}},)";
    events += R"({"ph":"X","cat":"cpu_op","name":"ProfilerStep#1","ts":1,"dur":9,"tid":1,"pid":)" +
              program + "},";
    for (int i = pid; i < 9; ++i) {
      events += R"({"ph":"X","name":"MatMul","ts":)" + std::to_string(i) +
                R"(,"dur":1,"tid":3,"pid":)" + device + "},";
    }
  }
  events.pop_back();
  const RankTrace trace = ReadEvents("[" + events + "]");
  EXPECT_EQ(trace.device_tasks.start, (Times{7000, 8000}));
  EXPECT_EQ(trace.host_ops.Size(), 1u);
  EXPECT_EQ(trace.steps.Size(), 1u);
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "process 8195 \"Ascend Hardware\" with 1 events");
}

TEST(TraceView, NamesTheFileThatIsNoTrace) {
  for (const char* content : {"", "{\"a\": 1}", "[1, 2]"}) {
    const Error error = test::ErrorOf([&] { ReadEvents(content); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << content;
    EXPECT_HAS_TEXT(error.what(), "trace_view.json");
  }
}

TEST(TraceView, ReadsLargeTracesInFileOrder) {
  // Larger than several of the pieces that are parsed side by side.
  const std::string padding(1 << 20, 'x');
  std::string content = "[";
  Names names;
  for (int i = 0; i < 40; ++i) {
    names.push_back("op" + std::to_string(i));
    content += R"({"ph":"X","name":")" + names.back() +
               R"(","pid":10,"tid":3,"ts":1,"dur":1,"args":{"pad":")" + padding +
               R"(","Task Type":"type)" + std::to_string(i) + "\"}},";
  }
  const RankTrace trace = ReadEvents(content + kHardware + "]");
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.name), names);
  EXPECT_EQ(trace.strings.View(trace.device_tasks.type.back()), "type39");
}

TEST(TraceView, ReadsTheClockOfTheCubeCoresInOrder) {
  const RankTrace trace = ReadEvents(R"([
      {"ph":"C","name":"AI Core Freq","pid":9,"tid":0,"ts":"7.5","args":{"MHz":1650}},
      {"ph":"C","name":"AI Core Freq","pid":9,"tid":0,"ts":"2","args":{"MHz":1800}},
      {"ph":"C","name":"AI Core Freq","pid":9,"tid":0,"ts":"3","args":{}},
      {"ph":"C","name":"HBM Read","pid":9,"tid":0,"ts":"4","args":{"MHz":5}}])");
  EXPECT_EQ(trace.core_clocks.start, (Times{2000, 7500}));
  EXPECT_EQ(trace.core_clocks.mhz, (std::vector<std::int64_t>{1800, 1650}));
}

}  // namespace
}  // namespace mpa
