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

// What a user calls a part of the program is no place where the host works.
TEST(RankGraph, MarksOfUsersAreNoPlacesOnAGpu) {
  test::RankBuilder rank(DeviceKind::kGpu);
  const std::int32_t main = rank.Thread(1);
  rank.Op("forward of my model", 0, 1000, main);
  rank.Op("aten::mm", 100, 300, main);
  rank.Launch(7, 200, main);
  rank.trace.kernels.link[rank.KernelAt(400, 800)] = 7;
  const RankDiagnosis part = MakeRankDiagnosis(rank.trace);
  std::vector<std::string> places;
  for (const HostPlace& place : part.places) places.push_back(part.names[place.name]);
  EXPECT_EQ(places, (std::vector<std::string>{"aten::mm"}));
}

}  // namespace
}  // namespace mpa
