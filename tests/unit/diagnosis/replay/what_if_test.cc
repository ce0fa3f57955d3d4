// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/replay/what_if.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace mpa {
namespace {

// Two ranks that meet at the end of their step: the slower one decides.
struct SlowAndFast {
  ReplayGraph graph;
  ReplaySteps steps;
  ReplayGraph::Node slow = 0, fast = 0;

  SlowAndFast(TimeNs slow_time, TimeNs fast_time) {
    const auto begin = graph.Add(0, 0);
    slow = graph.Add(0, slow_time);
    fast = graph.Add(0, fast_time);
    const auto end = graph.Add(std::max(slow_time, fast_time), 0);
    graph.Wait(slow, begin, WaitsFor::kStart, 0);
    graph.Wait(fast, begin, WaitsFor::kStart, 0);
    graph.Wait(end, slow, WaitsFor::kEnd, 0);
    graph.Wait(end, fast, WaitsFor::kEnd, 0);
    graph.Finish(0);
    steps.last = {{end}};
  }
};

WhatIf Shorten(ReplayGraph::Node node, TimeNs less, bool opportunity = false) {
  WhatIf candidate;
  candidate.expect.durations.push_back({node, less});
  candidate.opportunity = opportunity;
  return candidate;
}

std::vector<const WhatIf*> PointersTo(const std::vector<WhatIf>& what_ifs) {
  std::vector<const WhatIf*> pointers;
  for (const WhatIf& what_if : what_ifs) pointers.push_back(&what_if);
  return pointers;
}

Waterfall WaterfallOf(const SlowAndFast& of, const std::vector<WhatIf>& candidates, TimeNs least,
                      TimeNs least_of_two) {
  StepReplays replays(of.graph, of.steps);
  return WaterfallSearch(replays, PointersTo(candidates), least, least_of_two).Run();
}

TEST(Waterfall, WinsNothingTwice) {
  const SlowAndFast of(100, 80);
  // The slow rank can lose 50, but the other one holds the step at 80; then it can lose 20.
  const Waterfall waterfall = WaterfallOf(of, {Shorten(of.fast, 20), Shorten(of.slow, 50)}, 1, 1);
  EXPECT_EQ(waterfall.step, 100);
  ASSERT_EQ(waterfall.gains.size(), 2U);
  EXPECT_EQ(waterfall.gains[0].candidate, 1U);
  EXPECT_EQ(waterfall.gains[0].gain, 20);
  EXPECT_EQ(waterfall.alone[1], 20);
  EXPECT_EQ(waterfall.gains[1].candidate, 0U);
  EXPECT_EQ(waterfall.gains[1].gain, 20);
  EXPECT_EQ(waterfall.alone[0], 0);
  EXPECT_EQ(waterfall.step_after_fixes, 60);
}

TEST(Waterfall, TheGainsAndTheFloorAddUpToTheStep) {
  const SlowAndFast of(1000, 900);
  const std::vector<WhatIf> candidates = {Shorten(of.slow, 300), Shorten(of.fast, 100),
                                          Shorten(of.slow, 100), Shorten(of.fast, 350)};
  const Waterfall waterfall = WaterfallOf(of, candidates, 1, 1);
  TimeNs sum = waterfall.step_after_fixes;
  for (const Gain& gain : waterfall.gains) sum += gain.gain;
  EXPECT_EQ(sum, waterfall.step);
}

TEST(Waterfall, FindsTwoCausesThatHideEachOther) {
  const SlowAndFast of(100, 100);
  const Waterfall waterfall = WaterfallOf(of, {Shorten(of.slow, 30), Shorten(of.fast, 30)}, 1, 1);
  ASSERT_EQ(waterfall.gains.size(), 2U);
  EXPECT_TRUE(waterfall.gains[0].pays_only_with_next);
  EXPECT_EQ(waterfall.gains[0].gain, 0);
  EXPECT_EQ(waterfall.gains[1].gain, 30);
  EXPECT_EQ(waterfall.step_after_fixes, 70);
}

TEST(Waterfall, TwoCausesThatSaveLittleTogetherAreNone) {
  const SlowAndFast of(100, 100);
  const std::vector<WhatIf> candidates = {Shorten(of.slow, 30), Shorten(of.fast, 30)};
  EXPECT_EQ(WaterfallOf(of, candidates, 1, 30).gains.size(), 2U);
  EXPECT_TRUE(WaterfallOf(of, candidates, 1, 31).gains.empty());
}

TEST(Waterfall, MendsFaultsBeforeOpportunities) {
  const SlowAndFast of(100, 20);
  const Waterfall waterfall =
      WaterfallOf(of, {Shorten(of.slow, 40, /*opportunity=*/true), Shorten(of.slow, 10)}, 1, 1);
  ASSERT_EQ(waterfall.gains.size(), 2U);
  EXPECT_EQ(waterfall.gains[0].candidate, 1U);
  EXPECT_EQ(waterfall.gains[1].candidate, 0U);
}

TEST(Waterfall, RunsAgainWhenAFaultHasBecomeAnOpportunity) {
  const SlowAndFast of(100, 20);
  std::vector<WhatIf> candidates = {Shorten(of.slow, 40), Shorten(of.slow, 10),
                                    Shorten(of.fast, 5)};
  StepReplays replays(of.graph, of.steps);
  WaterfallSearch search(replays, PointersTo(candidates), 1, 1);
  ASSERT_EQ(search.Run().gains.front().candidate, 0U);
  candidates[0].opportunity = true;
  const Waterfall again = search.Run();
  EXPECT_EQ(again.step, 100);
  EXPECT_EQ(again.alone, (std::vector<TimeNs>{40, 10, 0}));
  ASSERT_EQ(again.gains.size(), 2U);
  EXPECT_EQ(again.gains[0].candidate, 1U);
  EXPECT_EQ(again.gains[0].gain, 10);
  EXPECT_EQ(again.gains[1].candidate, 0U);
  EXPECT_EQ(again.gains[1].gain, 40);
  EXPECT_EQ(again.step_after_fixes, 50);
}

TEST(Waterfall, LeavesOutWhatWinsNothing) {
  const SlowAndFast of(100, 50);
  const Waterfall waterfall = WaterfallOf(of, {Shorten(of.fast, 20)}, 1, 1);
  EXPECT_TRUE(waterfall.gains.empty());
}

TEST(Waterfall, TellsWhatCompleteRemovalWouldWin) {
  const SlowAndFast of(100, 10);
  WhatIf candidate = Shorten(of.slow, 20);
  candidate.bound.durations.push_back({of.slow, 60});
  const Waterfall waterfall = WaterfallOf(of, {candidate}, 1, 1);
  ASSERT_EQ(waterfall.gains.size(), 1U);
  EXPECT_EQ(waterfall.gains[0].gain, 20);
  EXPECT_EQ(waterfall.gains[0].most, 60);
}

TEST(StepTime, IsTheMeanOfTheCountedSteps) {
  ReplayGraph graph;
  const auto begin = graph.Add(0, 0);
  const auto warm_up = graph.Add(0, 500);
  const auto second = graph.Add(500, 100);
  const auto third = graph.Add(600, 120);
  graph.Wait(warm_up, begin, WaitsFor::kStart, 0);
  graph.Wait(second, warm_up, WaitsFor::kEnd, 0);
  graph.Wait(third, second, WaitsFor::kEnd, 0);
  graph.Finish(0);
  ReplaySteps steps;
  steps.last = {{warm_up}, {second}, {third}};
  EXPECT_EQ(StepTime(graph, steps, {}), 240);
  EXPECT_EQ(RecordedStepTime(graph, steps), 240);
  steps.first = 1;
  EXPECT_EQ(StepTime(graph, steps, {}), 110);
  EXPECT_EQ(RecordedStepTime(graph, steps), 110);
}

// Work of the host before the first kernel is not of the step: a replay without it moves the step.
TEST(StepReplays, AJobWithoutStepsBeginsWithItsFirstWork) {
  ReplayGraph graph;
  const ReplayGraph::Node host = graph.Add(0, 0), first = graph.Add(100, 50),
                          last = graph.Add(170, 50);
  const ReplayGraph::Edge launch = graph.Wait(first, host, WaitsFor::kStart, 100);
  const ReplayGraph::Edge gap = graph.Wait(last, first, WaitsFor::kEnd, 20);
  graph.Finish(0);
  ReplaySteps steps;
  steps.last = {{last}};
  steps.begin = 90;  // something else began before the first kernel
  steps.opening = {first};
  steps.opened = 100;
  EXPECT_EQ(RecordedStepTime(graph, steps), 130);
  const Removal before{.durations = {}, .waits = {{launch, 60}}, .cuts = {}};
  const Removal between{.durations = {}, .waits = {{gap, 15}}, .cuts = {}};
  const Removal* const of_before[] = {&before};
  const Removal* const of_between[] = {&between};
  EXPECT_EQ(StepTime(graph, steps, of_before), 130);
  EXPECT_EQ(StepTime(graph, steps, of_between), 115);
}

}  // namespace
}  // namespace mpa
