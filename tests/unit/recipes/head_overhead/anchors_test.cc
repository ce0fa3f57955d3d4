// SPDX-License-Identifier: Apache-2.0
// Which events make a call, and what is told when some of them are missing.
#include <gtest/gtest.h>

#include "support/head_trace.h"

namespace mpa {
namespace {

using head::Call;
using head::CallKind;
using head::Engine;
using head::Flag;
using head::Measure;
using head::Phase;
using test::HeadTrace;
using test::Segments;
using test::Us;

constexpr const char* kAnchor = "npu_fx_compiler inference";
constexpr const char* kRun = "TorchNpuGraphBase::Run";
constexpr const char* kRegion = "Torch-Compiled Region: 0/0";

// Calls of a thread that had events long before: nothing is cut off.
class HeadAnchors : public ::testing::Test {
 protected:
  HeadAnchors() { t.Event(thread, "aten::randn", -5000, -4990); }

  void Graph(const char* execution = "ExecuteGraph") {
    t.Event(thread, kRun, 200, 850);
    t.Event(thread, "AssembleInputs", 220, 260);
    t.Event(thread, "AssembleOutputs", 280, 290);
    if (execution != nullptr) t.Event(thread, execution, 300, 700);
  }
  Call Only() {
    const std::vector<Call> calls = t.Calls();
    EXPECT_EQ(calls.size(), 1u);
    return calls.empty() ? Call() : calls[0];
  }

  HeadTrace t;
  const std::int32_t thread = t.Thread(10);
};

TEST_F(HeadAnchors, AllThereGiveAllParts) {
  t.Event(thread, kAnchor, 100, 900);
  Graph();
  const Call call = Only();
  EXPECT_EQ(call.kind, CallKind::kCompilerInference);
  EXPECT_EQ(Segments(call), "0 0 100 100 600");
  EXPECT_EQ(Us(call.Of(Measure::kGeExec)), 400);
  EXPECT_EQ(Us(call.Of(Measure::kEpilogueCpp)), 150);
  EXPECT_EQ(Us(call.Of(Measure::kEpiloguePy)), 50);
  EXPECT_EQ(FlagText(call), "NO_PYTORCH_EVENT");
}

TEST_F(HeadAnchors, OldNamesGiveTheSameNumbers) {
  for (const char* anchor : {"npu_fx_compiler inference", "npu_fx_compiler_inference"}) {
    for (const char* execution : {"ExecuteGraph", "RunGraph", "RunGraphWithStreamAsync"}) {
      HeadTrace other;
      const auto track = other.Thread(10);
      other.Event(track, anchor, 100, 900);
      other.Event(track, kRun, 200, 850);
      other.Event(track, execution, 300, 700);
      const std::vector<Call> calls = other.Calls();
      ASSERT_EQ(calls.size(), 1u) << anchor;
      EXPECT_EQ(Segments(calls[0]), "0 0 100 100 600") << execution;
    }
  }
}

TEST_F(HeadAnchors, SimilarNamesAreNoAnchors) {
  for (const char* name : {"npu_fx_compiler  inference", "my npu_fx_compiler inference",
                           "RunGraphAsync", "npu_fx_compiler inference2"}) {
    t.Event(thread, name, 100, 900);
  }
  EXPECT_TRUE(t.Calls().empty());
}

TEST_F(HeadAnchors, WithoutExecutionTheRuntimeTellsWhenGeBegins) {
  t.Event(thread, kAnchor, 100, 900);
  Graph(nullptr);
  t.Runtime(thread, "Model@InputCopy", 310, 320);
  t.Runtime(thread, "Model@ModelExecute", 330, 360);
  const Call call = Only();
  EXPECT_EQ(Segments(call), "0 0 100 110 590");
  EXPECT_EQ(Us(call.Of(Measure::kGeExec)), 50);
  EXPECT_EQ(Us(call.Of(Measure::kEpilogueCpp)), 490);
  EXPECT_TRUE(call.Has(Flag::kGeFromCann));
  EXPECT_EQ(call.engine, Engine::kGeStatic);
}

TEST_F(HeadAnchors, WithoutExecutionAndRuntimeTheOutputsTellWhenGeBegins) {
  t.Event(thread, kAnchor, 100, 900);
  Graph(nullptr);
  const Call call = Only();
  EXPECT_EQ(Segments(call), "0 0 100 90 610");
  EXPECT_EQ(call.Of(Measure::kGeExec), std::nullopt);
  EXPECT_EQ(call.Of(Measure::kEpilogueCpp), std::nullopt);
  EXPECT_EQ(Us(call.Of(Measure::kEpiloguePy)), 50);
  EXPECT_TRUE(call.Has(Flag::kGeFromAssemble));
}

TEST_F(HeadAnchors, WithoutAnySignOfGeTheRestIsCpp) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, kRun, 200, 850);
  EXPECT_EQ(Segments(Only()), "0 0 100 700 -");
}

