// SPDX-License-Identifier: Apache-2.0
// Serving frameworks as a part of the head.
#include "recipes/head_overhead/serving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/head_trace.h"

namespace mpa {
namespace {

using head::Call;
using head::Measure;
using head::ServingFrameworkOf;
using test::HeadTrace;
using test::Segments;
using test::Us;

TEST(ServingNames, AreThoseOfTheFrameworksPackages) {
  for (const char* name :
       {"vllm::unified_attention", "vllm/v1/engine/core.py(342): step",
        "/usr/lib/python3.11/site-packages/vllm/v1/core/sched/scheduler.py(200): schedule",
        "/vllm-workspace/vllm-ascend/vllm_ascend/worker/model_runner_v1.py(9): execute_model",
        "/vllm-workspace/vllm/vllm/v1/engine/core.py(342): step", "gpu_model_runner: preprocess",
        "execute_context_0(0)_generation_3(3)"})
    EXPECT_EQ(ServingFrameworkOf(name), "vLLM") << name;
  for (const char* name : {"mindie_llm/text_generator/generator.py(473): generate_token",
                           "/usr/lib/python3/dist-packages/atb_llm/runner/model_runner.py(3): f",
                           "/src/MindIE-LLM/mindie_llm/connector/main.py(7): main"})
    EXPECT_EQ(ServingFrameworkOf(name), "MindIE") << name;
  EXPECT_EQ(ServingFrameworkOf("sglang/srt/managers/scheduler.py(80): run_batch"), "SGLang");
  EXPECT_EQ(ServingFrameworkOf("step[DECODE bs=32]"), "SGLang");
}

TEST(ServingNames, ScriptsAndLibrariesHaveOthers) {
  for (const char* name :
       {"", "aten::add", "vllm", "vllm/run", "torch/nn/modules/module.py(1): _call_impl",
        "/home/me/vllm/run.py(3): main", "/home/me/vllm.py(3): main", "my_vllm/x.py(1): f",
        "<built-in method vllm of type object>", "execute_model", "step[1]", "npu::vllm"})
    EXPECT_EQ(ServingFrameworkOf(name), "") << name;
}

// A call from 1000 on, entered at 1100; the call before it ends at 900.
class HeadServing : public ::testing::Test {
 protected:
  HeadServing() {
    for (const TimeNs at : {0, 1000}) AddCall(at);
  }
  void AddCall(TimeNs at) {
    t.Event(thread, "npu_fx_compiler inference", at + 100, at + 900);
    t.Event(thread, "TorchNpuGraphBase::Run", at + 200, at + 850);
    t.Event(thread, "ExecuteGraph", at + 300, at + 700);
  }
  Call Second() {
    const std::vector<Call> calls = t.Calls();
    EXPECT_EQ(calls.size(), 2u);
    return calls.at(1);
  }
  bool HasChild(const std::string& text) {
    const std::vector<std::string> children = t.Children(1);
    return std::ranges::find(children, text) != children.end();
  }

  HeadTrace t;
  const std::int32_t thread = t.Thread(10), other = t.Thread(11);
};

TEST_F(HeadServing, IsUnknownWithoutAnyEventOfOne) {
  t.Python(thread, "train.py(1): main", 900, 1000);
  EXPECT_EQ(Segments(Second()), "200 0 100 100 600");
  EXPECT_FALSE(Second().Of(Measure::kServing));
  EXPECT_EQ(Us(Second().Of(Measure::kFrontend)), 200);
}

// From 920 to 1000 the engine runs, and from 940 to 980 its scheduler within it; the runner, which
// runs longer than the call, begins at 1050: of 200 us 70 are the script's.
TEST_F(HeadServing, TakesItsTimeFromThatOfTheScript) {
  t.Python(thread, "vllm/v1/engine/core.py(342): step", 920, 1000);
  t.Python(thread, "vllm/v1/core/sched/scheduler.py(200): schedule", 940, 980);
  t.Event(thread, "execute_context_0(0)_generation_3(3)", 1050, 1990);
  t.Python(other, "vllm/v1/engine/core.py(342): step", 900, 1100);  // of another thread
  t.Event(thread, "aten::index", 905, 915);
  t.Event(thread, "aten::copy_", 950, 960);  // the scheduler's
  EXPECT_EQ(Segments(Second()), "70 130 0 100 100 600");
  EXPECT_EQ(Us(Second().Of(Measure::kFrontend)), 200);
  EXPECT_EQ(Us(Second().Of(Measure::kHead)), 1000);
  EXPECT_TRUE(HasChild("serving event vllm/v1/engine/core.py(342): step 1 40"));
  EXPECT_TRUE(HasChild("serving event vllm/v1/core/sched/scheduler.py(200): schedule 1 40"));
  EXPECT_TRUE(HasChild("serving event execute_context_0(0)_generation_3(3) 1 50"));
  EXPECT_TRUE(HasChild("platform op aten::index 1 10"));
  EXPECT_TRUE(HasChild("platform (unattributed) (no event) 0 60"));
  EXPECT_FALSE(HasChild("platform op aten::copy_ 1 10"));
}

TEST_F(HeadServing, AFunctionThatRunsAllTheTimeLeavesNothingToTheScript) {
  t.Python(thread, "vllm/v1/engine/core.py(700): run_busy_loop", -5000, 9000);
  t.Event(thread, "aten::item", 950, 980);
  t.Run(1300, 1400);
  const Call call = Second();
  EXPECT_EQ(Segments(call), "0 200 0 100 100 600");
  EXPECT_EQ(Us(call.Of(Measure::kPlatformWait)), 0);
  EXPECT_EQ(Us(call.Of(Measure::kServingWait)), 30);
  EXPECT_EQ(Us(call.IdleOf(Measure::kServing)), 200);
  EXPECT_EQ(Us(call.IdleOf(Measure::kPlatform)), 0);
  EXPECT_TRUE(HasChild("serving event vllm/v1/engine/core.py(700): run_busy_loop 1 200"));
}

TEST_F(HeadServing, KnowsTheRangesOfMsServiceProfiler) {
  t.Range(thread, "batchFrameworkProcessing", 950, 1000);
  t.Range(thread, "forward", 1000, 1050);  // the program's own
  EXPECT_EQ(Segments(Second()), "150 50 0 100 100 600");
}

TEST_F(HeadServing, HasAdviceWithAnOwnerOfItsOwn) {
  for (const TimeNs at : {2500, 4000}) AddCall(at);  // 700 us after the call before
  t.Python(thread, "mindie_llm/text_generator/generator.py(473): generate_token", -400, 6000);
  const auto advice = t.Advice();
  const auto found = std::ranges::find(advice, "serving_time", &head::AdviceRow::rule);
  ASSERT_NE(found, advice.end());
  EXPECT_EQ(found->owner, "serving framework");
  EXPECT_EQ(found->metric, "serving_net_share_of_head_percent");
  EXPECT_NE(found->text.find("mindie_llm/text_generator/generator.py(473): generate_token"),
            std::string::npos);
  EXPECT_EQ(std::ranges::count(advice, "platform_time", &head::AdviceRow::rule), 0);
}

}  // namespace
}  // namespace mpa
