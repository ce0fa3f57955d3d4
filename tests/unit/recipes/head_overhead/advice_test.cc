// SPDX-License-Identifier: Apache-2.0
// What is advised about the head of compiled graphs.
#include <gtest/gtest.h>

#include <algorithm>

#include "recipes/head_overhead/head_part.h"
#include "support/failures.h"
#include "support/head_trace.h"

namespace mpa {
namespace {

using head::AdviceRow;
using test::HeadTrace;

class HeadAdvice : public ::testing::Test {
 protected:
  // TorchAir from 100 to 900 behind `at`, its C++ from 200, GE from 300 to 700, in a region.
  void AddCall(TimeNs at, const char* region = "Torch-Compiled Region: 0/0") {
    t.Event(thread, region, at + 50, at + 950);
    t.Event(thread, "npu_fx_compiler inference", at + 100, at + 900);
    t.Event(thread, "TorchNpuGraphBase::Run", at + 200, at + 850);
    t.Event(thread, "AssembleInputs", at + 250, at + 260);
    t.Event(thread, "AssembleOutputs", at + 290, at + 295);
    t.Event(thread, "ExecuteGraph", at + 300, at + 700);
  }
  std::vector<std::string> Thresholds() const {
    std::vector<std::string> rules;
    for (const AdviceRow& row : t.Advice()) rules.emplace_back(row.rule);
    std::sort(rules.begin(), rules.end());
    return rules;
  }
  bool Has(const char* rule) const {
    const std::vector<std::string> rules = Thresholds();
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  }
  AdviceRow Only(const char* rule) const {
    for (AdviceRow& row : t.Advice()) {
      if (row.rule == rule) return row;
    }
    ADD_FAILURE() << "no advice by " << rule;
    return {};
  }