TEST_F(HeadAnchors, WithoutRunTheInputsTellWhenCppBegins) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, "AssembleInputs", 220, 260);
  t.Event(thread, "ExecuteGraph", 300, 700);
  const Call call = Only();
  EXPECT_EQ(Segments(call), "0 0 120 80 600");
  EXPECT_EQ(Us(call.Of(Measure::kGeExec)), 400);
  EXPECT_EQ(call.Of(Measure::kEpiloguePy), std::nullopt);
}

TEST_F(HeadAnchors, WithoutRunAndInputsPythonHoldsTheCppTime) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, "ExecuteGraph", 300, 700);
  const Call call = Only();
  EXPECT_EQ(Segments(call), "0 0 200 - 600");
  EXPECT_TRUE(call.Has(Flag::kNoRun));
}

TEST_F(HeadAnchors, ReplaysOfACapturedGraph) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, "aten::_foreach_copy_", 120, 150);
  t.Event(thread, "process_input", 160, 170);
  t.Event(thread, "acl_graph_replay", 200, 850);
  t.Runtime(thread, "AscendCL@aclmdlRIExecuteAsync", 230, 300);
  const Call call = Only();
  EXPECT_EQ(call.engine, Engine::kAclGraph);
  EXPECT_EQ(call.phase, Phase::kSteady);
  EXPECT_EQ(Segments(call), "0 0 100 30 670");
  EXPECT_EQ(call.Of(Measure::kGeExec), std::nullopt);
  EXPECT_EQ(t.Children(0)[0], "platform (unattributed) (no event) 0 0");
  EXPECT_EQ(t.Children(0)[2], "torchair_py input_copy aten::_foreach_copy_ 1 30");
  EXPECT_EQ(t.Children(0)[3], "torchair_py input_copy process_input 1 10");
}

TEST_F(HeadAnchors, ReplaysWithoutRuntimeCallsHaveNoGeTime) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, "acl_graph_replay", 200, 850);
  const Call call = Only();
  EXPECT_EQ(call.engine, Engine::kAclGraph);
  EXPECT_EQ(Segments(call), "0 0 100 700 -");
}

TEST_F(HeadAnchors, CapturingAGraphIsCompiling) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, "acl_graph_warm_up", 110, 300);
  t.Event(thread, "acl_graph_capture", 310, 500);
  t.Event(thread, "acl_graph_replay", 600, 850);
  const Call call = Only();
  EXPECT_EQ(call.phase, Phase::kCompile);
  EXPECT_EQ(call.Of(Measure::kCompile), 380'000);
}

TEST_F(HeadAnchors, EagerRunsHaveNoGe) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, "fx_run_eagerly", 200, 850);
  const Call call = Only();
  EXPECT_EQ(call.engine, Engine::kEagerFx);
  EXPECT_EQ(Segments(call), "0 0 800 - -");
}

