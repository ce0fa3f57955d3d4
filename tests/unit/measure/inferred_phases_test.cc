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

TEST(InferredPhases, TrainingHasNone) {
  EXPECT_TRUE(TraceOf({kPrefill, kPrefill}).serving_marks.Empty());
  Types learns = kDecode;
  learns.emplace_back("FlashAttentionScoreGrad", "16,8");
  EXPECT_TRUE(TraceOf({kDecode, learns}).serving_marks.Empty()) << "it answers while it learns";
}

}  // namespace
}  // namespace mpa
