// SPDX-License-Identifier: Apache-2.0
// What costs servers time. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"

namespace mpa {
namespace {

ServingBatch Decoding(std::int64_t requests, std::int64_t graph = -1) {
  return {.phase = requests > 0 ? ServingPhase::kDecode : ServingPhase::kDummy,
          .requests = requests,
          .prompt_tokens = 0,
          .output_tokens = requests,
          .graph_size = graph};
}

ServingBatch Reading(std::int64_t tokens) {
  return {
      .phase = ServingPhase::kPrefill, .requests = 1, .prompt_tokens = tokens, .output_tokens = 0};
}

// Steps of one graph of five kernels of 1 ms. The gaps between them are given.
Diagnosis WithGaps(const std::vector<TimeNs>& gaps, std::int32_t graph_of_last = 1) {
  return DiagnoseJob({ThreeSteps([&](PartBuilder& step) {
    step.Serves(Decoding(8), 1);
    for (std::size_t i = 0; i < gaps.size(); ++i)
      step.Kernel("MatMulV3", kMs).InGraph(1).Gap(gaps[i]);
    step.Kernel("MatMulV3", kMs).InGraph(graph_of_last);
  })});
}

TEST(GraphBubbles, AreMuchLongerThanOtherGaps) {
  const Diagnosis diagnosis = WithGaps({2 * kUs, 300 * kUs, 2 * kUs, 2 * kUs});
  const Finding* found = FindingWith(diagnosis, "graph.bubbles");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 300 * kUs);
  EXPECT_EQ(MetricIn(*found, "bubbles_per_step"), 1);
  EXPECT_EQ(MetricIn(*found, "longest_bubble"), 300 * kUs);
}

MPA_REFUTES(GraphBubbles, SlowGraphsHaveNone, "graph.bubbles");
TEST(GraphBubbles, SlowGraphsHaveNone) {
  const std::vector<TimeNs> even = {100 * kUs, 100 * kUs, 100 * kUs, 100 * kUs};
  EXPECT_EQ(FindingWith(WithGaps(even), "graph.bubbles"), nullptr);
}

TEST(GraphBubbles, BetweenTwoGraphsTheHostHoldsUp) {
  const std::vector<TimeNs> gaps = {2 * kUs, 2 * kUs, 2 * kUs, 300 * kUs};
  EXPECT_EQ(FindingWith(WithGaps(gaps, 2), "graph.bubbles"), nullptr);
}

// Graphs for 64 requests that 16 use: ten kernels of 102 us, of which 2 us are their start, and all
// of whose tensors have 64 rows.
Diagnosis Padded(std::int64_t requests, TimeCategory category) {
  return DiagnoseJob({ThreeSteps([&](PartBuilder& step) {
    step.Serves(Decoding(requests, 64), 1);
    for (int i = 0; i < 10; ++i) step.Kernel("Add", 102 * kUs, category).InGraph(1);
    KernelKind& kind = step.Kind("Add");
    kind.bytes = 24 * kMb;
    kind.written = 8 * kMb;
  })});
}

TEST(PaddedGraphs, ThreeQuartersOfTheBatchAreNotThere) {
  const Diagnosis diagnosis = Padded(16, TimeCategory::kVector);
  const Finding* found = FindingWith(diagnosis, "graph.padding");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 10 * 75 * kUs);
  EXPECT_EQ(MetricIn(*found, "padding"), 0.75);
}

MPA_REFUTES(PaddedGraphs, AFewRequestsDoNotMatter, "graph.padding");
TEST(PaddedGraphs, AFewRequestsDoNotMatter) {
  EXPECT_EQ(FindingWith(Padded(60, TimeCategory::kVector), "graph.padding"), nullptr);
}

TEST(PaddedGraphs, AttentionLooksAtRequestsThatAreThere) {
  EXPECT_EQ(FindingWith(Padded(16, TimeCategory::kAttention), "graph.padding"), nullptr);
}

// Two engines of two ranks that meet at the end of each step. `times`: of the kernels of both.
Diagnosis TwoEngines(const std::vector<ServingBatch>& batches, const std::vector<TimeNs>& times) {
  const TimeNs longest = std::max(times[0], times[1]);
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const std::size_t engine = rank / 2;
    PartBuilder builder;
    for (int step = 0; step < 4; ++step) {
      builder.Step().Serves(batches[engine]).Kernel("MatMulV3", times[engine]);
      builder.Collective("all_" + std::to_string(step), longest - times[engine] + kMs);
      auto& categories = builder.Part().steps.back().categories;
      categories[static_cast<std::size_t>(TimeCategory::kWaitPeer)] += longest - times[engine];
      categories[static_cast<std::size_t>(TimeCategory::kTransfer)] -= longest - times[engine];
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

// 10 and 2 ms of each step are their own, with the transfer of 1 ms; the mean is 6 ms. The busy
// engine does 6 of 10 ms: of 9 ms in kernels 5.4 ms are left.
TEST(EngineBalance, OneEngineHasAllRequests) {
  const Diagnosis diagnosis = TwoEngines({Decoding(100), Decoding(0)}, {9 * kMs, kMs});
  const Finding* found = FindingWith(diagnosis, "serve.balance");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 3.6 * kMs, 10);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{0, 1}));
  EXPECT_EQ(MetricIn(*found, "dummy_steps"), 0.5);
  EXPECT_EQ(FindingWith(diagnosis, "rank.late_compute/r0+1"), nullptr) << "they have more to do";
}