TEST_F(HeadAnchors, OperatorsThatQueueWorkAreAnEagerRun) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, "aten::add", 200, 300);
  t.Queued(250, thread, "Dequeue@aclnnAdd", 260, 270, t.Thread(11));
  EXPECT_EQ(Only().engine, Engine::kEagerFx);
}

TEST_F(HeadAnchors, OperatorsThatQueueNothingAreNoEagerRun) {
  t.Event(thread, kAnchor, 100, 900);
  t.Event(thread, "aten::add", 200, 300);
  t.Queued(950, thread, "Dequeue@aclnnAdd", 960, 970, t.Thread(11));
  EXPECT_EQ(Only().engine, Engine::kUnknown);
}

TEST_F(HeadAnchors, TheAnchorAloneTellsOnlyTheFrontEnd) {
  t.Event(thread, "TorchDynamo Cache Lookup", 10, 50);
  t.Event(thread, kRegion, 60, 950);
  t.Event(thread, kAnchor, 100, 900);
  const Call call = Only();
  EXPECT_EQ(call.engine, Engine::kUnknown);
  EXPECT_EQ(Segments(call), "0 90 800 - -");
}

TEST_F(HeadAnchors, ARunAloneIsACall) {
  Graph();
  const Call call = Only();
  EXPECT_EQ(call.kind, CallKind::kGraphRun);
  EXPECT_EQ(Segments(call), "0 0 - 100 550");
  EXPECT_EQ(call.Of(Measure::kEpiloguePy), std::nullopt);
  EXPECT_EQ(FlagText(call), "NO_PYTORCH_EVENT|NO_PYTHON_EVENT");
}

TEST_F(HeadAnchors, ARunInARegionBeginsWithIt) {
  t.Event(thread, "TorchDynamo Cache Lookup", 10, 50);
  t.Event(thread, kRegion, 100, 900);
  Graph();
  const Call call = Only();
  EXPECT_EQ(Segments(call), "0 90 100 100 550");
  EXPECT_EQ(FlagText(call), "TORCHAIR_FROM_REGION");
}

TEST_F(HeadAnchors, WhatCompiledCodeDoesFirstIsPyTorchs) {
  t.Event(thread, kRegion, 100, 900);
  t.Event(thread, "Pregraph bytecode", 110, 130);
  t.Event(thread, "AOTDispatcher Runtime Wrapper Prologue", 140, 160);
  Graph();
  EXPECT_EQ(Segments(Only()), "0 60 40 100 550");
}

TEST_F(HeadAnchors, ARunWithoutExecutionFallsBackToo) {
  Graph(nullptr);
  const Call call = Only();
  EXPECT_EQ(call.kind, CallKind::kGraphRun);
  EXPECT_EQ(Segments(call), "0 0 - 90 560");
  EXPECT_TRUE(call.Has(Flag::kGeFromAssemble));
}

TEST_F(HeadAnchors, AnExecutionAloneTellsGeOnly) {
  t.Event(thread, "ExecuteGraph", 300, 700);
  t.Event(thread, "aten::add", 5000, 5010);  // the capture goes on
  const Call call = Only();
  EXPECT_EQ(call.kind, CallKind::kGraphExecution);
  EXPECT_EQ(Segments(call), "0 0 - - 400");
  EXPECT_EQ(Us(call.Of(Measure::kGeExec)), 400);
  EXPECT_EQ(call.Of(Measure::kEpilogueCpp), std::nullopt);
  EXPECT_TRUE(call.Counts());
}

TEST_F(HeadAnchors, AnExecutionInARegionHasWhatTheRegionGives) {
  t.Event(thread, kRegion, 100, 900);
  t.Event(thread, "ExecuteGraph", 300, 700);
  const Call call = Only();
  EXPECT_EQ(Segments(call), "0 0 200 - 400");
  EXPECT_TRUE(call.Has(Flag::kPythonFromRegion));
}

TEST_F(HeadAnchors, AReplayAloneIsACall) {
  t.Event(thread, "acl_graph_replay", 200, 850);
  t.Runtime(thread, "AscendCL@aclmdlRIExecuteAsync", 230, 300);
  const Call call = Only();
  EXPECT_EQ(call.kind, CallKind::kAclGraphReplay);
  EXPECT_EQ(Segments(call), "0 0 - 30 620");
}