  HeadTrace t;
  const std::int32_t thread = t.Thread(10);
};

TEST_F(HeadAdvice, CapturesOfCompilationAloneComeTooEarly) {
  AddCall(0);
  t.Event(thread, "TorchNpuGraphBase::Compile", 110, 190);
  EXPECT_EQ(Thresholds(), std::vector<std::string>{"capture_later"});
}

TEST_F(HeadAdvice, CompilingAgainIsNamedByFrame) {
  AddCall(0);
  t.Event(thread, "_compile.compile_inner (dynamo_timed)", 1000, 1040);
  AddCall(1000, "Torch-Compiled Region: 0/1");
  const AdviceRow row = Only("recompilation");
  EXPECT_HAS_TEXT(row.text, "1 call (callId 1) and 40.0 us; frames: 0 (2 variants)");
}

TEST_F(HeadAdvice, TheFirstCompilationIsNoCompilingAgain) {
  t.Event(thread, "_compile.compile_inner (dynamo_timed)", 0, 40);
  AddCall(0);
  AddCall(1000);
  EXPECT_FALSE(Has("recompilation"));
}

TEST_F(HeadAdvice, GraphBreaksCostACallEach) {
  t.Step(1, 0, 3000);
  t.Event(thread, "Torch-Compiled Region: 0/0", 10, 2500);
  AddCall(0, "Torch-Compiled Region: 1/0");
  AddCall(1000, "Torch-Compiled Region: 2/0");
  EXPECT_HAS_TEXT(Only("graph_pieces").text, "graph breaks");
}

TEST_F(HeadAdvice, ManyTensorsFromPythonValues) {
  AddCall(0);
  for (TimeNs i = 0; i < 8; ++i) t.Event(thread, "aten::lift_fresh", 110 + 2 * i, 111 + 2 * i);
  EXPECT_EQ(Only("tensors_built").value, 8);
  EXPECT_FALSE(Has("torchair_time"));  // the script first
}

TEST_F(HeadAdvice, FewTensorsFromPythonValuesAreFine) {
  AddCall(0);
  for (TimeNs i = 0; i < 7; ++i) t.Event(thread, "aten::lift_fresh", 110 + 2 * i, 111 + 2 * i);
  EXPECT_FALSE(Has("tensors_built"));
}

TEST_F(HeadAdvice, WaitingForQueuedOperatorsIsTheScripts) {
  AddCall(0);
  const auto consumer = t.Thread(11);
  t.Queued(10, thread, "Dequeue@aclnnAdd", 195, 225, consumer);  // half of the gap from 200 to 250
  EXPECT_HAS_TEXT(Only("queued_operators").text, "Dequeue@aclnnAdd");
}

TEST_F(HeadAdvice, AShortOverlapWithQueuedOperatorsIsNoWait) {
  AddCall(0);
  t.Queued(10, thread, "Dequeue@aclnnAdd", 195, 224, t.Thread(11));
  EXPECT_FALSE(Has("queued_operators"));
}

TEST_F(HeadAdvice, InputsOnTheHostAreCopied) {
  AddCall(0);
  t.Runtime(thread, "AscendCL@aclrtMemcpy", 252, 258);
  EXPECT_EQ(Only("host_tensors").value, 6);
}

TEST_F(HeadAdvice, LoadingAGraphAgain) {
  AddCall(0);
  AddCall(1000);
  t.Event(thread, "LoadGraph", 1296, 1299);
  EXPECT_EQ(Only("graph_reload").value, 1);
}

TEST_F(HeadAdvice, TimeOfTorchAirWithoutACauseInTheScriptIsForTheSupport) {
  AddCall(0);
  t.Event(thread, "LoadGraph", 296, 299);  // the first time
  for (const TimeNs at : {1000, 2000}) {
    t.Event(thread, "Torch-Compiled Region: 0/0", at + 50, at + 950);
    t.Event(thread, "npu_fx_compiler inference", at + 100, at + 900);
    t.Event(thread, "something", at + 101, at + 599);
    t.Event(thread, "TorchNpuGraphBase::Run", at + 600, at + 850);
    t.Event(thread, "ExecuteGraph", at + 650, at + 700);
  }
  EXPECT_TRUE(Has("torchair_time"));
}

TEST_F(HeadAdvice, DynamicGraphsCostADispatchForEachOperator) {
  AddCall(0);
  for (TimeNs i = 0; i < 4; ++i) {
    const std::string name = "Add_" + std::to_string(i);
    t.Runtime(thread, "Node@launch", 310 + 20 * i, 320 + 20 * i, {.item = name});
  }
  EXPECT_HAS_TEXT(Only("operator_dispatch").text, "4 operators a call at 100.00 us each");
  EXPECT_FALSE(Has("ge_execution"));
}

TEST_F(HeadAdvice, CopiesOfArgumentsOfStaticGraphs) {
  AddCall(0);
  t.Runtime(thread, "Model@InputCopy", 310, 600);
  EXPECT_TRUE(Has("argument_refresh"));
  EXPECT_FALSE(Has("ge_execution"));
}

TEST_F(HeadAdvice, ExecutionOfUnknownCauseIsForTheSupport) {
  AddCall(0);
  EXPECT_HAS_TEXT(std::string(Only("ge_execution").owner), "GE");
  EXPECT_FALSE(Has("output_handling"));
}

TEST_F(HeadAdvice, HandlingOfOutputsIsNotGe) {
  t.Event(thread, "npu_fx_compiler inference", 100, 900);
  t.Event(thread, "TorchNpuGraphBase::Run", 200, 850);
  t.Event(thread, "ExecuteGraph", 300, 400);
  EXPECT_TRUE(Has("output_handling"));
}

TEST_F(HeadAdvice, EagerRunsUnderTheAnchor) {
  t.Event(thread, "npu_fx_compiler inference", 100, 900);
  t.Event(thread, "fx_run_eagerly", 110, 890);
  EXPECT_TRUE(Has("eager_graph"));
}

TEST_F(HeadAdvice, StretchedCallsAreListed) {
  for (std::int32_t i = 0; i < 5; ++i) {
    const TimeNs at = i * 10'000;
    t.Step(i, at, at + 10'000);
    t.Event(thread, "npu_fx_compiler inference", at, at + (i < 4 ? 100 : 9000));
  }
  EXPECT_HAS_TEXT(Only("stretched_calls").text,
                  "call 4 9000.0 us, torchair python, device unknown");
}

// A recompilation is no part of the steady head: it counts also when that is hidden.
TEST_F(HeadAdvice, CompilingAgainIsNamedWithItsCostAndComesFirstWhereTheHeadIsHidden) {
  for (std::int32_t i = 0; i < 3; ++i) {
    const TimeNs at = i * 10'000;
    t.Step(i, at, at + 10'000);
    AddCall(at);
    t.Run(at, at + 5000);
    t.Run(at + 5000, at + 10'000);
  }
  t.Step(3, 30'000, 100'000);
  t.Event(thread, "_compile.compile_inner (dynamo_timed)", 30'010, 87'610);
  AddCall(88'000, "Torch-Compiled Region: 0/1");
  t.Run(88'500, 88'600);
  const std::vector<AdviceRow> advice = t.Advice();
  ASSERT_GE(advice.size(), 2u);
  EXPECT_EQ(advice[0].rule, "recompilation");
  EXPECT_EQ(advice[0].severity, Severity::kWarn);
  EXPECT_HAS_TEXT(advice[0].text,
                  "1 call (callId 3) and 57.6 ms, the device idle for at most 57.6 ms of it");
  EXPECT_EQ(advice[0].cost, 57'600'000);
  EXPECT_EQ(advice[0].gain, 57'600'000);
  EXPECT_EQ(advice[1].rule, "hidden");
}

TEST_F(HeadAdvice, LoadingAgainIsNamedWithItsCost) {
  AddCall(0);
  AddCall(1000);
  t.Event(thread, "LoadGraph", 1296, 1299);
  t.Run(1298, 1500);  // the device works for one of the three microseconds
  t.Run(1500, 1600);
  const AdviceRow row = Only("graph_reload");
  EXPECT_HAS_TEXT(row.text, "1 call (callId 1) and 3.0 us, the device idle for at most 2.0 us");
  EXPECT_EQ(row.calls, 1);
}

TEST_F(HeadAdvice, NumbersAreOfACallAndOnlyIdleTimeCanBeGained) {
  const auto consumer = t.Thread(11);
  for (const TimeNs at : {0, 1000, 2000}) {
    AddCall(at);
    for (const TimeNs work : {200, 215, 230}) {
      t.Queued(at + 10, thread, "Dequeue@aclnnAdd", at + work, at + work + 15, consumer);
    }
    t.Runtime(thread, "AscendCL@aclrtMemcpy", at + 252, at + 258);
    t.Run(at + 150, at + 230);  // 30 of 45 us of the queue's work
    t.Run(at + 500, at + 510);
  }
  const AdviceRow queue = Only("queued_operators");
  EXPECT_HAS_TEXT(queue.text, "3 queued eager operators delay a call, 45.0 us");
  EXPECT_EQ(queue.cost, 3 * 45'000);
  EXPECT_EQ(queue.gain, 3 * 15'000);
  EXPECT_HAS_TEXT(Only("host_tensors").text, "1 copies or waits for inputs and 0 for outputs in a");
}

TEST(HeadSheets, ListAdviceWithFourDecimals) {
  AdviceRow row;
  row.value = 2.0 / 3;
  row.threshold = 1.0 / 3;
  head::HeadPart part;
  part.advice.push_back(row);
  Report report;
  head::AddHeadSheets({{0, part}}, report);
  const std::vector<Cell>& cells = report.sheets.back().rows[0].cells;
  EXPECT_NE(std::find(cells.begin(), cells.end(), Cell(0.6667)), cells.end());
  EXPECT_NE(std::find(cells.begin(), cells.end(), Cell(0.3333)), cells.end());
}

TEST_F(HeadAdvice, AdviceIsInOrderOfWhatCanBeGained) {
  AddCall(0);
  t.Runtime(thread, "AscendCL@aclrtMemcpy", 252, 258);
  t.Run(800, 900);
  const std::vector<AdviceRow> advice = t.Advice();
  ASSERT_GE(advice.size(), 2u);
  EXPECT_EQ(advice[0].rule, "ge_execution");
  for (std::size_t i = 1; i < advice.size(); ++i) {
    EXPECT_LE(advice[i].gain, advice[i - 1].gain) << advice[i].rule;
  }
}

TEST_F(HeadAdvice, ACauseOfManyGraphsComesBeforeALargerOneOfOneGraph) {
  for (const TimeNs graph : {0, 1, 2}) {
    const TimeNs at = graph * 1000;
    const std::string region = "Torch-Compiled Region: " + std::to_string(graph) + "/0";
    AddCall(at, region.c_str());
    if (graph < 2) t.Event(thread, "aten::contiguous", at + 105, at + 195);
    t.Run(at + 196, at + 302);                       // idle in TorchAir's Python
    t.Run(at + (graph < 2 ? 303 : 432), at + 1100);  // and in GE, of the last graph for long
  }
  t.Run(0, 100);
  const std::vector<AdviceRow> advice = t.Advice();
  ASSERT_GE(advice.size(), 3u);
  EXPECT_EQ(advice[0].rule, "non_contiguous_inputs");
  EXPECT_EQ(advice[0].gain, 90'000);
  EXPECT_EQ(advice[1].rule, "non_contiguous_inputs");
  EXPECT_EQ(advice[2].rule, "ge_execution");
  EXPECT_EQ(advice[2].gain, 130'000);
}

TEST_F(HeadAdvice, APartThatNoRuleExplainsComesFirstWhereMostCanBeGained) {
  t.Event(thread, "Torch-Compiled Region: 0/0", 0, 2000);  // PyTorch, but no lookup
  t.Event(thread, "npu_fx_compiler inference", 900, 1900);
  t.Event(thread, "TorchNpuGraphBase::Run", 1000, 1850);
  t.Event(thread, "ExecuteGraph", 1300, 1700);
  t.Run(1800, 1900);
  const AdviceRow first = t.Advice().front();
  EXPECT_EQ(first.rule, "unexplained_part");
  EXPECT_EQ(first.owner, "PyTorch");
  EXPECT_EQ(first.gain, 900'000);
}

TEST_F(HeadAdvice, ReplaysAreNotGes) {
  t.Event(thread, "npu_fx_compiler inference", 100, 900);
  t.Event(thread, "acl_graph_replay", 150, 880);
  t.Runtime(thread, "AscendCL@aclmdlRIExecuteAsync", 200, 300);
  t.Run(800, 900);
  const AdviceRow first = t.Advice().front();
  EXPECT_EQ(first.rule, "unexplained_part");
  EXPECT_EQ(first.part, "aclgraph");
  EXPECT_EQ(first.owner, "TorchAir, CANN runtime");
  const std::vector<std::string> children = t.Children(0);
  EXPECT_EQ(children.back(), "aclgraph runtime AscendCL@aclmdlRIExecuteAsync 1 100");
}

TEST_F(HeadAdvice, EagerRunsAreNotForTorchAirsSupport) {
  t.Event(thread, "npu_fx_compiler inference", 100, 900);
  t.Event(thread, "fx_run_eagerly", 110, 890);
  EXPECT_EQ(Thresholds(), std::vector<std::string>{"eager_graph"});
}

TEST_F(HeadAdvice, ThresholdsAreReadByName) {
  const auto thresholds = head::ReadThresholds(" lookup_us = 1.5 ,, built_tensors=2,");
  EXPECT_EQ(thresholds[head::kLookupUs], 1.5);
  EXPECT_EQ(thresholds[head::kBuiltTensors], 2);
  EXPECT_EQ(thresholds[head::kBuiltUs], 50);
  for (const char* text : {"lookup_us", "lookup_us=nan", "lookup_us=inf", "lookup_us=-1"}) {
    const Error error = test::ErrorOf([&] { head::ReadThresholds(text); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_HAS_TEXT(std::string(error.what()), "invalid value");
  }
}

TEST(HeadSpread, InterpolatesPercentiles) {
  const auto spread = head::SpreadOf({4420, 400, 780});
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->mean, 1867);
  EXPECT_EQ(spread->p50, 780);
  EXPECT_EQ(spread->p90, 3692);
  EXPECT_FALSE(head::SpreadOf({}));
}

}  // namespace
}  // namespace mpa
