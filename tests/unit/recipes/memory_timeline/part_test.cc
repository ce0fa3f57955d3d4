// SPDX-License-Identifier: Apache-2.0
#include "recipes/memory_timeline/part.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "support/rank_builder.h"

namespace mpa::recipes::memory_timeline {
namespace {

// Steps 0 (100 to 200) and 1 (200 to 300) of a thread.
class MemoryOfRank : public testing::Test {
 protected:
  MemoryOfRank() {
    for (const int step : {0, 1}) {
      rank_.trace.steps.Append({.id = step, .start = 100 + 100 * step, .end = 200 + 100 * step});
    }
  }

  void Total(std::string_view component, TimeNs time, std::int64_t allocated) {
    rank_.trace.memory_samples.Append({.time = time,
                                       .component = rank_.Text(component),
                                       .reserved_bytes = 1000,
                                       .allocated_bytes = allocated});
  }

  RankMemory Run() const { return MemoryOf(rank_.trace, std::nullopt); }

  // "parameter 5, unknown 3" at a time.
  std::string At(TimeNs time) const {
    std::array<std::int64_t, kCategories> held{};
    for (const Event& event : Run().events) {
      if (event.time <= time) held[static_cast<std::size_t>(event.category)] += event.bytes;
    }
    std::string text;
    for (std::size_t i = 0; i < kCategories; ++i) {
      if (held[i] == 0) continue;
      text += (text.empty() ? "" : ", ") + std::string(NameOf(static_cast<Category>(i))) + " " +
              std::to_string(held[i]);
    }
    return text;
  }

