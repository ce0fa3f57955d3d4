// SPDX-License-Identifier: Apache-2.0
// Windows, first kernels and idle times of calls of compiled graphs.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/head_trace.h"

namespace mpa {
namespace {

using head::Call;
using head::Engine;
using head::Flag;
using head::HeadOptions;
using head::KernelSource;
using head::Measure;
using test::HeadTrace;
using test::Segments;
using test::Us;

// A whole call: TorchAir from 100 to 900 behind `at`, GE from 300 to 700.
void AddCall(HeadTrace& t, std::int32_t thread, TimeNs at) {
  t.Event(thread, "npu_fx_compiler inference", at + 100, at + 900);
  t.Event(thread, "TorchNpuGraphBase::Run", at + 200, at + 850);
  t.Event(thread, "ExecuteGraph", at + 300, at + 700);
}

TEST(HeadCalls, OfARegionInPiecesOnlyTheFirstHasPyTorchsTime) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Event(thread, "TorchDynamo Cache Lookup", 0, 40);
  t.Event(thread, "Torch-Compiled Region: 3/1", 50, 25'000);
  for (TimeNs i = 0; i < 25; ++i) AddCall(t, thread, i * 1000);
  const head::HeadAnalysis analysis = t.Analysis();
  ASSERT_EQ(analysis.calls.size(), 25u);
  EXPECT_EQ(Segments(analysis.calls[0]), "0 100 100 100 600");
  for (std::size_t i = 1; i < 25; ++i) {
    EXPECT_EQ(Segments(analysis.calls[i]), "200 0 100 100 600");
  }
  EXPECT_EQ(analysis.calls[0].graph, "region 3/1 #1");
  EXPECT_EQ(analysis.calls[24].graph, "region 3/1 #25");
}

TEST(HeadCalls, EachThreadHasItsOwnTimeBefore) {
  HeadTrace t;
  const auto forward = t.Thread(10);
  const auto backward = t.Thread(11);
  AddCall(t, forward, 0);
  t.Event(backward, "CompiledFunctionBackward", 1050, 2000);
  AddCall(t, backward, 1000);
  const std::vector<Call> calls = t.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[1].tid, 11);
  EXPECT_EQ(Us(calls[1].frontend_begin), 1100);  // not where the forward call ended
  EXPECT_EQ(Segments(calls[1]), "0 0 100 100 600");
}

TEST(HeadCalls, ProcessesWithEqualThreadsStayApart) {
  HeadTrace t;
  const auto first = t.Thread(10, 1);
  const auto second = t.Thread(10, 2);
  AddCall(t, first, 0);
  AddCall(t, second, 2000);
  t.Run(400, 500, {.pid = 1, .device = 0});
  t.Run(2400, 2500, {.pid = 2, .device = 1});
  const std::vector<Call> calls = t.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[1].device, 1);
  EXPECT_EQ(Us(calls[1].frontend_begin), 2100);
  EXPECT_EQ(Us(calls[1].IdleOf(Measure::kHead)), 300);
}

TEST(HeadCalls, ALookupBehindOtherWorkBelongsToSomethingElse) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Event(thread, "TorchDynamo Cache Lookup", 0, 20);
  t.Event(thread, "aten::add", 30, 40);
  t.Event(thread, "Torch-Compiled Region: 0/0", 60, 950);
  AddCall(t, thread, 0);
  EXPECT_EQ(Us(t.Calls()[0].entered), 60);
}

TEST(HeadCalls, WithoutRegionsTheLookupBesideTheAnchorIsTheEntry) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Event(thread, "TorchDynamo Cache Lookup", 0, 20);
  t.Event(thread, "CompiledFunction", 60, 950);
  AddCall(t, thread, 0);
  const Call call = t.Calls()[0];
  EXPECT_EQ(Segments(call), "0 100 100 100 600");
  EXPECT_FALSE(call.Has(Flag::kNoEntry));
}

