// SPDX-License-Identifier: Apache-2.0
// What is advised about the head of compiled graphs.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/head/svg.h"
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
  std::vector<std::string> Rules() const {
    std::vector<std::string> rules;
    for (const AdviceRow& row : t.Advice()) rules.emplace_back(row.rule);
    std::sort(rules.begin(), rules.end());
    return rules;
  }
  bool Has(const char* rule) const {
    const std::vector<std::string> rules = Rules();
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
  EXPECT_EQ(Rules(), std::vector<std::string>{"R0"});
}

TEST_F(HeadAdvice, CompilingAgainIsNamedByFrame) {
  AddCall(0);
  t.Event(thread, "_compile.compile_inner (dynamo_timed)", 1000, 1040);
  AddCall(1000, "Torch-Compiled Region: 0/1");
  const AdviceRow row = Only("R3");
  EXPECT_HAS_TEXT(row.text, "1 calls; frames: 0 (2 variants)");
}

TEST_F(HeadAdvice, TheFirstCompilationIsNoCompilingAgain) {
  t.Event(thread, "_compile.compile_inner (dynamo_timed)", 0, 40);
  AddCall(0);
  AddCall(1000);
  EXPECT_FALSE(Has("R3"));
}

TEST_F(HeadAdvice, GraphBreaksCostACallEach) {
  t.Step(1, 0, 3000);
  t.Event(thread, "Torch-Compiled Region: 0/0", 10, 2500);
  AddCall(0, "Torch-Compiled Region: 1/0");
  AddCall(1000, "Torch-Compiled Region: 2/0");
  EXPECT_HAS_TEXT(Only("R4").text, "graph breaks");
}

TEST_F(HeadAdvice, ManyTensorsFromPythonValues) {
  AddCall(0);
  for (TimeNs i = 0; i < 8; ++i) t.Event(thread, "aten::lift_fresh", 110 + 2 * i, 111 + 2 * i);
  EXPECT_EQ(Only("R5").value, 8);
  EXPECT_FALSE(Has("R14"));  // the script first
}

TEST_F(HeadAdvice, FewTensorsFromPythonValuesAreFine) {
  AddCall(0);
  for (TimeNs i = 0; i < 7; ++i) t.Event(thread, "aten::lift_fresh", 110 + 2 * i, 111 + 2 * i);
  EXPECT_FALSE(Has("R5"));
}

TEST_F(HeadAdvice, WaitingForQueuedOperatorsIsTheScripts) {
  AddCall(0);
  const auto consumer = t.Thread(11);
  t.Queued(10, thread, "Dequeue@aclnnAdd", 195, 225, consumer);  // half of the gap from 200 to 250
  EXPECT_HAS_TEXT(Only("R8").text, "Dequeue@aclnnAdd");
}

TEST_F(HeadAdvice, AShortOverlapWithQueuedOperatorsIsNoWait) {
  AddCall(0);
  t.Queued(10, thread, "Dequeue@aclnnAdd", 195, 224, t.Thread(11));
  EXPECT_FALSE(Has("R8"));
}

TEST_F(HeadAdvice, InputsOnTheHostAreCopied) {
  AddCall(0);
  t.Runtime(thread, "AscendCL@aclrtMemcpy", 252, 258);
  EXPECT_EQ(Only("R9").value, 6);
}

TEST_F(HeadAdvice, LoadingAGraphAgain) {
  AddCall(0);
  AddCall(1000);
  t.Event(thread, "LoadGraph", 1296, 1299);
  EXPECT_EQ(Only("R10").value, 1);
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
  EXPECT_TRUE(Has("R14"));
}

TEST_F(HeadAdvice, DynamicGraphsCostADispatchForEachOperator) {
  AddCall(0);
  for (TimeNs i = 0; i < 4; ++i) {
    const std::string name = "Add_" + std::to_string(i);
    t.Runtime(thread, "Node@launch", 310 + 20 * i, 320 + 20 * i, {.item = name});
  }
  EXPECT_HAS_TEXT(Only("R11").text, "4 operators a call at 100.00 us each");
  EXPECT_FALSE(Has("R13"));
}

TEST_F(HeadAdvice, CopiesOfArgumentsOfStaticGraphs) {
  AddCall(0);
  t.Runtime(thread, "Model@InputCopy", 310, 600);
  EXPECT_TRUE(Has("R12"));
  EXPECT_FALSE(Has("R13"));
}

TEST_F(HeadAdvice, ExecutionOfUnknownCauseIsForTheSupport) {
  AddCall(0);
  EXPECT_HAS_TEXT(std::string(Only("R13").owner), "GE");
  EXPECT_FALSE(Has("R15"));
}

TEST_F(HeadAdvice, HandlingOfOutputsIsNotGe) {
  t.Event(thread, "npu_fx_compiler inference", 100, 900);
  t.Event(thread, "TorchNpuGraphBase::Run", 200, 850);
  t.Event(thread, "ExecuteGraph", 300, 400);
  EXPECT_TRUE(Has("R15"));
}

TEST_F(HeadAdvice, EagerRunsUnderTheAnchor) {
  t.Event(thread, "npu_fx_compiler inference", 100, 900);
  t.Event(thread, "fx_run_eagerly", 110, 890);
  EXPECT_TRUE(Has("R16"));
}

TEST_F(HeadAdvice, StretchedCallsAreListed) {
  for (std::int32_t i = 0; i < 5; ++i) {
    const TimeNs at = i * 10'000;
    t.Step(i, at, at + 10'000);
    t.Event(thread, "npu_fx_compiler inference", at, at + (i < 4 ? 100 : 9000));
  }
  EXPECT_HAS_TEXT(Only("R17").text, "call 4 9000.0 us, torchair_py, device unknown");
}

TEST_F(HeadAdvice, ThresholdsAreReadByName) {
  head::Thresholds thresholds;
  EXPECT_EQ(head::SetThresholds(" lookup_us = 1.5 , built_tensors=2", thresholds), "");
  EXPECT_EQ(thresholds.lookup_us, 1.5);
  EXPECT_EQ(thresholds.built_tensors, 2);
  EXPECT_HAS_TEXT(head::SetThresholds("lookup_us", thresholds), "no number");
  EXPECT_HAS_TEXT(head::SetThresholds("lookup_us=nan", thresholds), "no number");
  EXPECT_HAS_TEXT(head::SetThresholds("lookup_us=inf", thresholds), "no number");
}

TEST(HeadSpread, InterpolatesPercentiles) {
  const auto spread = head::SpreadOf({4420, 400, 780});
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->mean, 1867);
  EXPECT_EQ(spread->p50, 780);
  EXPECT_EQ(spread->p90, 3692);
  EXPECT_FALSE(head::SpreadOf({}));
}

TEST(HeadPicture, TextsCannotBecomeMarkup) {
  EXPECT_EQ(head::Escaped("<a href=\"x\">&\n"), "&lt;a href=&quot;x&quot;&gt;&amp;\\x0a");
}

}  // namespace
}  // namespace mpa
