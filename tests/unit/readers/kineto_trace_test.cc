// SPDX-License-Identifier: Apache-2.0
// Traces of GPUs as PyTorch writes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

#include "mpa/model/op_shapes.h"
#include "mpa/model/op_values.h"
#include "support/failures.h"
#include "support/files.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;
using Times = std::vector<TimeNs>;

// Reads a trace with these events.
RankTrace ReadTrace(const std::string& events, const std::string& gpu_flow_cat = "",
                    const KernelMasks& masks = {}) {
  const test::TempDir dir;
  return test::ReadFile(FileKind::kKinetoTrace,
                        dir.Write("gpu.json", "{\"schemaVersion\": 1, \"traceEvents\": [" + events +
                                                  "], \"traceName\": \"gpu.json\"}"),
                        {test::kAllTables, gpu_flow_cat, masks});
}

std::string Span(const std::string& category, const std::string& name, int tid = 7) {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":0,"tid":)" +
         std::to_string(tid) + R"(,"ts":1000.5,"dur":2.25,"args":{"stream":7,"External id":1}})";
}

TEST(KinetoTrace, IsOfAGpu) { EXPECT_EQ(ReadTrace("").device, DeviceKind::kGpu); }

TEST(KinetoTrace, ReadsHostOperatorsOfEveryKindOfCategory) {
  const RankTrace trace = ReadTrace(Span("cpu_op", "a") + "," + Span("user_annotation", "b") + "," +
                                    Span("cuda_runtime", "c") + "," + Span("Operator", "d") + "," +
                                    Span("Runtime", "e") + "," + Span("python_function", "f"));
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), (Names{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(trace.host_ops.start, Times(5, 1000500));
  EXPECT_EQ(trace.host_ops.dur, Times(5, 2250));
}

// kOpValues and kOpShapes are no tables, so asking for all tables does not ask for them.
TEST(KinetoTrace, ValuesOfInputsAreReadForThoseWhoAskForThem) {
  const test::TempDir dir;
  const auto file = dir.Write(
      "gpu.json",
      R"({"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":0,"tid":7,
          "ts":1,"dur":2,"args":{"Input Dims":[[2],[]],"Input type":["float","Scalar"],
          "Concrete Inputs":["","3"]}}],"traceName":"gpu.json"})");
  constexpr auto kTables =
      static_cast<Tables>((static_cast<std::uint64_t>(Tables::kServer) << 1) - 1);
  const auto types = [&](Tables wanted) {
    const RankTrace trace = test::ReadFile(FileKind::kKinetoTrace, file, {wanted, ""});
    return test::ColumnTexts(trace, trace.host_ops.types);
  };
  EXPECT_EQ(types(kTables), Names{"['float', 'Scalar']"});
  EXPECT_EQ(types(kTables | kOpValues), Names{"['float', 'Scalar']\n['', '3']"});
  EXPECT_FALSE(Intersects(kTables, kOpShapes));
}