TEST(HeadCalls, DirectCallsLeavePyTorchsTimeToThePlatform) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Step(1, 0, 3000);
  AddCall(t, thread, 0);
  const Call call = t.Calls()[0];
  EXPECT_EQ(Segments(call), "100 0 100 100 600");
  EXPECT_TRUE(call.Has(Flag::kNoEntry));
}

TEST(HeadCalls, NestedCallsDoNotCount) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Event(thread, "npu_fx_compiler inference", 0, 2000);
  AddCall(t, thread, 100);
  t.Event(thread, "TorchNpuGraphBase::Run", 1200, 1900);
  t.Event(thread, "ExecuteGraph", 1300, 1800);
  const std::vector<Call> calls = t.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(Segments(calls[0]), "0 0 1200 100 700");
  EXPECT_EQ(calls[1].parent, 0);
  EXPECT_EQ(Segments(calls[1]), "200 0 100 100 600");
  EXPECT_FALSE(calls[1].Counts());
}

TEST(HeadCalls, OfNestedCallsAStepHasTheOuterOnly) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Step(1, 0, 2000);
  t.Event(thread, "npu_fx_compiler inference", 100, 1950);
  AddCall(t, thread, 100);
  t.Event(thread, "TorchNpuGraphBase::Run", 1200, 1900);
  t.Event(thread, "ExecuteGraph", 1300, 1800);
  const head::HeadAnalysis analysis = t.Analysis();
  ASSERT_EQ(analysis.calls.size(), 2u);
  const auto rows = head::SumSteps(analysis.calls, analysis.steps);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[0].head, analysis.calls[0].Head());
  EXPECT_EQ(rows[0].head + rows[0].tail + rows[0].outside, rows[0].duration);
}

TEST(HeadCalls, StepsAddUpAlsoWhenACallReachesIntoTheNext) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Step(1, 0, 1800);
  t.Step(2, 1800, 3200);
  for (const TimeNs at : {0, 1000, 2000}) AddCall(t, thread, at);
  const head::HeadAnalysis analysis = t.Analysis();
  const auto rows = head::SumSteps(analysis.calls, analysis.steps);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].tail, -100'000);
  EXPECT_EQ(rows[1].outside, 100'000);
  for (const head::StepRow& row : rows) {
    TimeNs sum = row.tail + row.outside;
    for (const TimeNs segment : row.parts) sum += segment;
    EXPECT_EQ(sum, row.duration);
  }
}

TEST(HeadCalls, LaunchesTellTheFirstKernelOfADynamicGraph) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  AddCall(t, thread, 0);
  t.Runtime(thread, "Model@ModelExecute", 310, 690);
  t.Runtime(thread, "Node@launch", 320, 330, {.item = "Add_1", .connection = 7});
  t.Runtime(thread, "Node@launch", 340, 350, {.item = "Mul_2", .connection = 8});
  t.Run(305, 450);  // an eager operator, still running
  t.Run(450, 500, {.connection = 7});
  t.Run(500, 510, {.connection = 8});
  const Call call = t.Calls()[0];
  EXPECT_EQ(call.engine, Engine::kGeDynamic);
  EXPECT_EQ(call.kernel_source, KernelSource::kLaunch);
  EXPECT_EQ(Us(call.first_kernel), 450);
  EXPECT_EQ(call.launches, 2);
  EXPECT_TRUE(call.Has(Flag::kDeviceBound));
}

TEST(HeadCalls, BusyDevicesWaitForNothing) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  AddCall(t, thread, 0);
  t.Run(0, 5000);
  t.Run(5000, 5100);
  const Call call = t.Calls()[0];
  EXPECT_EQ(Us(call.first_kernel), 5000);
  EXPECT_EQ(Us(call.IdleOf(Measure::kHead)), 0);
  EXPECT_EQ(Us(call.IdleOf(Measure::kLag)), 0);
  EXPECT_TRUE(call.Has(Flag::kDeviceBound));
}

TEST(HeadCalls, KernelsBehindTheCallLeaveALag) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  AddCall(t, thread, 0);
  t.Run(1000, 1100);
  const Call call = t.Calls()[0];
  EXPECT_EQ(Us(call.IdleOf(Measure::kHead)), 900);
  EXPECT_EQ(Us(call.IdleOf(Measure::kLag)), 100);
}

