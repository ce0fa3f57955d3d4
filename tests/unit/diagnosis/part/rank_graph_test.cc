// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/part/rank_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mpa/diagnosis/part/part.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

// Without calls of the runtime: an operator reads a number from 100 to 1000, and launches at 120
// what runs from `begin` to `end`. What the host is said to do between 120 and 1000.
TimeNs WorkBehindLaunch(TimeNs begin, TimeNs end) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1);
  rank.Op("aten::_local_scalar_dense", 100, 1000, main);
  rank.Launch(7, 120, main);
  rank.trace.kernels.link[rank.KernelAt(begin, end)] = 7;
  std::vector<HostStretch> host;
  BuildRankGraph(rank.trace, 0, host);
  TimeNs work = 0;
  for (const HostStretch& stretch : host)
    work += stretch.begin >= 120 ? stretch.end - stretch.begin : 0;
  return work;
}

TEST(RankGraph, WhoWaitsForTheDeviceDoesNotWork) {
  EXPECT_EQ(WorkBehindLaunch(130, 900), 0)
      << "the call waits for it, although it launches something itself";
  EXPECT_EQ(WorkBehindLaunch(20, 30), 880) << "nothing to wait for";
}

TEST(RankGraph, KernelsThatAddUpGradients) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1);
  rank.Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 100, 200, main);
  rank.Launch(7, 150, main);
  rank.trace.kernels.link[rank.KernelAt(300, 400)] = 7;
  rank.Launch(8, 250, main);
  rank.trace.kernels.link[rank.KernelAt(400, 500)] = 8;
  std::vector<HostStretch> host;
  std::vector<bool> adds;
  for (const GraphNode& node : BuildRankGraph(rank.trace, 0, host).nodes) {
    if (node.kind == NodeKind::kKernel) adds.push_back(node.adds_gradients);
  }
  EXPECT_EQ(adds, (std::vector<bool>{true, false}));
}

// Of a GPU: an operator reads a number, which waits within a call of the runtime, and the program
// waits for the device. What waits, by name.
TEST(RankGraph, CallsOfAGpuWaitOutsideOfOperatorsThatDo) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  rank.Launch(7, 10, main);
  rank.trace.kernels.link[rank.KernelAt(50, 400)] = 7;
  rank.Op("aten::_local_scalar_dense", 100, 500, main);
  rank.Op("cudaStreamSynchronize", 120, 490, main);
  rank.Launch(8, 600, main);
  rank.trace.kernels.link[rank.KernelAt(610, 900)] = 8;
  rank.Op("cudaDeviceSynchronize", 650, 1000, main);
  rank.Op("cudaMemcpyAsync", 1010, 1100, main);
  std::vector<HostStretch> host;
  std::vector<std::string> waiting;
  for (const BlockedCall& call : BuildRankGraph(rank.trace, 0, host).blocked) {
    waiting.emplace_back(rank.trace.strings.View(call.name));
  }
  EXPECT_EQ(waiting,
            (std::vector<std::string>{"aten::_local_scalar_dense", "cudaDeviceSynchronize"}));
}

// A call of AscendCL waits from 100 to 500 within a call of the runtime that takes 120 to 490;
// another thread waits at the same time. Each wait counts once, as its outermost call.
TEST(RankGraph, NestedWaitsCountOnce) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1), other = rank.Thread(2);
  rank.Launch(7, 10, main);
  rank.trace.kernels.link[rank.KernelAt(50, 400)] = 7;
  const auto call = [&](const char* name, TimeNs begin, TimeNs end, std::int32_t track) {
    rank.trace.host_calls.Append(
        {.start = begin, .dur = end - begin, .name = rank.Text(name), .track = track});
  };
  rank.Launch(8, 5, other);  // a thread that issues nothing holds up nothing
  rank.trace.kernels.link[rank.KernelAt(400, 410)] = 8;
  call("Runtime@StreamSynchronize", 120, 490, main);
  call("AscendCL@aclrtSynchronizeStreamWithTimeout", 100, 500, main);
  call("Runtime@StreamSynchronize", 130, 480, other);
  std::vector<HostStretch> host;
  TimeNs waited = 0;
  std::vector<std::string> waiting;
  for (const BlockedCall& blocked : BuildRankGraph(rank.trace, 0, host).blocked) {
    waited += blocked.dur;
    waiting.emplace_back(rank.trace.strings.View(blocked.name));
  }
  EXPECT_EQ(waiting, (std::vector<std::string>{"AscendCL@aclrtSynchronizeStreamWithTimeout",
                                               "Runtime@StreamSynchronize"}));
  EXPECT_EQ(waited, 400 + 350);
}

