// SPDX-License-Identifier: Apache-2.0
// trace_view.json of sessions that are filled by hand.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "mpa/base/parallel.h"
#include "mpa/profiler_output/profiler_output.h"
#include "support/files.h"

namespace mpa::profiler_output {
namespace {

using nlohmann::json;

constexpr TimeNs kTraceBegin = 1'772'000'000'164'670'230;
constexpr std::int64_t kProcess = 43364;
// Process << 10 | layer << 5 | device, device 31 for the host.
constexpr std::int64_t kHardware = 44405184, kCommunication = 44405248, kCann = 44404991;

class TraceView : public testing::Test {
 protected:
  TraceView() {
    session_.info.level = 1;
    session_.info.process = kProcess;
    session_.info.process_name = "python3";
  }

  StringId Id(std::string_view text) { return session_.strings.Intern(text); }

  std::string Written() {
    WriteText(session_, directory_.path());
    return test::ReadAll(directory_ / "trace_view.json");
  }

  /// The events with these members, as the file has them.
  std::vector<json> Events(const json& members) {
    std::vector<json> found;
    for (const json& event : json::parse(Written())) {
      bool fits = true;
      for (const auto& [key, value] : members.items())
        fits = fits && event.value(key, json()) == value;
      if (fits) found.push_back(event);
    }
    return found;
  }

  std::int32_t AddOp(TimeNs start, TimeNs end, std::string_view name, std::int64_t thread = 1) {
    session_.ops.Append({{.start = kTraceBegin + start, .dur = end - start, .name = Id(name)},
                         {.process = kProcess, .thread = thread}});
    return static_cast<std::int32_t>(session_.ops.Size() - 1);
  }

  std::int32_t AddCall(raw::Level level, std::string_view name, std::string_view item,
                       bool launches) {
    session_.calls.Append(
        {{.start = kTraceBegin + 10, .dur = 4000, .name = Id(name), .item = Id(item)},
         {.level = level,
          .type = level == raw::Level::kAcl ? 0x50001u : 0u,
          .thread = 7,
          .launches = launches}});
    return static_cast<std::int32_t>(session_.calls.Size() - 1);
  }

  std::int32_t AddTask(raw::Tasks::Row row) {
    session_.tasks.Append(row);
    return static_cast<std::int32_t>(session_.tasks.Size() - 1);
  }

  raw::Session session_;
  test::TempDir directory_;
};

TEST_F(TraceView, OperatorsKeepTheirTimesAndLists) {
  AddOp(0, 5400, "aten::copy_");
  session_.ops.sequence[0] = 1301;
  session_.ops.forward_thread[0] = 3;
  session_.ops.shapes.Stored()[0] = Id("2,1024;;");
  session_.ops.types.Stored()[0] = Id("long int;Scalar");
  session_.ops.stack.Stored()[0] = Id("train.py(52): step;train.py(90): main");
  EXPECT_TRUE(Written().starts_with("[{\"ph\": \"X\""));
  const std::vector<json> events = Events({{"cat", "cpu_op"}});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0], json::parse(R"({"ph": "X", "name": "aten::copy_", "pid": 43364, "tid": 1,
      "ts": "1772000000164670.230", "dur": 5.4, "cat": "cpu_op", "args": {"Sequence number": 1301,
      "Fwd thread id": 3, "Input Dims": "2,1024;\r\n;\r\n", "Input type": "long int;\r\nScalar",
      "Call stack": "train.py(52): step;\r\ntrain.py(90): main"}})"));
}

TEST_F(TraceView, AnyBytesMakeAValidDocument) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  AddOp(0, 1, bytes);
  AddOp(0, 1, "name \"quoted\" \\ Zeichen äö");
  session_.ops.shapes.Stored()[1] = Id(bytes);
  AddCall(raw::Level::kNode, bytes, bytes, true);
  session_.info.process_name = bytes;
  session_.marks.Append(
      {{.start = kTraceBegin, .dur = 0, .message = Id(bytes), .domain = Id(bytes)}, {}});
  const json events = json::parse(Written());
  EXPECT_EQ(events[0]["name"].get<std::string>().substr(0, 128), bytes.substr(0, 128));
  EXPECT_EQ(events[1]["name"], "name \"quoted\" \\ Zeichen äö");
}

TEST_F(TraceView, QueuedWorkIsNamedAndLinked) {
  session_.queue.Append({.start = kTraceBegin,
                         .dur = 2000,
                         .correlation = 8292,
                         .name = Id("acl_memcpy"),
                         .process = kProcess,
                         .thread = 1});
  session_.queue.Append({.start = kTraceBegin + 5000,
                         .dur = 4000,
                         .dequeue = true,
                         .correlation = 8292,
                         .name = Id("acl_memcpy"),
                         .process = kProcess,
                         .thread = 9});
  session_.queue.Append({.start = kTraceBegin + 6000,
                         .dur = 1000,
                         .correlation = 8293,
                         .process = kProcess,
                         .thread = 1});
  EXPECT_EQ(Events({{"name", "Enqueue@acl_memcpy"}, {"cat", "enqueue"}}).size(), 1u);
  EXPECT_EQ(Events({{"name", "Dequeue@acl_memcpy"}, {"cat", "dequeue"}, {"tid", 9}}).size(), 1u);
  EXPECT_EQ(Events({{"name", "Enqueue"}}).size(), 1u) << "its other side is lost";
  EXPECT_EQ(Events({{"ph", "s"}, {"id", 8292}, {"ts", "1772000000164670.230"}}).size(), 1u);
  EXPECT_EQ(Events({{"ph", "f"}, {"id", 8292}, {"ts", "1772000000164675.230"}}).size(), 1u);
  // The thread that takes from the queue is shown last.
  const auto order = Events({{"name", "thread_sort_index"}, {"tid", 9}});
  ASSERT_EQ(order.size(), 1u);
  EXPECT_EQ(order[0]["args"]["sort_index"], 10);
}

