// SPDX-License-Identifier: Apache-2.0
#include "recipes/pp_chart/labels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mpa::recipes::pp {
namespace {

std::string NamesOf(const std::vector<LabelledBox>& boxes) {
  std::string text;
  for (const LabelledBox& box : boxes) {
    text += fmt::format("{}{}/{}", text.empty() ? "" : " ", box.name, box.type);
  }
  return text;
}

// One stage and two micro-batches are nine boxes. Step 1 has them, with one within another; step 2
// has one box.
PipelinePart NineBoxes() {
  PipelinePart part;
  for (TimeNs i = 0; i < 9; ++i) {
    part.boxes.push_back({.start = 10 * i, .end = 10 * i + 10, .step = 1, .forward = i < 2});
    if (i == 3) part.boxes.push_back({.start = 31, .end = 39, .step = 1, .forward = true});
  }
  part.boxes.push_back({.start = 200, .end = 210, .step = 2, .forward = true});
  part.distributed_args = R"({"pipeline_model_parallel_size": 1, "data_parallel_size": 2})";
  part.type = "DualPipeV";
  part.micro_batches = 2;
  return part;
}

TEST(Labels, FollowTheScheduleWhereTheBoxesFitIt) {
  const PipelinePart part = NineBoxes();
  const Ranks ranks = {{0, part}, {5, part}};
  Misfit misfit;
  const auto boxes = LabelBoxes(ranks, LayoutOf(ranks, {}), misfit);
  EXPECT_EQ(NamesOf(boxes[0]), "0/1 2/1 logits/3 1F/3 2B/3 3F+0B/3 logits/5 3B/5 1B/6 FP/0");
  EXPECT_EQ(misfit.steps, 1);
  EXPECT_EQ(misfit.step, 2);
  EXPECT_EQ(misfit.found, 1u);
  EXPECT_EQ(misfit.expected, 9u);
  // Rank 5 belongs to no stage of one rank each, two of them in parallel.
  EXPECT_EQ(misfit.unknown_stages, 1);
  EXPECT_TRUE(NamesOf(boxes[1]).starts_with("FP/0 FP/0 BP/1 BP/1 FP/0"));
}

TEST(Labels, OptionsCountMoreThanTheCapture) {
  const PipelinePart part = NineBoxes();
  const Ranks ranks = {{3, part}};
  RecipeArguments given;
  given.Set(kStages, "4");
  given.Set(kTensorSize, "1");
  given.Set(kDataSize, "1");
  given.Set(kType, "1f1b");
  given.Set(kMicroBatches, "7");
  const PipelineLayout layout = LayoutOf(ranks, given);
  EXPECT_EQ(layout.StageOf(3), 3);
  EXPECT_EQ(layout.StageOf(4), std::nullopt) << "the last of four stages is 3";
  EXPECT_EQ(layout.micro_batches, 7);
  Misfit misfit;
  EXPECT_TRUE(NamesOf(LabelBoxes(ranks, layout, misfit)[0]).starts_with("FP/0 FP/0 BP/1"));
  EXPECT_EQ(misfit.unknown_stages, 0);
}

TEST(Labels, SenselessSizesAreUnknown) {
  PipelinePart part;
  for (const char* args :
       {"[", "{\"tensor_model_parallel_size\": -1}",
        "{\"tensor_model_parallel_size\": 16000000, \"data_parallel_size\": 16000000}"}) {
    part.distributed_args = args;
    EXPECT_FALSE(LayoutOf({{0, part}}, {}).StageOf(0)) << args;
  }
}

}  // namespace
}  // namespace mpa::recipes::pp