TEST(KinetoTrace, TellsKernelsFromNcclCopiesAndMemsets) {
  const RankTrace trace = ReadTrace(
      Span("Kernel", "volta_sgemm", 7) + "," + Span("kernel", "ncclKernel_AllReduce_RING", 20) +
      "," + Span("kernel", "NCCLDevKernel_SendRecv", 20) + "," +
      Span("gpu_memcpy", "Memcpy HtoD", 7) + "," + Span("gpu_memset", "Memset (Device)", 7) + "," +
      Span("kernel", "my_nccl_like", 7));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), (Names{"volta_sgemm", "my_nccl_like"}));
  EXPECT_EQ(trace.kernels.stream, (std::vector<std::int64_t>{7, 7}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.communications.name),
            (Names{"ncclKernel_AllReduce_RING", "NCCLDevKernel_SendRecv"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.name),
            (Names{"Memcpy HtoD", "Memset (Device)"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.type), (Names{"gpu_memcpy", "gpu_memset"}));
}

// The category decides, then the name.
TEST(KinetoTrace, PutsDeviceWorkIntoTheTableOfItsKind) {
  const RankTrace trace = ReadTrace(
      Span("Memcpy", "Memcpy HtoD", 7) + "," + Span("Memset", "Memset (Device)", 7) + "," +
      Span("gpu_memcpy", "CopyDeviceToHost", 7) + "," + Span("kernel", "Memcpy DtoD", 7) + "," +
      Span("kernel", "Memset (Device)", 7) + "," + Span("collective_comm", "exchange", 20) + "," +
      Span("kernel", "mscclKernel_Sum_half_Simple_false", 20) + "," + Span("kernel", "Add", 7));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), (Names{"Add"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.communications.name),
            (Names{"exchange", "mscclKernel_Sum_half_Simple_false"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.device_tasks.type),
            (Names{"gpu_memcpy", "gpu_memset", "gpu_memcpy", "gpu_memcpy", "gpu_memset"}));
  using enum CopyDirection;
  EXPECT_EQ(trace.device_tasks.direction,
            (std::vector<CopyDirection>{kToDevice, kWithinDevice, kToHost, kWithinDevice,
                                        kWithinDevice}));
}

TEST(KinetoTrace, TakesTheCommunicationKernelsOfTheRequest) {
  KernelMasks masks;
  masks.communication = {"ours_"};
  const RankTrace trace = ReadTrace(
      Span("kernel", "void ours_exchange<int>") + "," + Span("kernel", "ncclKernel"), "", masks);
  EXPECT_EQ(test::ColumnTexts(trace, trace.communications.name),
            (Names{"void ours_exchange<int>"}));
  EXPECT_EQ(test::ColumnTexts(trace, trace.kernels.name), (Names{"ncclKernel"}));
}

TEST(KinetoTrace, TakesProcessesAndThreadsThatAreTexts) {
  const RankTrace trace = ReadTrace(R"json(
      {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Traces",
       "tid":"PyTorch Profiler","ts":1,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"a","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"b","pid":"Spans","tid":"PyTorch Profiler","ts":2,"dur":1},
      {"ph":"X","cat":"cpu_op","name":"c","pid":"Traces","tid":"PyTorch Profiler","ts":3,
       "dur":1})json");
  EXPECT_EQ(test::ColumnTexts(trace, trace.host_ops.name), (Names{"a", "b", "c"}));
  EXPECT_EQ(trace.host_ops.track[0], trace.host_ops.track[1]);
  EXPECT_NE(trace.host_ops.track[0], trace.host_ops.track[2]);
  EXPECT_TRUE(trace.issues.Empty());
}

TEST(KinetoTrace, ReadsTheMemoryOfTheDeviceOnly) {
  const RankTrace trace = ReadTrace(R"(
      {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":5.5,
       "args":{"Total Reserved":2097152,"Total Allocated":1,"Bytes":512,"Addr":140,"Device Id":0,
        "Device Type":1}},
      {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":6,
       "args":{"Total Reserved":99,"Bytes":512,"Device Id":-1,"Device Type":0}},
      {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[Memory]","pid":1,"tid":1,"ts":7,
       "args":{"Total Reserved":3145728.0,"Bytes":-512,"Device Id":1,"Device Type":1}})");
  EXPECT_EQ(trace.memory_samples.time, (Times{5500, 7000}));
  EXPECT_EQ(trace.memory_samples.reserved_bytes, (std::vector<std::int64_t>{2097152, 3145728}));
  EXPECT_EQ(trace.memory_samples.allocated_bytes, (std::vector<std::int64_t>{1, -1}));
}

TEST(KinetoTrace, CountsMemoryThatNoDeviceHas) {
  const RankTrace trace = ReadTrace(R"(
      {"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":5,
       "args":{"Total Reserved":9e18,"Bytes":512,"Addr":140,"Device Id":0}},
      {"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":6,
       "args":{"Total Reserved":1,"Bytes":-9e18,"Addr":140,"Device Id":0}})");
  EXPECT_TRUE(trace.memory_samples.Empty());
  EXPECT_TRUE(trace.allocations.Empty());
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "2 times");
}

constexpr const char* kTwoFlows = R"(
    {"ph":"s","cat":"ac2g","id":3,"pid":1,"tid":2,"ts":1,"name":"ac2g"},
    {"ph":"f","cat":"ac2g","id":3,"pid":0,"tid":7,"ts":10,"name":"ac2g","bp":"e"},
    {"ph":"s","cat":"My_Flow","id":"3","pid":1,"tid":2,"ts":2,"name":"x"},
    {"ph":"f","cat":"My_Flow","id":"3","pid":0,"tid":7,"ts":20,"name":"x","bp":"e"})";

