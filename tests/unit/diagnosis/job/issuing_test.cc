// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/issuing.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace mpa {
namespace {

// A host asks its task queue for an event, for the collective that waits for it, and for a kernel.
// Nodes by number: 0 the begin, 1, 2 and 9 the three requests; in the queue 3 to 4 the event, 5 to
// 7 the collective with its launch 6, 10 the kernel with its launch 11; on the device 8 the arrival
// at the collective, 12 the kernel.
RankDiagnosis Issued() {
  RankDiagnosis part;
  const auto add = [&](TimeNs start, NodeKind kind) {
    part.graph.nodes.push_back({start, 0, kind});
  };
  add(0, NodeKind::kHost);
  add(10, NodeKind::kHost);
  add(15, NodeKind::kHost);
  add(20, NodeKind::kQueue);
  add(27, NodeKind::kQueue);
  add(27, NodeKind::kQueue);
  add(30, NodeKind::kLaunch);
  add(32, NodeKind::kQueue);
  add(40, NodeKind::kArrive);
  add(36, NodeKind::kHost);
  add(40, NodeKind::kQueue);
  add(44, NodeKind::kLaunch);
  add(50, NodeKind::kKernel);
  part.graph.collectives.push_back({8, 8, 0});
  const auto wait = [&](std::uint32_t node, std::uint32_t on,
                        std::vector<std::pair<TimeCategory, TimeNs>> work = {}) {
    const auto edge = static_cast<std::uint32_t>(part.graph.edges.size());
    part.graph.edges.push_back({node, on, WaitsFor::kStart, 0});
    for (const auto& [category, time] : work)
      part.shares.push_back({.edge = edge, .category = category, .time = time});
  };
  wait(4, 3, {{TimeCategory::kDispatchCann, 7}});
  wait(5, 4);
  wait(6, 5, {{TimeCategory::kDispatchComm, 3}});
  wait(7, 6, {{TimeCategory::kDispatchCann, 2}});
  wait(10, 7);
  wait(11, 10, {{TimeCategory::kDispatchCann, 4}});
  wait(1, 0, {{TimeCategory::kDispatchComm, 10}});
  wait(2, 1,
       {{TimeCategory::kDispatchComm, 4}, {TimeCategory::kPython, 1}, {TimeCategory::kGarbage, 9}});
  wait(9, 2, {{TimeCategory::kDispatchOp, 21}});
  wait(3, 1);
  wait(5, 2);
  wait(10, 9);
  wait(8, 6);
  wait(12, 11);
  return part;
}

std::vector<std::pair<std::uint32_t, TimeNs>> WorkOf(std::uint32_t node) {
  const RankDiagnosis part = Issued();
  const IssuingWork issuing(part);
  std::vector<std::pair<std::uint32_t, TimeNs>> work;
  for (const Removal::Edge& edge : issuing.Of(node)) work.emplace_back(edge.edge, edge.less);
  return work;
}

TEST(Issuing, ACollectiveBeginsWithWhatItsCallAsksForFirst) {
  using Work = std::vector<std::pair<std::uint32_t, TimeNs>>;
  EXPECT_EQ(WorkOf(8), (Work{{0, 7}, {2, 3}, {3, 2}, {6, 10}, {7, 4}, {7, 1}}))
      << "but collecting garbage does not issue it";
}

TEST(Issuing, AKernelHasItsOwnCall) {
  using Work = std::vector<std::pair<std::uint32_t, TimeNs>>;
  EXPECT_EQ(WorkOf(12), (Work{{5, 4}, {8, 21}}));
  EXPECT_TRUE(WorkOf(3).empty()) << "nothing of the device";
}

// A host works 40 ns and asks the queue for a kernel, then launches two more itself, for which it
// waits until the queue is empty. Nodes by number: 0 the begin, 1 the request, 4 and 6 its
// launches; in the queue 2 to 5 with the launch 3; on the device the kernels 7, 8 and 9.
TEST(Issuing, LaunchesBesideTheQueueHaveTheirOwnCalls) {
  RankDiagnosis part;
  const auto add = [&](TimeNs start, NodeKind kind) {
    part.graph.nodes.push_back({start, 0, kind});
  };
  const auto wait = [&](std::uint32_t node, std::uint32_t on, TimeNs work = 0) {
    if (work > 0)
      part.shares.push_back({.edge = static_cast<std::uint32_t>(part.graph.edges.size()),
                             .category = TimeCategory::kDispatchCann,
                             .time = work});
    part.graph.edges.push_back({node, on, WaitsFor::kStart, work});
  };
  add(0, NodeKind::kHost);
  add(40, NodeKind::kHost);
  add(40, NodeKind::kQueue);
  add(60, NodeKind::kLaunch);
  add(80, NodeKind::kLaunch);
  add(65, NodeKind::kQueue);
  add(87, NodeKind::kLaunch);
  add(70, NodeKind::kKernel);
  add(90, NodeKind::kKernel);
  add(99, NodeKind::kKernel);
  wait(3, 2, 20);
  wait(5, 3, 5);
  wait(1, 0, 40);
  wait(4, 1, 15);
  wait(4, 5);
  wait(6, 4, 7);
  wait(6, 5);
  wait(2, 1);
  wait(7, 3);
  wait(8, 4);
  wait(9, 6);
  const IssuingWork issuing(part);
  const auto times = [&](std::uint32_t node) {
    std::vector<TimeNs> all;
    for (const Removal::Edge& edge : issuing.Of(node)) all.push_back(edge.less);
    return all;
  };
  EXPECT_EQ(times(7), (std::vector<TimeNs>{20, 5, 40}));
  EXPECT_EQ(times(8), std::vector<TimeNs>{15});
  EXPECT_EQ(times(9), std::vector<TimeNs>{7});
}

TEST(Issuing, CallsThatLaunchNothingAreNotOfTheNextStep) {
  RankDiagnosis part = Issued();
  for (GraphNode& node : part.graph.nodes) node.step = 0;
  const auto first = [&] { return IssuingWork(part).Of(8).size(); };
  ASSERT_EQ(first(), 6u);
  for (const std::uint32_t node : {8, 6}) part.graph.nodes[node].step = 1;
  EXPECT_EQ(first(), 4u) << "what was called for at 10 ns launches nothing in its step, nor does"
                            " its piece in the queue";
}

// Four kernels of one type, each behind its own launch. To issue the last one takes 10 ns as well;
// for the rest of 1000 the host stood still.
TEST(Issuing, WhereTheHostStoodStillOnlyTheUsualTimeIsOfTheKernel) {
  RankDiagnosis part;
  part.names = {"", "Cast"};
  part.kinds.push_back({.type = 1});
  TimeNs now = 0;
  std::uint32_t before = 0;
  part.graph.nodes.push_back({0, 0, NodeKind::kHost});
  std::vector<std::uint32_t> kernels;
  for (const TimeNs work : {10, 10, 10, 1000}) {
    now += work;
    const auto launch = static_cast<std::uint32_t>(part.graph.nodes.size());
    part.graph.nodes.push_back({now, 0, NodeKind::kLaunch});
    part.shares.push_back({.edge = static_cast<std::uint32_t>(part.graph.edges.size()),
                           .category = TimeCategory::kDispatchOp,
                           .time = work});
    part.graph.edges.push_back({launch, before, WaitsFor::kStart, work});
    part.graph.nodes.push_back({.start = now + 1, .dur = 1, .kind = NodeKind::kKernel, .row = 0});
    part.graph.edges.push_back({launch + 1, launch, WaitsFor::kStart, 0});
    kernels.push_back(launch + 1);
    before = launch;
  }
  const IssuingWork issuing(part);
  for (const std::uint32_t kernel : kernels) {
    ASSERT_EQ(issuing.Of(kernel).size(), 1u);
    EXPECT_EQ(issuing.Of(kernel).front().less, 10);
  }
}

}  // namespace
}  // namespace mpa
