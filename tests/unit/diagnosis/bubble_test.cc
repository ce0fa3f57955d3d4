// SPDX-License-Identifier: Apache-2.0
// What more micro-batches win, on a pipeline of two stages with one micro-batch a step. The gains
// are worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/diagnose.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr TimeNs kShort = 10 * kUs;  // of the shortest kernel

// The forward pass takes 2 ms, the backward pass 4, on either stage; the optimizer a moment.
struct TwoStages {
  TimeNs host = 0;          // of the forward pass of the first stage, instead of computing
  TimeNs accumulating = 0;  // of its backward pass, instead of computing
  TimeNs arriving = 0;      // of the 6 ms that it waits for the gradients
  TimeNs sending = 0;       // its results to the second stage, beside all else
  TimeCategory host_category = TimeCategory::kDispatchOp;

  RankDiagnosis First() const {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step();
      if (host > 0) builder.Host(host_category, host);
      builder.Kernel("MatMulV3", 2 * kMs - host)
          .Collective("a", sending, "send", "p")
          .Collective("b", 6 * kMs, "receive", "p");
      builder.Part().operations.back().moved = arriving;
      Wait(builder);
      builder.Kernel("MatMulGrad", 4 * kMs - accumulating);
      if (accumulating > 0) {
        builder.Kernel("Add", accumulating);
        builder.Part().graph.nodes.back().adds_gradients = true;
      }
      builder.Kernel("Adam", kShort, TimeCategory::kVector, /*in_optimizer=*/true);
    }
    builder.Part().collectives.groups = {{"p", "pp", {0, 1}}};
    return builder.Build();
  }

  // It is done 4 ms before the first one, and waits for its next forward pass.
  RankDiagnosis Second() const {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step().Collective("c", (step == 0 ? 2 * kMs : 6 * kMs) + sending, "receive", "p");
      Wait(builder);
      builder.Kernel("MatMulV3", 6 * kMs)
          .Collective("d", 0, "send", "p")
          .Kernel("Adam", kShort, TimeCategory::kVector, true);
    }
    builder.Part().collectives.groups = {{"p", "pp", {0, 1}}};
    return builder.Build();
  }

  static void Wait(PartBuilder& builder) {
    auto& categories = builder.Part().steps.back().categories;
    std::swap(categories[static_cast<std::size_t>(TimeCategory::kTransfer)],
              categories[static_cast<std::size_t>(TimeCategory::kBubble)]);
  }
};

Diagnosis DiagnoseParts(const std::vector<RankDiagnosis>& parts) {
  std::vector<DiagnosedRank> ranks;
  for (std::size_t i = 0; i < parts.size(); ++i)
    ranks.push_back({static_cast<std::int64_t>(i), &parts[i]});
  return Diagnose(std::move(ranks));
}

const Finding* BubbleOf(const Diagnosis& diagnosis) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.Is(kPpBubble)) return &finding;
  }
  return nullptr;
}

Diagnosis DiagnoseBoth(const TwoStages& job) { return DiagnoseParts({job.First(), job.Second()}); }