TEST(KinetoTrace, KnowsTheUsualCategoriesOfLaunches) {
  const RankTrace trace = ReadTrace(kTwoFlows);
  EXPECT_EQ(trace.launches.host_time, Times{1000});
  EXPECT_EQ(trace.launches.device_time, Times{10000});
  EXPECT_EQ(trace.launches.stream, std::vector<std::int64_t>{7});
}

TEST(KinetoTrace, TakesTheGivenCategoryOfLaunchesInPlaceOfTheUsualOnes) {
  const RankTrace trace = ReadTrace(kTwoFlows, "my_flow");
  EXPECT_EQ(trace.launches.host_time, Times{2000});
  EXPECT_EQ(trace.launches.device_time, Times{20000});
}

// One arrow, and one correlation, of a launch with several kernels; ends may come first.
TEST(KinetoTrace, GivesAllKernelsOfAGraphToItsLaunch) {
  const std::string call =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":2,"ts":5,"dur":3,
          "args":{"correlation":9}})";
  const std::string start = R"({"ph":"s","cat":"ac2g","id":9,"pid":1,"tid":2,"ts":5})";
  std::vector<std::string> events = {call, start};
  for (const char* time : {"10", "20", "30"}) {
    events.push_back(std::string(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)") +
                     time + R"(,"dur":4,"args":{"device":0}})");
    events.push_back(std::string(R"({"ph":"f","cat":"ac2g","id":9,"pid":0,"tid":7,"ts":)") + time +
                     "}");
  }
  // The last one has no arrow.
  events.push_back(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":40,"dur":4,
          "args":{"device":0,"correlation":9}})");
  for (int turn = 0; turn < 2; ++turn) {
    std::string text;
    for (const std::string& event : events) text += (text.empty() ? "" : ",") + event;
    const RankTrace trace = ReadTrace(text);
    EXPECT_EQ(trace.launches.host_time, Times{5000}) << turn;
    EXPECT_EQ(trace.launches.device_time, Times{10000}) << turn;
    EXPECT_EQ(trace.kernels.link, (std::vector<std::int64_t>(4, 0))) << turn;
    std::reverse(events.begin(), events.end());
  }
}

TEST(KinetoTrace, TiesWorkToItsLaunchByCorrelationWhereNoArrowDoes) {
  const RankTrace trace = ReadTrace(R"(
      {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":30,"dur":1,
       "args":{"correlation":4}},
      {"ph":"X","cat":"kernel","name":"nobody's","pid":0,"tid":7,"ts":40,"dur":1,
       "args":{"correlation":6}},
      {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":1,
       "args":{"correlation":3}},
      {"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":1,"tid":2,"ts":8,"dur":1,
       "args":{"correlation":4}},
      {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":5,"dur":1,
       "args":{"correlation":3}})");
  EXPECT_EQ(trace.launches.host_time, (Times{5000, 8000}));
  EXPECT_EQ(trace.kernels.link, (std::vector<std::int64_t>{-1, 0}));
  EXPECT_EQ(trace.device_tasks.link, std::vector<std::int64_t>{1});
}

// Kernels of device 3 are more; the operators are those of one process.
TEST(KinetoTrace, NeverAddsUpTheWorkOfSeveralDevices) {
  const auto kernel = [](int device, int time) {
    return R"({"ph":"X","cat":"kernel","name":"k","pid":)" + std::to_string(device) +
           R"(,"tid":7,"ts":)" + std::to_string(time) + R"(,"dur":1},)";
  };
  const RankTrace trace =
      ReadTrace(kernel(1, 10) + kernel(3, 11) + kernel(3, 12) + Span("cpu_op", "a"));
  EXPECT_EQ(trace.kernels.start, (Times{11000, 12000}));
  EXPECT_EQ(trace.host_ops.Size(), 1u);
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "work of another device left out");
  EXPECT_HAS_TEXT(trace.issues.Lines()[0],
                  "(gpu.json: device 1 with 1 pieces of work, in place of 3)");
}

