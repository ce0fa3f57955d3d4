// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/rank_graph.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace mpa