TEST_F(HeadAnchors, ReplaysSeenByTheRuntimeOnlyAreNotInStatistics) {
  t.Runtime(thread, "AscendCL@aclmdlRIExecuteAsync", 230, 300);
  t.Run(400, 500);
  const Call call = Only();
  EXPECT_EQ(call.kind, CallKind::kRuntimeOnly);
  EXPECT_EQ(Us(call.ge_begin), 230);
  EXPECT_EQ(Us(call.first_kernel), 400);
  EXPECT_EQ(Segments(call), "- - - - -");
  EXPECT_FALSE(call.Counts());
}

TEST_F(HeadAnchors, OtherEventsAreNoCall) {
  t.Event(thread, kRegion, 100, 900);
  t.Event(thread, "aten::mm", 200, 300);
  t.Runtime(thread, "Node@launch", 210, 220);
  EXPECT_TRUE(t.Calls().empty());
}

// cache_compile: its event is the anchor unless TorchAir's own is below it.
TEST_F(HeadAnchors, CachedGraphsWhileTheCacheIsMade) {
  t.Event(thread, "cache_compiler_inference", 100, 950);
  t.Event(thread, "TorchDynamo Cache Lookup", 110, 120);
  t.Event(thread, kRegion, 130, 900);
  Graph();
  const Call call = Only();
  EXPECT_EQ(call.kind, CallKind::kCachedInference);
  EXPECT_EQ(Segments(call), "0 30 70 100 650");
  EXPECT_EQ(Us(call.Of(Measure::kLookup)), 10);
}

TEST_F(HeadAnchors, TheCachesEventIsAnEntryToTheFirstCallBelowIt) {
  t.Event(thread, "cache_compiler inference", 50, 2000);
  for (const TimeNs at : {0, 1000}) {
    t.Event(thread, kAnchor, at + 100, at + 900);
    t.Event(thread, kRun, at + 200, at + 850);
    t.Event(thread, "ExecuteGraph", at + 300, at + 700);
  }
  const std::vector<Call> calls = t.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(Segments(calls[0]), "0 50 100 100 600");
  EXPECT_EQ(Segments(calls[1]), "200 0 100 100 600");
}

TEST_F(HeadAnchors, CutOffAtTheBeginOfTheCapture) {
  HeadTrace cut;
  const auto track = cut.Thread(10);
  cut.Event(track, kRun, 1000, 1600);
  cut.Event(track, "ExecuteGraph", 1200, 1500);
  cut.Event(track, "aten::add", 9000, 9010);
  const std::vector<Call> calls = cut.Calls();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_TRUE(calls[0].Has(Flag::kPartialHead));
  EXPECT_FALSE(calls[0].Counts());
}

TEST_F(HeadAnchors, CutOffAtTheEndOfTheCapture) {
  t.Event(thread, "ExecuteGraph", 300, 700);  // its run was not closed
  EXPECT_TRUE(Only().Has(Flag::kPartialTail));
  EXPECT_FALSE(Only().Counts());
}

TEST_F(HeadAnchors, RunsAreCutOffWhereTheSessionIsKnownToEnd) {
  Graph();
  EXPECT_FALSE(Only().Has(Flag::kPartialTail));
  t.trace.session_end = 1'500'000;
  EXPECT_TRUE(Only().Has(Flag::kPartialTail));
  t.trace.session_end = 5'000'000;
  EXPECT_FALSE(Only().Has(Flag::kPartialTail));
}

TEST_F(HeadAnchors, LoadsFromBeforeTheCaptureDoNotMoveItsBegin) {
  t.Runtime(thread, "Model@ModelLoad", -900'000, -800'000);
  Graph();
  EXPECT_FALSE(Only().Has(Flag::kPartialHead));
}

}  // namespace
}  // namespace mpa