MPA_REFUTES(EngineBalance, EnginesOfEqualWorkAreSlowOrFast, "serve.balance", "serve.prefill");
TEST(EngineBalance, EnginesOfEqualWorkAreSlowOrFast) {
  const Diagnosis diagnosis = TwoEngines({Decoding(100), Decoding(96)}, {9 * kMs, 5 * kMs});
  EXPECT_EQ(FindingWith(diagnosis, "serve.balance"), nullptr);
  EXPECT_NE(FindingWith(diagnosis, "rank.late_compute/r0+1"), nullptr);
}

TEST(EngineBalance, PromptsHoldUpThoseThatDecode) {
  const Diagnosis diagnosis = TwoEngines({Reading(4096), Decoding(100)}, {9 * kMs, kMs});
  ASSERT_NE(FindingWith(diagnosis, "serve.prefill"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "serve.balance"), nullptr);
}

// Two ranks that compute for 6 ms and then transfer, with nothing beside it.
Diagnosis Exchanging(const ServingBatch& batch, TimeNs transfer) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 4; ++step) {
      builder.Step().Serves(batch).Kernel("MatMulV3", 6 * kMs);
      builder.Collective("all_" + std::to_string(step), transfer);
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

// A schedule hides 65 % of what can be hidden: all of 4 ms beside 6 ms, but 6 of 12 ms.
TEST(ExposedDecode, HidesNoMoreThanIsComputed) {
  const Diagnosis less = Exchanging(Decoding(8), 4 * kMs);
  const Finding* found = FindingWith(less, "serve.communication/g");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 0.65 * 4 * kMs, 10);
  EXPECT_NEAR(MetricIn(*found, "share_of_decode"), 0.4, 1e-6);
  const Diagnosis more = Exchanging(Decoding(8), 12 * kMs);
  found = FindingWith(more, "serve.communication/g");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 0.65 * 6 * kMs, 10);
}

MPA_REFUTES(ExposedDecode, ShortTransfersAndPromptsAreUsual, "serve.communication");
TEST(ExposedDecode, ShortTransfersAndPromptsAreUsual) {
  for (const Diagnosis& diagnosis :
       {Exchanging(Decoding(8), kMs), Exchanging(Reading(4096), 4 * kMs)})
    EXPECT_EQ(FindingWith(diagnosis, "serve.communication/g"), nullptr);
}

TEST(EngineHost, WhatLiesBetweenRunsOfTheModel) {
  const Diagnosis diagnosis = DiagnoseJob({ThreeSteps([](PartBuilder& step) {
    step.Serves(Decoding(8)).Host(TimeCategory::kPython, 2 * kMs).Kernel("MatMulV3", 4 * kMs);
    step.Part().between.resize(step.Part().shares.size());
    step.Part().between.back() = 1'500 * kUs;
    step.Part().places.push_back(
        {.share = static_cast<std::uint32_t>(step.Part().shares.size() - 1),
         .name = step.NameOf("engine/core.py(3): schedule"),
         .time = kMs});
  })});
  const Finding* found = FindingWith(diagnosis, "serve.host");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 1'500 * kUs);
  EXPECT_EQ(MetricIn(*found, "scheduling_per_step"), 750 * kUs) << "three quarters of the place";
}

MPA_REFUTES(EngineHost, TrainingHasNoServer, "serve.host");
TEST(EngineHost, TrainingHasNoServer) {
  const Diagnosis diagnosis = DiagnoseJob({ThreeSteps([](PartBuilder& step) {
    step.Host(TimeCategory::kPython, 2 * kMs).Kernel("MatMulV3", 4 * kMs);
  })});
  EXPECT_EQ(FindingWith(diagnosis, "serve.host"), nullptr);
}

// Steps that decode for 1 ms; the third one reads a prompt.
Diagnosis WithPrompt(TimeNs time) {
  PartBuilder builder;
  for (int step = 0; step < 6; ++step) {
    builder.Step().Serves(step == 2 ? Reading(2048) : Decoding(8));
    builder.Kernel("MatMulV3", step == 2 ? time : kMs);
  }
  return DiagnoseJob({builder.Build()});
}

TEST(StalledDecode, TokensWaitForAPrompt) {
  const Diagnosis diagnosis = WithPrompt(5 * kMs);
  const Finding* found = FindingWith(diagnosis, "serve.stall");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 0) << "the work stays the same";
  EXPECT_EQ(MetricIn(*found, "longest_stall"), 5 * kMs);
  EXPECT_EQ(MetricIn(*found, "stalled_share"), 0.5);
  EXPECT_EQ(found->steps, std::vector<std::int32_t>{12});
}

MPA_REFUTES(StalledDecode, AShortPromptDoesNotMatter, "serve.stall");
TEST(StalledDecode, AShortPromptDoesNotMatter) {
  EXPECT_EQ(FindingWith(WithPrompt(2 * kMs), "serve.stall"), nullptr);
}

}  // namespace
}  // namespace mpa