TEST(HeadCalls, ByTimeAKernelBelongsToTheLastCallBeforeIt) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  AddCall(t, thread, 0);
  AddCall(t, thread, 1000);
  t.Run(1400, 1500);
  const std::vector<Call> calls = t.Calls();
  EXPECT_EQ(calls[0].first_kernel, std::nullopt);
  EXPECT_EQ(calls[0].IdleOf(Measure::kHead), std::nullopt);
  EXPECT_EQ(Us(calls[1].first_kernel), 1400);
}

TEST(HeadCalls, ModelsBurstsFollowTheOrderOfTheirExecutions) {
  for (const bool one_missing : {false, true}) {
    HeadTrace t;
    const auto thread = t.Thread(10);
    for (const TimeNs at : {0, 1000}) {
      AddCall(t, thread, at);
      t.Runtime(thread, "Model@ModelExecute", at + 310, at + 340);
      if (one_missing && at > 0) continue;
      t.Run(at + 2000, at + 2100, {.name = "first", .model = 4});
      t.Run(at + 2100, at + 2200, {.name = "last", .model = 4});
    }
    t.Run(1350, 1360, {.name = "eager"});
    const std::vector<Call> calls = t.Calls();
    // Where the numbers differ, the order says nothing and only time is left.
    EXPECT_EQ(Us(calls[0].first_kernel), one_missing ? -1 : 2000);
    EXPECT_EQ(Us(calls[1].first_kernel), one_missing ? 1350 : 3000);
    EXPECT_EQ(calls[1].kernel_source, one_missing ? KernelSource::kTime : KernelSource::kModelFifo);
  }
}

TEST(HeadCalls, DeviceWorkBeforeItsLaunchMeansThatClocksDisagree) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  AddCall(t, thread, 0);
  t.Runtime(thread, "Node@launch", 320, 330, {.item = "Add_1", .connection = 7});
  t.Run(310, 315, {.connection = 7});
  t.Run(500, 600);
  const Call call = t.Calls()[0];
  EXPECT_TRUE(call.Has(Flag::kClockSkew));
  EXPECT_EQ(call.first_kernel, std::nullopt);
  EXPECT_EQ(call.IdleOf(Measure::kHead), std::nullopt);
  EXPECT_EQ(call.IdleOf(Measure::kLag), std::nullopt);
}

TEST(HeadCalls, WithoutDeviceNothingIsExposed) {
  HeadTrace t;
  AddCall(t, t.Thread(10), 0);
  const Call call = t.Calls()[0];
  EXPECT_EQ(call.first_task, std::nullopt);
  EXPECT_EQ(call.IdleOf(Measure::kHead), std::nullopt);
  for (const auto& time : call.times) EXPECT_EQ(time.idle, std::nullopt);
}

TEST(HeadCalls, WorkersOfOtherThreadsTakePartInACall) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  const auto worker = t.Thread(12);
  AddCall(t, thread, 0);
  t.Runtime(thread, "Model@ModelExecute", 310, 690, {.model = 5});
  t.Runtime(worker, "Model@ModelExecute", 320, 600, {.model = 5});
  t.Runtime(worker, "Node@launch", 330, 340, {.item = "Add_1", .connection = 7});
  t.Runtime(worker, "Model@ModelExecute", 620, 680, {.model = 6});  // of another model
  t.Run(500, 600, {.connection = 7});
  const std::vector<Call> calls = t.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].launches, 1);
  EXPECT_EQ(Us(calls[0].first_kernel), 500);
  EXPECT_EQ(calls[0].kernel_source, KernelSource::kLaunch);
  EXPECT_EQ(calls[1].kind, head::CallKind::kRuntimeOnly);
}