TEST_F(TraceView, BackwardArrowsJoinDifferentThreads) {
  const auto forward = AddOp(0, 10, "aten::mm", 1);
  const auto backward = AddOp(100, 110, "MmBackward0", 2);
  const auto same = AddOp(200, 210, "aten::mm", 1);
  session_.backward.Append({{}, {.sequence = 1301, .forward = forward, .backward = backward}});
  session_.backward.Append({{}, {.sequence = 1302, .forward = forward, .backward = same}});
  EXPECT_EQ(Events({{"cat", "fwdbwd"}}).size(), 2u);
  EXPECT_EQ(Events({{"cat", "fwdbwd"}, {"ph", "f"}, {"id", 1301}, {"tid", 2}}).size(), 1u);
}

TEST_F(TraceView, ArrowsLeadFromTheCallToItsKernel) {
  const auto call = AddCall(raw::Level::kNode, "launch", "aclnnAdd", true);
  session_.kernels.Append({{.name = Id("aclnnAdd"), .core = Id("AI_VECTOR_CORE")}, {.task = 0}});
  AddTask({{.start = kTraceBegin + 9000,
            .dur = 2280,
            .task_id = 65390,
            .stream = 2,
            .dur_rest = 0.0625,
            .model = raw::kNoModel},
           {.end = kTraceBegin + 11281,
            .host_type = Id("KERNEL_AIVEC"),
            .call = call,
            .kind = raw::TaskKind::kKernel,
            .detail = 0}});
  const auto op = AddOp(0, 10, "aten::add");
  session_.links.Append({.op = op, .correlation = 1, .task = 0});

  const auto task = Events({{"ph", "X"}, {"pid", kHardware}});
  ASSERT_EQ(task.size(), 1u);
  EXPECT_EQ(task[0], json::parse(R"({"ph": "X", "name": "aclnnAdd", "pid": 44405184, "tid": 2,
      "ts": "1772000000164679.230", "dur": 2.2800625, "args": {"Model Id": 4294967295,
      "Task Type": "AI_VECTOR_CORE", "Physic Stream Id": 2, "Task Id": 65390, "Batch Id": 0,
      "Subtask Id": 4294967295, "connection_id": 0}})"));
  const auto api = Events({{"name", "Node@launch"}, {"pid", kCann}});
  ASSERT_EQ(api.size(), 1u);
  EXPECT_EQ(api[0]["args"], json::parse(R"({"Thread Id": 7, "Mode": "launch", "level": "node",
      "id": "0", "item_id": "aclnnAdd", "connection_id": 0})"));
  const auto arrows = Events({{"cat", "HostToDevice"}, {"id", "0"}});
  ASSERT_EQ(arrows.size(), 2u);
  const auto launched = Events({{"cat", "async_npu"}, {"id", kTraceBegin + 9000}});
  ASSERT_EQ(launched.size(), 2u);
  EXPECT_EQ(launched[0]["pid"], kProcess);
  EXPECT_EQ(launched[1]["pid"], kHardware);
}

TEST_F(TraceView, ConnectionsAreTheirNumberTimesTwoToThe32) {
  AddCall(raw::Level::kRuntime, "KernelLaunch", "", false);
  AddCall(raw::Level::kNode, "launch", "aclnnAdd", true);
  EXPECT_EQ(Events({{"ph", "s"}, {"id", "4294967296"}}).size(), 1u);
  // Tasks without a call share the number behind the last.
  AddTask({{.start = kTraceBegin}, {.end = kTraceBegin + 20, .host_type = Id("PROFILING_ENABLE")}});
  const auto task = Events({{"name", "PROFILING_ENABLE"}});
  ASSERT_EQ(task.size(), 1u);
  EXPECT_EQ(task[0]["args"]["connection_id"], 2);
}

TEST_F(TraceView, Level0KeepsOnlyWhereCallsLaunch) {
  session_.info.level = 0;
  AddCall(raw::Level::kAcl, "aclnnAdd", "", false);
  AddCall(raw::Level::kNode, "launch", "aclnnAdd", true);
  EXPECT_EQ(Events({{"pid", kCann}, {"ph", "X"}}).size(), 0u);
  EXPECT_EQ(Events({{"pid", kCann}, {"ph", "s"}}).size(), 1u);
}

