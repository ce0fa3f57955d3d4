// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "mpa/measure/serving_kernels.h"
#include "mpa/measure/serving_steps.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;
using Types = std::vector<std::pair<std::string, std::string>>;  // types of kernels with shapes

const Types kDecode = {
    {"MatMulV3", "16,4096;4096,64"}, {"PagedAttention", "16,8,128"}, {"Add", "7"}};
const Types kPrefill = {{"MatMulV3", "512,4096;4096,64"}, {"FlashAttentionScore", "1,512,8"}};

// Work of 100 ns a step from 1000 ns on; of a graph that is launched then if there are no steps.
RankTrace TraceOf(const std::vector<Types>& steps, bool with_steps = true) {
  RankBuilder rank(DeviceKind::kNpu);
  const std::int32_t track = rank.Thread(1);
  RankTrace& trace = rank.trace;
  TimeNs time = 1000;
  for (const Types& kernels : steps) {
    if (with_steps) {
      trace.steps.Append(
          {.id = static_cast<std::int32_t>(trace.steps.Size()), .start = time, .end = time + 100});
    } else {
      trace.host_calls.Append({.start = time,
                               .dur = 20,
                               .name = rank.Text("AscendCL@aclmdlRIExecuteAsync"),
                               .track = track});
    }
    TimeNs start = time + 30;
    for (const auto& [type, shapes] : kernels) {
      trace.kernels.Append({.start = start,
                            .dur = 5,
                            .name = rank.Text(type),
                            .op_type = rank.Text(type),
                            .shapes = rank.Text(shapes),
                            .stream = 2});
      trace.device_tasks.Append(
          {.start = start, .dur = 5, .stream = 2, .model = with_steps ? -1 : 1});
      start += 10;
    }
    time += 100;
  }
  UseServingSteps(trace);
  return std::move(rank.trace);
}

TEST(InferredPhases, OfStepsOfTheProfiler) {
  const RankTrace trace = TraceOf({kDecode, kPrefill, kDecode});
  const std::vector<ServingBatch> batches = BatchesOfSteps(trace);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].phase, ServingPhase::kDecode);
  EXPECT_EQ(batches[0].requests, 16);
  EXPECT_EQ(batches[1].phase, ServingPhase::kPrefill);
  EXPECT_EQ(batches[1].prompt_tokens, 512);
  EXPECT_EQ(batches[1].requests, -1) << "nothing tells";
  EXPECT_EQ(batches[2], batches[0]);
}

TEST(InferredPhases, BothInOneStep) {
  Types both = kDecode;
  both.insert(both.end(), kPrefill.begin(), kPrefill.end());
  EXPECT_EQ(BatchesOfSteps(TraceOf({both}))[0].phase, ServingPhase::kMixed);
}

TEST(InferredPhases, LaunchesOfGraphsAreSteps) {
  const RankTrace trace = TraceOf({kDecode, kDecode}, false);
  ASSERT_EQ(trace.steps.Size(), 2u);
  EXPECT_EQ(trace.steps.start[1], 1100);
  EXPECT_EQ(BatchesOfSteps(trace)[1].requests, 16);
}

TEST(InferredPhases, GraphsWithoutAttentionAreNoSteps) {
  const Types product = {{"MatMulV3", "16,4096;4096,64"}, {"ReshapeAndCache", "16,8"}};
  EXPECT_TRUE(TraceOf({product, product}, false).steps.Empty());
}

// Of vllm-ascend: the ranges of a step on the host, one behind the other from `time` on.
void AddStages(RankBuilder& rank, TimeNs time) {
  for (const char* name : {"prepare input", "forward", "post process", "sample_token"}) {
    rank.Op(name, time, time + 20, 0);
    time += 20;
  }
}

// Attention of CANN that does either, of 4 requests in each step.
const char* const kTypes = "DT_BF16;DT_BF16;DT_BF16;INT32";
const std::vector<std::pair<std::string, ServingPhase>> kFused = {
    {"4,8,128;900,128,1024;900,128,1024;4,64", ServingPhase::kDecode},
    {"612,8,128;900,128,1024;900,128,1024;4,64", ServingPhase::kPrefill},
    {"4,1,1024;4,2048,1024;4,2048,1024;", ServingPhase::kDecode},
    {"4,8,1,128;4,8,2048,128;4,8,2048,128;", ServingPhase::kDecode},
    {"4,8,612,128;4,8,612,128;4,8,612,128;", ServingPhase::kPrefill},
    {"612,8,128;612,8,128;612,8,128;2048,2048", ServingPhase::kUnknown},
    {"", ServingPhase::kUnknown}};

TEST(InferredPhases, ShapesOfFusedAttentionTell) {
  for (const auto& [shapes, phase] : kFused)
    EXPECT_EQ(PhaseOfFusedAttention(shapes, kTypes), phase) << shapes;
  EXPECT_EQ(PhaseOfFusedAttention("\"612,8,128;612,8,128;612,8,128;;2048,2048\"",
                                  "DT_BF16;DT_BF16;DT_BF16;;INT8"),
            ServingPhase::kPrefill);
}