// Kernels of 2, 4 and 6 ms take 1.005, 2.005 and 3.005 ms: the 10 us of the shortest remain. So a
// step of half the work takes 6.025 ms, and the second micro-batch 3.01 ms on the first
// stage: 9.035 of 12.01.
TEST(Bubble, TwiceAsManyMicroBatches) {
  const Diagnosis diagnosis = DiagnoseBoth({});
  const Finding* found = BubbleOf(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(diagnosis.step, 12'010 * kUs);
  EXPECT_EQ(found->gain, 2'975 * kUs);
  EXPECT_EQ(found->alone, found->gain);
  EXPECT_EQ(diagnosis.step_after_fixes, 9'035 * kUs);
  EXPECT_EQ(found->confidence, Certainty::kHigh);
  // Ranks wait for 18 of 36.03 ms and for 14 of 32.03: less than the half that an even pipeline
  // would.
  EXPECT_EQ(found->gain_max, static_cast<TimeNs>(12'010'000 * 32 / 68.06));
}

// 2 ms of the backward pass add up gradients, in 2 ms for every micro-batch: a step of half the
// work takes 1.005 + 3.005 + 1.005 + 2 + 0.01 ms, and another micro-batch 4.01.
TEST(Bubble, GradientsAreAsLargeForSmallMicroBatches) {
  const Diagnosis diagnosis = DiagnoseBoth({.accumulating = 2 * kMs});
  const Finding* found = BubbleOf(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, (12'010 - 7'025 - 4'010) * kUs);
}

// Half of the forward pass is work of the host: a step of half the work takes
// 1 + 0.505 + 3.005 + 2.005 + 0.01 ms. Of another micro-batch it launches nothing else before it
// computes, so the second stage is the busier one, with 3.005 ms.
TEST(Bubble, TheHostWorksAsLongForSmallMicroBatches) {
  const Diagnosis diagnosis = DiagnoseBoth({.host = kMs});
  const Finding* found = BubbleOf(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, (12'010 - 6'525 - 3'005) * kUs);
}

// The same, and results take 200 us to the second stage, 100 us those of half the size: for as long
// it is busy with every micro-batch, too.
TEST(Bubble, WhatArrivesKeepsAStageBusy) {
  const Diagnosis diagnosis = DiagnoseBoth({.host = kMs, .sending = 200 * kUs});
  const Finding* found = BubbleOf(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(diagnosis.step, 12'210 * kUs);
  EXPECT_EQ(found->gain, (12'210 - 6'625 - 3'105) * kUs);
}

TEST(Bubble, StandsWhereOpportunitiesOfItsSizeDo) {
  const Diagnosis diagnosis =
      DiagnoseBoth({.host = 800 * kUs, .host_category = TimeCategory::kDataLoader});
  ASSERT_GE(diagnosis.findings.size(), 2u);
  EXPECT_TRUE(diagnosis.findings[0].Is(kPpBubble));
  EXPECT_TRUE(diagnosis.findings[1].Is(kHostDataloader)) << "0.8 ms";
  EXPECT_GT(diagnosis.findings[0].gain, diagnosis.findings[1].gain);
}

// 3.9 of the 4 ms: 1.005 + 3.005 + 0.055 + 3.9 + 0.01 ms and 4.96 more are more than before.
MPA_REFUTES(Bubble, SmallMicroBatchesMayCostMoreThanTheyWin, "pp.bubble");
TEST(Bubble, SmallMicroBatchesMayCostMoreThanTheyWin) {
  EXPECT_EQ(BubbleOf(DiagnoseBoth({.accumulating = 3'900 * kUs})), nullptr);
}

// The first stage is busy for 6.01 ms: 2, 4 and the 10 us in which gradients arrive. Of half the
// size it takes 1.005 + 2.005 + 0.005, or 0.501664 of that, and so does what it waits for: 5.99 ms
// become 3.005. The step takes 6.03 ms, and the second micro-batch 3.015.
TEST(Bubble, OfAStageThatWasNotCaptured) {
  const Diagnosis diagnosis = DiagnoseParts({TwoStages{.arriving = 10 * kUs}.First()});
  const Finding* found = BubbleOf(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 12'010e3 - 6'029.97e3 - 3'015e3, 100);
  EXPECT_EQ(found->confidence, Certainty::kLow);
  EXPECT_TRUE(std::any_of(diagnosis.not_judged.begin(), diagnosis.not_judged.end(),
                          [](const NotJudged& row) { return row.type == &kPpStageImbalance; }));
}

// Two stages, the second of which computes twice as much; of a pipeline of `stages`.
Diagnosis Uneven(std::int64_t stages) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step();
      for (int i = 0; i <= rank; ++i) builder.Kernel("MatMulV3", kMs);
    }
    std::vector<RankId> ranks;
    for (std::int64_t stage = 0; stage < stages; ++stage) ranks.push_back(stage);
    builder.Part().collectives.groups = {{"p", "pp", ranks}};
    parts.push_back(builder.Build());
  }
  return DiagnoseParts(parts);
}

bool SaysImbalance(const Diagnosis& diagnosis) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& finding) { return finding.Is(kPpStageImbalance); });
}

MPA_REFUTES(Bubble, AStageThatWasNotCapturedMayBeTheHeaviest, "pp.stage_imbalance");
TEST(Bubble, AStageThatWasNotCapturedMayBeTheHeaviest) {
  EXPECT_TRUE(SaysImbalance(Uneven(2)));
  EXPECT_FALSE(SaysImbalance(Uneven(3)));
}

}  // namespace
}  // namespace mpa