TEST_F(TraceView, GroupTasksAreHiddenBehindTheirContexts) {
  AddTask({{.start = kTraceBegin},
           {.end = kTraceBegin + 90, .host_type = Id("FFTS_PLUS"), .group = true}});
  AddTask({{.start = kTraceBegin},
           {.end = kTraceBegin + 20,
            .host_type = Id("FFTS_PLUS"),
            .device_type = Id("Notify Wait"),
            .context = 3}});
  EXPECT_EQ(Events({{"ph", "X"}}).size(), 1u);
  EXPECT_EQ(Events({{"name", "Notify Wait"}}).size(), 1u);
}

TEST_F(TraceView, CopiesTellSizeAndSpeed) {
  AddTask({{.start = kTraceBegin, .dur = 2000},
           {.end = kTraceBegin + 2000,
            .host_type = Id("MEMCPY_ASYNC"),
            .device_type = Id("SDMA_SQE"),
            .copy_bytes = 4000,
            .copy_direction = 1}});
  AddTask({{.start = kTraceBegin, .dur = 2000},
           {.end = kTraceBegin + 2000, .host_type = Id("MEMCPY_ASYNC")}});
  const auto copies = Events({{"name", "MEMCPY_ASYNC"}, {"ph", "X"}});
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0]["args"]["Task Type"], "SDMA_SQE");
  EXPECT_EQ(copies[0]["args"]["size(B)"], 4000);
  EXPECT_EQ(copies[0]["args"]["bandwidth(GB/s)"], 2.0);
  EXPECT_EQ(copies[0]["args"]["operation"], "host to device");
  EXPECT_EQ(copies[1]["args"]["operation"], "other");
  EXPECT_EQ(Events({{"cat", "HostToDevice"}, {"ph", "f"}}).size(), 2u);
}

TEST_F(TraceView, GroupsHaveARowAndOneForEachPlane) {
  const auto add_part = [&](std::int32_t collective, std::int64_t plane) {
    const auto task =
        AddTask({{.start = kTraceBegin + 5, .dur = 4, .stream = 5}, {.end = kTraceBegin + 9}});
    session_.parts.Append({.task = task,
                           .collective = collective,
                           .name = Id("Memcpy"),
                           .plane = plane,
                           .bytes = 2097152,
                           .transport = 0,
                           .data_type = 11,
                           .link = 9999});
  };
  for (const char* group : {"tp", "dp"}) {
    session_.collectives.Append({.start = kTraceBegin,
                                 .end = kTraceBegin + 100,
                                 .name = Id("hcom_allReduce__1_0_1"),
                                 .group_name = Id(group),
                                 .data_type = 11,
                                 .relay = 1});
  }
  add_part(0, 0);
  add_part(0, 2);
  add_part(1, 1);
  const auto names = Events({{"name", "thread_name"}, {"pid", kCommunication}});
  ASSERT_EQ(names.size(), 5u);
  const std::vector<std::pair<int, std::string>> expected = {{0, "Group tp Communication"},
                                                             {1, "Plane 0"},
                                                             {3, "Plane 2"},
                                                             {4, "Group dp Communication"},
                                                             {6, "Plane 1"}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(names[i]["tid"], expected[i].first);
    EXPECT_EQ(names[i]["args"]["name"], expected[i].second);
  }
  const auto parts = Events({{"name", "Memcpy"}, {"tid", 6}});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0]["args"]["data type"], "BFP16");
  EXPECT_EQ(parts[0]["args"]["link type"], "INVALID_TYPE");
  const auto collective = Events({{"ph", "X"}, {"pid", kCommunication}, {"tid", 4}});
  ASSERT_EQ(collective.size(), 1u);
  EXPECT_EQ(collective[0]["args"]["relay"], "yes");
}

TEST_F(TraceView, MarksOnBothSides) {
  session_.marks.Append({{.start = kTraceBegin,
                          .dur = 1000,
                          .message = Id("forward 5"),
                          .domain = Id("Module"),
                          .device_start = kTraceBegin + 500,
                          .device_dur = 400},
                         {.event_type = 2,
                          .mark_id = 2,
                          .thread = 4,
                          .device = 0,
                          .device_stream = 2,
                          .device_task = 11}});
  EXPECT_EQ(Events({{"name", "forward 5"}, {"ph", "X"}}).size(), 2u);
  EXPECT_EQ(Events({{"id", "4000000003"}, {"ph", "s"}, {"tid", 4}}).size(), 1u);
  EXPECT_EQ(Events({{"id", "4000000003"}, {"ph", "f"}, {"pid", kHardware}, {"tid", 2}}).size(), 1u);
}

TEST_F(TraceView, TheSameBytesForAnyNumberOfJobs) {
  for (int i = 0; i < 70000; ++i) AddOp(i, i + 5, "op" + std::to_string(i % 100));
  SetJobs(1);
  const std::string one = Written();
  SetJobs(4);
  const std::string four = Written();
  SetJobs(0);
  EXPECT_TRUE(one == four);
  EXPECT_EQ(json::parse(one).size(), 70000u + 5) << "all of them and the names";
}

}  // namespace
}  // namespace mpa::profiler_output