TEST(HeadCalls, EventsThatBeginTogetherNestByLength) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Event(thread, "ExecuteGraph", 100, 200);  // in the order of the file, the inner first
  t.Event(thread, "TorchNpuGraphBase::Run", 100, 300);
  t.Event(thread, "npu_fx_compiler inference", 100, 400);
  t.Event(thread, "aten::add", 400, 400);  // of no length, behind the call
  const std::vector<Call> calls = t.Calls();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(Segments(calls[0]), "0 0 0 0 300");
}

TEST(HeadCalls, EventsThatOutliveACallAreCountedAndNotInIt) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Event(thread, "npu_fx_compiler inference", 100, 900);
  t.Event(thread, "TorchNpuGraphBase::Run", 200, 900);
  t.Event(thread, "aten::late", 899, 950);
  t.trace.host_ops.Append({.start = 300'000,
                           .dur = 600'500,  // half a microsecond too long: rounding
                           .name = t.Text("ExecuteGraph"),
                           .track = thread,
                           .shapes = {},
                           .types = {},
                           .stack = {}});
  const head::HeadAnalysis analysis = t.Analysis();
  EXPECT_EQ(analysis.forest.Crossings(), 1);
  EXPECT_EQ(Us(analysis.calls[0].Of(Measure::kGeExec)), 600);
}

TEST(HeadCalls, EventsThatLieTooDeepAreLeftOutAndCounted) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  for (int i = 0; i < 1200; ++i) t.Event(thread, "npu_fx_compiler inference", i, 9000 - i);
  t.Event(thread, "TorchNpuGraphBase::Run", 8300, 8301);  // within 700 of them
  const head::HostForest forest(t.trace);
  EXPECT_EQ(forest.TooDeep(), 200);
  ASSERT_EQ(forest.Nodes().size(), 1001u);
  EXPECT_EQ(forest.At(999).parent, 998);
  EXPECT_EQ(forest.At(1000).parent, 699);
  EXPECT_EQ(forest.At(999).subtree_end, 1000);
  EXPECT_EQ(forest.At(0).subtree_end, 1001);
}

TEST(HeadCalls, WaitingAndGarbageAreSeenInThePlatformsTime) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  t.Step(1, 0, 2000);
  t.Event(thread, "aten::item", 10, 40);
  t.Event(thread, "aten::_local_scalar_dense", 12, 38);
  t.Runtime(thread, "AscendCL@aclrtSynchronizeStream", 30, 60);
  t.trace.garbage_collections.Append({.start = 70'000, .dur = 20'000});
  AddCall(t, thread, 0);
  EXPECT_EQ(Us(t.Calls()[0].Of(Measure::kPlatformWait)), 50);
  const std::vector<std::string> children = t.Children(0);
  const auto has = [&](const char* text) {
    return std::find(children.begin(), children.end(), text) != children.end();
  };
  EXPECT_TRUE(has("platform op aten::item 1 30"));
  EXPECT_TRUE(has("platform of_which_waiting AscendCL@aclrtSynchronizeStream 1 30"));
  EXPECT_TRUE(has("platform of_which_gc GC 1 20"));
  EXPECT_TRUE(has("platform (unattributed) (no event) 0 70"));
}

TEST(HeadCalls, TensorsBuiltByOlderVersionsAreCountedOnce) {
  HeadTrace t;
  const auto thread = t.Thread(10);
  AddCall(t, thread, 0);
  TimeNs at = 110;
  for (const char* name :
       {"aten::empty", "aten::to", "aten::lift_fresh", "aten::detach_", "aten::empty",
        "aten::lift_fresh", "aten::detach_", "aten::to", "aten::clone", "contiguous_d_Reshape"}) {
    t.Event(thread, name, at, at + 3);
    at += 5;
  }
  head::HeadAnalysis analysis = t.Analysis();
  CountConversions(head::ChildFinder(analysis).Of(0), analysis.calls[0]);
  const Call& call = analysis.calls[0];
  EXPECT_EQ(call.tensors_built, 2);
  EXPECT_EQ(call.copies, 1);
  EXPECT_EQ(call.clones, 1);
  EXPECT_EQ(call.contiguous, 0);  // only aten::contiguous counts
}

}  // namespace
}  // namespace mpa