// Two streams of a GPU: each kernel waits for its own launch, also where the other stream was asked
// later and runs earlier.
TEST(RankGraph, LaunchesBelongToTheirStreams) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  const auto add = [&](std::int64_t link, TimeNs launched, TimeNs begin, std::int64_t stream) {
    rank.Launch(link, launched, main);
    const std::size_t row = rank.KernelAt(begin, begin + 100);
    rank.trace.kernels.link[row] = link;
    rank.trace.kernels.stream[row] = stream;
  };
  add(1, 10, 20, 7);
  add(2, 30, 500, 7);
  add(3, 50, 60, 20);
  std::vector<HostStretch> host;
  const RankGraph graph = BuildRankGraph(rank.trace, 0, host);
  std::vector<std::pair<TimeNs, TimeNs>> launches;  // and the kernels
  for (const GraphEdge& edge : graph.edges) {
    const GraphNode &node = graph.nodes[edge.node], &on = graph.nodes[edge.on];
    if (node.kind == NodeKind::kKernel && on.kind == NodeKind::kLaunch)
      launches.emplace_back(on.start, node.start);
  }
  std::sort(launches.begin(), launches.end());
  EXPECT_EQ(launches, (std::vector<std::pair<TimeNs, TimeNs>>{{10, 20}, {30, 500}, {50, 60}}));
}

std::vector<std::string> PlacesOfPart(const RankDiagnosis& part) {
  std::vector<std::string> places;
  for (const HostPlace& place : part.places) places.push_back(part.names[place.name]);
  return places;
}

// The main thread prepares images while a progress bar sleeps, and a watchdog asks the device.
RankDiagnosis PartWithIdleThreads() {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1), monitor = rank.Thread(2), watchdog = rank.Thread(3);
  rank.Call("threading.py(59): wait", 0, 5000, monitor);
  rank.Op("cudaStreamSynchronize", 1500, 4500, watchdog);
  rank.Op("aten::mm", 100, 200, main);
  rank.Launch(7, 150, main);
  rank.trace.kernels.link[rank.KernelAt(300, 400)] = 7;
  rank.Call("images.py(178): preprocess", 200, 4000, main);
  rank.Op("aten::mm", 4000, 4200, main);
  rank.Launch(8, 4100, main);
  rank.trace.kernels.link[rank.KernelAt(4300, 4400)] = 8;
  return MakeRankDiagnosis(rank.trace);
}