TEST(InferredPhases, StagesOfVllmAscendAreStepsAndKernelsTellWhatTheyDo) {
  RankBuilder rank(DeviceKind::kNpu);
  rank.Thread(1);
  const char* const products[] = {"4,4096;4096,64", "612,4096;4096,64", "4,4096;4096,64"};
  for (std::size_t step = 0; step < 3; ++step) {
    const TimeNs begin = 1000 + 100 * static_cast<TimeNs>(step);
    AddStages(rank, begin);
    const std::pair<const char*, std::string> kernels[] = {
        {"FusedInferAttentionScore", kFused[step == 1 ? 1 : 0].first},
        {"MatMulV3", products[step]}};
    for (TimeNs start = begin + 30; const auto& [type, shapes] : kernels) {
      rank.trace.kernels.Append({.start = start,
                                 .dur = 5,
                                 .name = rank.Text(type),
                                 .op_type = rank.Text(type),
                                 .shapes = rank.Text(shapes),
                                 .input_types = rank.Text(kTypes),
                                 .stream = 2});
      start += 10;
    }
  }
  UseServingSteps(rank.trace);
  EXPECT_EQ(rank.trace.steps.start, (std::vector<TimeNs>{1000, 1100, 1200}));
  const std::vector<ServingBatch> batches = BatchesOfSteps(rank.trace);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].phase, ServingPhase::kDecode);
  EXPECT_EQ(batches[0].requests, 4);
  EXPECT_EQ(batches[1].phase, ServingPhase::kPrefill);
  EXPECT_EQ(batches[1].prompt_tokens, 612);
  EXPECT_EQ(batches[2], batches[0]);
}

TEST(InferredPhases, RangesOfTheServiceProfilerTellThePhase) {
  RankBuilder rank(DeviceKind::kNpu);
  rank.Thread(1);
  rank.Op("^batch_type^:^Prefill^,^name^:^modelExec^", 100, 190, 0);
  rank.Op("^batch_type^:^Decode^,^name^:^modelExec^", 200, 290, 0);
  rank.Op("^batch_type^:^Prefill,Decode^,^name^:^modelExec^", 300, 390, 0);
  rank.Op("modelExec", 400, 490, 0);
  rank.trace.kernels.Append({.start = 110, .dur = 5, .stream = 2});
  const std::vector<StageStep> steps = FindStageSteps(rank.trace);
  ASSERT_EQ(steps.size(), 4u);
  const ServingPhase phases[] = {ServingPhase::kPrefill, ServingPhase::kDecode,
                                 ServingPhase::kMixed, ServingPhase::kUnknown};
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].phase, phases[i]);
  EXPECT_EQ(steps[1].start, 200);
}

TEST(InferredPhases, WhoPreparesInputAloneServesNobody) {
  RankBuilder rank(DeviceKind::kNpu);
  rank.Thread(1);
  rank.Op("prepare input", 100, 190, 0);
  EXPECT_TRUE(FindStageSteps(rank.trace).empty());
  rank.Op("forward", 190, 290, 0);
  EXPECT_EQ(FindStageSteps(rank.trace).size(), 1u);
}

// Nothing tells the tokens: attention of either kind, without shapes.
TEST(InferredPhases, AGraphThatIsLaunchedAgainAndAgainDecodes) {
  const Types graph = {{"MatMulV3", ""}, {"FusedInferAttentionScore", ""}};
  const RankTrace trace = TraceOf({graph, graph, graph}, false);
  ASSERT_EQ(trace.steps.Size(), 3u);
  const std::vector<ServingAccount> steps = AccountServing(trace);
  for (const ServingAccount& step : steps) {
    EXPECT_EQ(step.batch.phase, ServingPhase::kDecode);
    EXPECT_EQ(step.batch.requests, -1);
    EXPECT_EQ(step.TimePerToken(), step.Length());
  }
  EXPECT_TRUE(TraceOf({graph, graph}, false).serving_marks.Empty()) << "twice is no habit";
  const Types other = {{"MatMulV3", ""}, {"FlashAttentionScore", ""}, {"ReshapeAndCache", ""}};
  EXPECT_TRUE(TraceOf({other, other, other}, false).serving_marks.Empty()) << "that reads prompts";
}

TEST(InferredPhases, TrainingHasNone) {
  EXPECT_TRUE(TraceOf({kPrefill, kPrefill}).serving_marks.Empty());
  Types learns = kDecode;
  learns.emplace_back("FlashAttentionScoreGrad", "16,8");
  EXPECT_TRUE(TraceOf({kDecode, learns}).serving_marks.Empty()) << "it answers while it learns";
}

}  // namespace
}  // namespace mpa