// Two ranks of two hosts, both on device 0.
TEST(KinetoTrace, NeverAddsUpTheRanksOfAMergedTrace) {
  std::string events;
  const auto launch = [&](int pid, int correlation, int time) {
    for (const auto& [category, name, place, at] :
         {std::tuple{"user_annotation", "ProfilerStep#1", pid, time},
          std::tuple{"cuda_runtime", "cudaLaunchKernel", pid, time + 1},
          std::tuple{"kernel", "k", 0, time + 2}}) {
      events += std::string(events.empty() ? "" : ",") + R"({"ph":"X","cat":")" + category +
                R"(","name":")" + name + R"(","pid":)" + std::to_string(place) +
                R"(,"tid":7,"ts":)" + std::to_string(at) + R"(,"dur":9,"args":{"correlation":)" +
                std::to_string(correlation) + "}}";
    }
  };
  launch(50, 1, 100);
  launch(60, 2, 200);
  launch(60, 3, 300);
  const RankTrace trace = ReadTrace(events);
  EXPECT_EQ(trace.kernels.start, (Times{202000, 302000}));
  EXPECT_EQ(trace.steps.start, (Times{200000, 300000}));
  EXPECT_EQ(trace.host_ops.Size(), 4u);
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "process 50 with 1 pieces of work, in place of 60)");
}

TEST(KinetoTrace, NamesWorkOfDevicesThatItDoesNotKnow) {
  const RankTrace trace = ReadTrace(Span("mtia_ccp_events", "a") + "," + Span("kernel", "b"));
  EXPECT_EQ(trace.kernels.Size(), 1u);
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "not supported (gpu.json: mtia_ccp_events)");
}

TEST(KinetoTrace, FindsTheBackwardThreadInTheFirstArrowFromForwardToBackward) {
  EXPECT_EQ(ReadTrace(R"(
      {"ph":"s","cat":"fwdbwd","id":1,"pid":1,"tid":2,"ts":1,"name":"fwdbwd"},
      {"ph":"f","cat":"fwdbwd","id":1,"pid":1,"tid":5,"ts":2,"name":"fwdbwd"},
      {"ph":"f","cat":"fwdbwd","id":2,"pid":1,"tid":6,"ts":3,"name":"fwdbwd"})")
                .backward_tid,
            5);
}

TEST(KinetoTrace, FindsTheSteps) {
  const RankTrace trace = ReadTrace(Span("user_annotation", "ProfilerStep#12"));
  EXPECT_EQ(trace.steps.id, std::vector<std::int32_t>{12});
  EXPECT_EQ(trace.steps.end, Times{1002750});
}

TEST(KinetoTrace, LosesOnlyTheEventThatIsBroken) {
  const RankTrace trace = ReadTrace(Span("cpu_op", "a") + R"(,{"ph":"X","cat":"cpu_op","name":},)" +
                                    Span("kernel", "b"));
  EXPECT_EQ(trace.host_ops.Size(), 1u);
  EXPECT_EQ(trace.kernels.Size(), 1u);
  ASSERT_EQ(trace.issues.Lines().size(), 1u);
  EXPECT_HAS_TEXT(trace.issues.Lines()[0], "gpu.json");
}

TEST(KinetoTrace, CountsKernelsWhoseTimesMakeNoSense) {
  const RankTrace trace =
      ReadTrace(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"dur":1})");
  EXPECT_TRUE(trace.kernels.Empty());
  EXPECT_FALSE(trace.issues.Empty());
}

TEST(KinetoTrace, NamesTheFileThatHoldsNoEvents) {
  const test::TempDir dir;
  const auto path = dir.Write("gpu.json", R"({"schemaVersion": 1})");
  const Error error = test::ErrorOf([&] { test::ReadFile(FileKind::kKinetoTrace, path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "gpu.json");
}

}  // namespace
}  // namespace mpa
