// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "recipes/pp_chart/labels.h"

namespace mpa::recipes::pp {
namespace {

// "0/0 1/0": names with their types.
std::string Schedule(std::int64_t stages, std::int64_t micro_batches, std::int64_t stage) {
  std::string text;
  for (const ScheduledBox& box : DualPipeVSchedule(stages, micro_batches, stage)) {
    text += fmt::format("{}{}/{}", text.empty() ? "" : " ", box.name, box.type);
  }
  return text;
}

// What the Python tool gives for two stages and four micro-batches.
TEST(DualPipeV, OrdersMicroBatches) {
  EXPECT_EQ(Schedule(2, 4, 0),
            "0/0 1/0 2/1 4/1 logits/2 4b/2 4w/2 5/2 logits/3 3F+5B/3 6F+0B/3 logits/4 6B/4"
            " 7F+1B/4 logits/5 7B/5 2B/6 3B/6");
  EXPECT_EQ(Schedule(2, 4, 1),
            "0/1 4/1 1/1 5/1 2F/3 4B/3 6F+0B/3 3F+5B/3 7F+1B/3 6B/5 2B/5 7B/6 3B/6");
}

TEST(DualPipeV, WantsTwiceAsManyMicroBatchesAsStages) {
  EXPECT_EQ(Schedule(2, 3, 0), "");
  EXPECT_EQ(Schedule(2, 4, 2), "");
  EXPECT_EQ(Schedule(0, 4, 0), "");
  EXPECT_EQ(Schedule(1, std::int64_t{1} << 40, 0), "");
}

}  // namespace
}  // namespace mpa::recipes::pp