TEST(RankGraph, RefusesMoreNodesThanAnEdgeHolds) {
  EXPECT_EQ(GraphEdge(1, 2'147'483'646, WaitsFor::kEnd, 0).on, 2'147'483'646u);
  EXPECT_THROW(GraphEdge(1, 2'147'483'647, WaitsFor::kEnd, 0), Error);
  EXPECT_THROW(GraphEdge(1, 2'147'483'648, WaitsFor::kEnd, 0), Error);
  EXPECT_THROW(GraphEdge(2'147'483'648, 1, WaitsFor::kEnd, 0), Error);
}

TEST(RankGraph, IdleThreadsAreNoPlaces) {
  const RankDiagnosis part = PartWithIdleThreads();
  EXPECT_EQ(PlacesOfPart(part),
            (std::vector<std::string>{"aten::mm", "images.py(178): preprocess"}));
  HostPlace longest;
  for (const HostPlace& place : part.places) {
    if (place.time > longest.time) longest = place;
  }
  EXPECT_EQ(longest.time, 3800) << "from 200 to 4000";
  EXPECT_EQ(part.shares[longest.share].category, TimeCategory::kPython);
}

TEST(RankGraph, AThreadThatIssuesNothingHoldsUpNothing) {
  EXPECT_TRUE(PartWithIdleThreads().blocked.empty()) << "the watchdog waits for itself";
}

// Of an event that several stretches share each has its own time; it is one call.
TEST(RankGraph, ACallThatGoesOnIsCountedOnce) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  rank.Call("train.py(10): step", 150, 900, main);
  for (const TimeNs launched : {100, 300, 600, 1000}) {
    rank.Launch(launched, launched, main);
    rank.trace.kernels.link[rank.KernelAt(launched + 1000, launched + 1050)] = launched;
  }
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  std::uint32_t calls = 0;
  TimeNs time = 0;
  for (const HostPlace& place : part.places) {
    calls += place.count;
    time += place.time;
  }
  EXPECT_EQ(part.places.size(), 3u);
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(time, 750);
}

// Nothing that the profiler does for itself is Python of the program.
TEST(RankGraph, TheProfilersOwnWorkIsOfItsOwnClass) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  rank.Launch(1, 100, main);
  rank.trace.kernels.link[rank.KernelAt(200, 300)] = 1;
  rank.Call("torch/profiler/profiler.py(200): start_trace", 400, 900, main);
  rank.Call("json/encoder.py(9): encode", 500, 800, main);
  rank.Launch(2, 1000, main);
  rank.trace.kernels.link[rank.KernelAt(1100, 1200)] = 2;
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  TimeNs profiler = 0, python = 0;
  for (const HostShare& share : part.shares) {
    if (share.category == TimeCategory::kProfiler) profiler += share.time;
    if (share.category == TimeCategory::kPython) python += share.time;
  }
  EXPECT_EQ(profiler, 500);
  EXPECT_EQ(python, 0);
}

TEST(RankGraph, KernelsThatClearGradients) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  rank.Op("Optimizer.zero_grad#SGD.zero_grad", 100, 200, main);
  for (const TimeNs launched : {150, 300}) {
    rank.Launch(launched, launched, main);
    rank.trace.kernels.link[rank.KernelAt(launched + 1000, launched + 1050)] = launched;
  }
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  std::vector<bool> clears;
  for (const GraphNode& node : part.graph.nodes) {
    if (node.kind == NodeKind::kKernel) clears.push_back(node.clears_gradients);
  }
  EXPECT_EQ(clears, (std::vector<bool>{true, false}));
}

// Traces of GPUs have no shapes of kernels, but those of the operators that launch them.
TEST(RankGraph, KernelsOfAGpuHaveTheShapesOfTheirOperators) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  rank.Op("aten::addmm", 100, 300, main);
  rank.trace.host_ops.shapes.Stored().back() = rank.Text("[[8], [32, 16], [], 1]");
  rank.Op("cudaLaunchKernel", 150, 160, main);
  rank.Launch(7, 155, main);
  rank.trace.kernels.link[rank.KernelAt(400, 800)] = 7;
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  ASSERT_EQ(part.kinds.size(), 1u);
  EXPECT_EQ(part.names[part.kinds[0].shapes], "8;32,16;;1");
}

// Traces of GPUs record no waits of streams: a kernel that was launched long before begins when a
// collective of another stream ends.
TEST(RankGraph, OnAGpuAKernelWaitsForTheCollectiveThatEndedJustBefore) {
  const auto waits = [](TimeNs begin) {
    test::RankBuilder rank(DeviceKind::kGpu);
    const std::int32_t main = rank.Thread(1);
    const std::int32_t group = rank.Group("0");
    for (const TimeNs launched : {1'000, 2'000, 3'000}) rank.Launch(launched, launched, main);
    rank.trace.kernels.link[rank.KernelAt(10'000, 20'000)] = 1'000;
    rank.Collective(group, 20'000, 900'000, "allreduce");
    rank.trace.communications.link.back() = 2'000;
    rank.trace.kernels.link[rank.KernelAt(begin, begin + 5'000)] = 3'000;
    std::vector<HostStretch> host;
    const RankGraph graph = BuildRankGraph(rank.trace, 0, host);
    return std::any_of(graph.edges.begin(), graph.edges.end(), [&](const GraphEdge& edge) {
      return graph.nodes[edge.on].kind == NodeKind::kLeave &&
             graph.nodes[edge.node].kind == NodeKind::kKernel;
    });
  };
  EXPECT_TRUE(waits(915'000));
  EXPECT_TRUE(waits(950'000)) << "50 us behind it, and idle for 930";
  EXPECT_FALSE(waits(970'000)) << "70 us behind the end: for something else";
  EXPECT_FALSE(waits(40'000)) << "beside it";
}

// What a user calls a part of the program is no place where the host works.
TEST(RankGraph, MarksOfUsersAreNoPlacesOnAGpu) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  rank.Op("forward of my model", 0, 1000, main);
  rank.Op("aten::mm", 100, 300, main);
  rank.Launch(7, 200, main);
  rank.trace.kernels.link[rank.KernelAt(400, 800)] = 7;
  rank.Launch(8, 600, main);
  rank.trace.kernels.link[rank.KernelAt(900, 950)] = 8;
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  EXPECT_EQ(PlacesOfPart(part), (std::vector<std::string>{"aten::mm"}));
}

// Of a GPU: a copy within the device is launched and left alone; one from pinned memory is waited
// for.
TEST(RankGraph, CopiesOfAGpuWaitOnlyWithinCallsThatDo) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  rank.Launch(7, 10, main);
  rank.trace.kernels.link[rank.KernelAt(50, 140)] = 7;
  rank.Op("aten::copy_", 100, 200, main);
  rank.Op("cudaMemcpyAsync", 110, 190, main);
  rank.Launch(8, 300, main);
  rank.trace.kernels.link[rank.KernelAt(310, 450)] = 8;
  rank.Op("aten::copy_", 400, 600, main);
  rank.Op("cudaMemcpyAsync", 410, 420, main);
  rank.Op("cudaStreamSynchronize", 430, 590, main);
  std::vector<HostStretch> host;
  std::vector<TimeNs> waiting;
  for (const BlockedCall& call : BuildRankGraph(rank.trace, 0, host).blocked)
    waiting.push_back(call.begin);
  EXPECT_EQ(waiting, std::vector<TimeNs>{400});
}

TEST(RankGraph, WithoutABackwardPassARankDoesNotTrain) {
  const auto trains = [](std::string_view op) {
    test::RankBuilder rank;
    rank.Op(op, 0, 50, rank.Thread(1));
    rank.KernelAt(60, 100);
    return MakeRankDiagnosis(rank.trace).trains;
  };
  EXPECT_FALSE(trains("aten::linear"));
  EXPECT_TRUE(trains("autograd::engine::evaluate_function: MmBackward0"));
}

}  // namespace
}  // namespace mpa
