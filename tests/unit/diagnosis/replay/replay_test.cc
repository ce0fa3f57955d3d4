// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/replay/replay.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace mpa {
namespace {

using Node = ReplayGraph::Node;

std::vector<TimeNs> ReplayWithout(const ReplayGraph& graph, const Removal& removal) {
  const Removal* const removals[] = {&removal};
  return graph.Replay(removals);
}

// A host that launches two kernels: the device is idle until the first, and runs the second as soon
// as the first has ended.
struct TwoKernels {
  ReplayGraph graph;
  Node first_launch = graph.Add(0, 0);
  Node second_launch = graph.Add(10, 0);
  Node first = graph.Add(3, 20);
  Node second = graph.Add(24, 5);
  ReplayGraph::Edge host_work = graph.Wait(second_launch, first_launch, WaitsFor::kStart, 10);
  ReplayGraph::Edge on_stream = 0;

  TwoKernels() {
    graph.Wait(first, first_launch, WaitsFor::kStart, 2);
    graph.Wait(second, second_launch, WaitsFor::kStart, 2);
    on_stream = graph.Wait(second, first, WaitsFor::kEnd, 0);
    graph.Finish(/*tolerance=*/0);
  }
};

TEST(Replay, GivesTheRecordedTimesOfTheUntouchedGraph) {
  const TwoKernels of;
  EXPECT_EQ(of.graph.Replay({}), (std::vector<TimeNs>{0, 10, 3, 24}));
  EXPECT_EQ(of.graph.Dropped(), 0U);
}

TEST(Replay, ShorterWorkLetsWhatWaitsForItStartEarlier) {
  const TwoKernels of;
  // The first ends at 8 instead of 23; the second starts 1 behind the launch at 10 + 2.
  const std::vector<TimeNs> start = ReplayWithout(of.graph, {{{of.first, 15}}, {}, {}});
  EXPECT_EQ(start[of.first], 3);
  EXPECT_EQ(start[of.second], 13);
}

TEST(Replay, HostWorkBehindABusyDeviceWinsNothing) {
  const TwoKernels of;
  const std::vector<TimeNs> start = ReplayWithout(of.graph, {{}, {{of.host_work, 10}}, {}});
  EXPECT_EQ(start[of.second_launch], 0);
  EXPECT_EQ(start[of.second], 24);
}

TEST(Replay, ACutEdgeHoldsNothingUp) {
  const TwoKernels of;
  const std::vector<TimeNs> start = ReplayWithout(of.graph, {{}, {}, {of.on_stream}});
  EXPECT_EQ(start[of.second], 13);
}

TEST(Replay, WhatIsPromptStartsAsSoonAsItCan) {
  const TwoKernels of;
  // Without the 1 behind the launch at 10 + 2.
  const std::vector<TimeNs> start = ReplayWithout(
      of.graph, {.durations = {{of.first, 15}}, .waits = {}, .cuts = {}, .prompt = {of.second}});
  EXPECT_EQ(start[of.second], 12);
}

TEST(Replay, RemovalsAddUpAndNeverGoBelowNothing) {
  const TwoKernels of;
  const Removal once{{{of.first, 15}}, {}, {}};
  const Removal* const twice[] = {&once, &once};
  EXPECT_EQ(of.graph.Replay(twice)[of.second], 13);
}

TEST(Replay, DropsEdgesThatTheRecordedTimesContradict) {
  ReplayGraph graph;
  const Node late = graph.Add(100, 50);
  const Node early = graph.Add(10, 5);
  graph.Wait(early, late, WaitsFor::kEnd, 0);
  graph.Finish(/*tolerance=*/20);
  EXPECT_EQ(graph.Dropped(), 1U);
  EXPECT_EQ(graph.Replay({}), (std::vector<TimeNs>{100, 10}));
}

TEST(Replay, KeepsEdgesThatTheClocksContradictALittle) {
  ReplayGraph graph;
  const Node work = graph.Add(0, 30);
  const Node next = graph.Add(25, 5);  // 5 before what it waits for
  graph.Wait(next, work, WaitsFor::kEnd, 0);
  graph.Finish(/*tolerance=*/20);
  EXPECT_EQ(graph.Dropped(), 0U);
  EXPECT_EQ(graph.Replay({})[next], 25);
  EXPECT_EQ(ReplayWithout(graph, {{{work, 10}}, {}, {}})[next], 15);
}

TEST(Replay, OrdersNodesOfOneTimeByWhatTheyWaitFor) {
  ReplayGraph graph;
  const Node wait = graph.Add(50, 0);  // added before what releases it
  const Node work = graph.Add(10, 40);
  graph.Wait(wait, work, WaitsFor::kEnd, 0);
  graph.Finish(0);
  EXPECT_EQ(graph.Dropped(), 0U);
  EXPECT_EQ(ReplayWithout(graph, {{{work, 40}}, {}, {}})[wait], 10);
}

TEST(Replay, BreaksCirclesOfOneTime) {
  ReplayGraph graph;
  const Node a = graph.Add(5, 0);
  const Node b = graph.Add(5, 0);
  graph.Wait(a, b, WaitsFor::kStart, 0);
  graph.Wait(b, a, WaitsFor::kStart, 0);
  graph.Finish(0);
  EXPECT_GE(graph.Dropped(), 1U);
  EXPECT_EQ(graph.Replay({}), (std::vector<TimeNs>{5, 5}));
}

TEST(Replay, ACircleOfOneTimeLeavesWhatFollowsAsItIs) {
  ReplayGraph graph;
  const Node work = graph.Add(0, 5);
  const Node a = graph.Add(5, 0), b = graph.Add(5, 0), next = graph.Add(5, 0);
  graph.Wait(a, work, WaitsFor::kEnd, 0);
  graph.Wait(a, b, WaitsFor::kStart, 0);
  graph.Wait(b, a, WaitsFor::kStart, 0);
  graph.Wait(next, b, WaitsFor::kStart, 0);
  graph.Finish(0);
  EXPECT_EQ(graph.Dropped(), 1U);
  EXPECT_EQ(ReplayWithout(graph, {{{work, 5}}, {}, {}}), (std::vector<TimeNs>{0, 0, 0, 0}));
}

TEST(Replay, AFixShortensWhatIsOnTheCriticalPath) {
  const TwoKernels of;
  using Cuts = std::vector<std::pair<Node, TimeNs>>;
  const auto shortened = [&](const Removal& fix, const Removal& made) {
    const Removal* const before[] = {&made};
    Cuts cuts;
    for (const ReplayGraph::PathCut& cut : of.graph.Shortened(of.second, 0, before, fix))
      cuts.emplace_back(cut.node, cut.less);
    return cuts;
  };
  const Removal host{{}, {{of.host_work, 4}}, {}}, kernel{{{of.first, 15}}, {}, {}},
      order{{}, {}, {of.on_stream}};
  EXPECT_EQ(shortened(kernel, {}), (Cuts{{of.first, 15}}));
  EXPECT_EQ(shortened(host, {}), Cuts{}) << "the device is busy";
  EXPECT_EQ(shortened(host, order), (Cuts{{of.second_launch, 4}}));
  // The first kernel ends at 23; the launch holds the second one up to 12.
  EXPECT_EQ(shortened(order, {}), (Cuts{{of.second, 11}}));
  EXPECT_EQ(shortened(kernel, kernel), (Cuts{}))
      << "5 ns are left of it, and then the host holds it up";
}

}  // namespace
}  // namespace mpa