  test::RankBuilder rank_;
  std::int32_t main_ = rank_.Thread(1), queue_ = rank_.Thread(2);
};

TEST_F(MemoryOfRank, TheLargestHoldersHaveBandsOverTime) {
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Allocation("aten::mm", 6'000, 112, 180);
  rank_.Op("aten::add", 130, 140, main_);
  rank_.Allocation("aten::add", 4'000, 132);
  rank_.Op("aten::mul", 150, 160, main_);
  rank_.Allocation("aten::mul", 1, 152, 190);  // less than a thousandth of the peak
  const RankMemory part = Run();
  ASSERT_EQ(part.peak->Allocated(), 10'001);
  ASSERT_EQ(part.bands.size(), 3u);
  EXPECT_EQ(part.bands[0].holder.op, "aten::mm");
  EXPECT_EQ(part.bands[1].holder.op, "aten::add");
  for (std::size_t i = 0; i < part.points.size(); ++i) {
    const TimeNs time = part.points[i].time;
    EXPECT_EQ(part.bands[0].bytes[i], time >= 112 && time < 180 ? 6'000 : 0) << time;
    EXPECT_EQ(part.bands[1].bytes[i], time >= 132 ? 4'000 : 0) << time;
    EXPECT_EQ(part.bands[2].bytes[i], 0) << time;
  }
}

TEST_F(MemoryOfRank, ATotalThatLacksABlockTooEarlyIsNoRelease) {
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Allocation("aten::mm", 50, 112, 115);
  Total("PTA", 101, 300);
  Total("PTA", 112, 350);
  Total("PTA", 114, 300);  // the release is stamped 115
  Total("PTA", 118, 300);
  EXPECT_EQ(At(114), "temporary 50, before the capture 300");
  EXPECT_EQ(At(118), "before the capture 300");
}

TEST_F(MemoryOfRank, MemoryFromBeforeIsReleasedAndUnlistedMemoryIsUnknown) {
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Allocation("aten::mm", 50, 112, 115);
  Total("PTA", 101, 300);
  Total("PTA", 116, 200);
  Total("WORKSPACE", 150, 40);
  Total("PTA+GE", 151, 9999);
  Total("APP", 152, 9999);
  Total("GE", 153, 9999);
  EXPECT_EQ(At(101), "before the capture 300");
  EXPECT_EQ(At(116), "before the capture 240") << "40 of it are unlisted later";
  EXPECT_EQ(At(153), "before the capture 240");
  Total("WORKSPACE", 160, 400);
  EXPECT_EQ(At(160), "unknown 300, before the capture 300");
}

TEST_F(MemoryOfRank, WithoutTotalsReleasesTellWhatWasThereBefore) {
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Allocation("aten::mm", 50, 112, 115);
  rank_.Allocation("", 70, -1, 130);
  EXPECT_EQ(At(129), "before the capture 70");
  EXPECT_EQ(At(130), "");
}

TEST_F(MemoryOfRank, CopiesToTheDeviceBeforeTheStepsAreParameters) {
  rank_.Op("aten::to", 50, 60, main_);
  rank_.Allocation("aten::to", 30, 52);
  rank_.Allocation("aten::to", 7, 53, 90);  // data of the first step
  rank_.Launch(1, 55, main_);
  rank_.trace.launches.device_time.Stored().back() = 56;
  rank_.trace.launches.stream.Stored().back() = 3;
  rank_.trace.device_tasks.Append({.start = 56,
                                   .dur = 2,
                                   .name = rank_.Text("MEMCPY_ASYNC"),
                                   .type = rank_.Text("SDMA_SQE"),
                                   .stream = 3,
                                   .link = 1});
  rank_.Op("aten::ones", 70, 80, main_);
  rank_.Allocation("aten::ones", 5, 72);
  EXPECT_EQ(At(80), "parameter 30, input 7, unknown 5");
}

TEST_F(MemoryOfRank, QueuedWorkAllocatesForWhoQueuedIt) {
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Op("aten::add", 130, 190, main_);
  rank_.Queued(115, main_, 140, 150, queue_);
  rank_.Allocation("aten::mm", 20, 142, 148);        // its workspace
  rank_.Allocation("cann::MatMulV2", 10, 143, 149);  // CANN's
  const RankMemory part = Run();
  ASSERT_EQ(part.holders.size(), 2u);
  for (const Held& held : part.holders) {
    EXPECT_EQ(held.holder.within, "aten::mm");
    EXPECT_EQ(held.holder.category, Category::kTemporary);
  }
}

TEST_F(MemoryOfRank, WithoutAQueueTheLastOperatorOfTheNameAsked) {
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Op("aten::add", 130, 190, main_);
  rank_.Op("aten::mm", 160, 170, main_);
  rank_.Allocation("aten::mm", 20, 142);
  const RankMemory part = Run();
  ASSERT_EQ(part.holders.size(), 1u);
  EXPECT_EQ(part.holders[0].holder.within, "aten::mm");
}

TEST_F(MemoryOfRank, GradientsOutliveTheBackwardPass) {
  const std::int32_t backward = rank_.Thread(3);
  rank_.trace.backward_tid = 3;
  rank_.Op("aten::linear", 105, 110, main_);
  rank_.Allocation("aten::linear", 1, 106, 150);  // an activation
  rank_.Allocation("aten::linear", 2, 107);       // nobody knows
  rank_.Op("autograd::engine::evaluate_function: AddmmBackward0", 140, 148, backward);
  rank_.Op("autograd::engine::evaluate_function: ViewBackward0", 149, 160, backward);
  rank_.Allocation("aten::mm", 4, 141, 155);  // the next node needs it
  rank_.Allocation("aten::mm", 8, 142, 161);
  EXPECT_EQ(At(149), "activation 1, gradient 8, autograd detail 4, unknown 2");
}

TEST_F(MemoryOfRank, StatesAreMadeByTheFirstStepOfTheOptimizer) {
  for (const TimeNs begin : {150, 250}) {
    rank_.Op("Optimizer.step#Adam.step", begin, begin + 30, main_);
    rank_.Op("aten::zeros_like", begin + 5, begin + 10, main_);
    rank_.Allocation("aten::zeros_like", 16, begin + 6);
    rank_.Allocation("aten::zeros_like", 3, begin + 7, begin + 30);
  }
  EXPECT_EQ(At(160), "optimizer state 16, temporary 3");
  EXPECT_EQ(At(300), "optimizer state 16, unknown 16");
}

TEST_F(MemoryOfRank, ThePointsKeepThePeak) {
  rank_.Op("aten::mm", 101, 299, main_);
  for (TimeNs time = 101; time < 290; ++time) rank_.Allocation("aten::mm", 1, time, time + 1);
  for (TimeNs time = 1000; time < 3000; time += 3)
    rank_.Allocation("aten::mm", time == 2002 ? 99 : 2, time, time + 2);
  const RankMemory part = Run();
  EXPECT_LE(part.points.size(), 200u);
  ASSERT_TRUE(part.peak);
  EXPECT_EQ(part.peak->time, 2002);
  EXPECT_EQ(std::ranges::count(part.points, std::int64_t{99}, &Level::Allocated), 1);
}

TEST_F(MemoryOfRank, NothingFollowsFromNothing) {
  EXPECT_FALSE(Run().peak);
  EXPECT_EQ(Run().allocations, 0);
}

// Of 100 bytes from before the capture the framework listed 30 and 20; the state is released at
// 150.
TEST_F(MemoryOfRank, WhatTheFrameworkListedFromBeforeHasItsKind) {
  const auto listed = [&](TensorRole role, std::int64_t bytes, TimeNs released) {
    rank_.Allocation("weight", bytes, -1, released);
    rank_.trace.allocations.role.back() = role;
  };
  listed(TensorRole::kParameter, 30, -1);
  listed(TensorRole::kOptimizerState, 20, 150);
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Allocation("aten::mm", 5, 112, 115);
  Total("PTA", 101, 100);
  Total("PTA", 160, 80);
  EXPECT_EQ(At(101), "parameter 30, optimizer state 20, before the capture 50");
  EXPECT_EQ(At(160), "parameter 30, before the capture 50");
  const RankMemory part = Run();
  EXPECT_TRUE(part.is_listed);
  EXPECT_EQ(part.before, 100);
  EXPECT_EQ(part.before_explained, 50);
  std::string before;
  for (const Held& held : part.holders) {
    if (held.count == 0)
      before += fmt::format("{} {} {}, ", held.holder.op, NameOf(held.holder.category), held.bytes);
  }
  EXPECT_EQ(before,
            "(before the capture) before the capture 50, (before the capture) parameter 30,"
            " (before the capture) optimizer state 20, ");
}

TEST_F(MemoryOfRank, ListedMemoryIsNeverMoreThanTheTotals) {
  rank_.Allocation("weight", 300, -1);
  rank_.trace.allocations.role.back() = TensorRole::kParameter;
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Allocation("aten::mm", 5, 112, 115);
  Total("PTA", 101, 100);
  EXPECT_EQ(At(101), "parameter 100");
}

TEST_F(MemoryOfRank, WhatIsListedInTheCaptureKeepsItsKind) {
  rank_.Op("aten::mm", 110, 120, main_);
  rank_.Allocation("aten::mm", 5, 112);
  rank_.trace.allocations.role.back() = TensorRole::kOptimizerState;
  EXPECT_EQ(At(112), "optimizer state 5");
}

// A backward pass leaves gradients of 8 bytes. 100 of the 400 bytes from before are released.
class MemoryFromBefore : public MemoryOfRank {
 protected:
  MemoryFromBefore() {
    const std::int32_t backward = rank_.Thread(3);
    rank_.trace.backward_tid = 3;
    rank_.Op("autograd::engine::evaluate_function: AddmmBackward0", 140, 148, backward);
    rank_.Allocation("aten::mm", 8, 142);
  }
  std::string WithTotals(std::int64_t first, std::int64_t later) {
    Total("PTA", 101, first);
    Total("PTA", 150, later + 8);
    return At(101);
  }
};

TEST_F(MemoryFromBefore, ParametersAreAsLargeAsTheirGradients) {
  EXPECT_EQ(WithTotals(400, 300), "before the capture 392, parameter (estimate) 8");
  EXPECT_EQ(Run().before, 400);
  EXPECT_EQ(Run().before_explained, 8);
  EXPECT_FALSE(Run().is_listed);
}

TEST_F(MemoryFromBefore, AdamHasTwoStates) {
  rank_.Op("Optimizer.step#AdamW.step", 160, 180, main_);
  EXPECT_EQ(WithTotals(400, 300),
            "before the capture 376, parameter (estimate) 8, state (estimate) 16");
}

TEST_F(MemoryFromBefore, OnlyWhatIsNeverReleasedIsEstimated) {
  rank_.Op("Optimizer.step#AdamW.step", 160, 180, main_);
  EXPECT_EQ(WithTotals(400, 12),
            "before the capture 388, parameter (estimate) 8, state (estimate) 4");
}

TEST_F(MemoryFromBefore, DataParallelTrainingHasBuckets) {
  rank_.Op("torch.distributed.ddp.reducer::copy_bucket_to_grad", 149, 150, main_);
  rank_.Op("Optimizer.step#SGD.step", 160, 180, main_);
  EXPECT_EQ(WithTotals(24, 24),
            "parameter (estimate) 8, state (estimate) 8, gradient (estimate) 8");
}

// What is left of 22 bytes behind parameters and buckets is less than a state.
TEST_F(MemoryFromBefore, SgdMayHaveNoState) {
  rank_.Op("torch.distributed.ddp.reducer::copy_bucket_to_grad", 149, 150, main_);
  rank_.Op("Optimizer.step#SGD.step", 160, 180, main_);
  EXPECT_EQ(WithTotals(22, 22),
            "before the capture 6, parameter (estimate) 8, gradient (estimate) 8");
}

// Those that the first step of the optimizer made in the capture are not looked for before it.
TEST_F(MemoryFromBefore, StatesOfTheCaptureAreNoStatesFromBefore) {
  rank_.Op("Optimizer.step#Adam.step", 160, 180, main_);
  rank_.Op("aten::zeros_like", 165, 170, main_);
  rank_.Allocation("aten::zeros_like", 16, 166);
  Total("PTA", 101, 400);
  EXPECT_EQ(At(101), "before the capture 392, parameter (estimate) 8");
}

}  // namespace
}  // namespace mpa::recipes::memory_timeline
