// SPDX-License-Identifier: Apache-2.0
// The order in which findings are told.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"

namespace mpa {
namespace {

std::vector<std::string> KeysOf(const Diagnosis& diagnosis) {
  std::vector<std::string> keys;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.gain > 0) keys.push_back(finding.key);
  }
  return keys;
}

// A fault of 2 ms (allocations) and an opportunity of 5 ms (half of a product in FP32).
TEST(Order, AnOpportunityThatSavesMoreStandsAboveAFault) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Host(TimeCategory::kMemory, 2 * kMs).Kernel("MatMulV3", 10 * kMs);
    step.Kind("MatMulV3").multiplies_fp32 = true;
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  EXPECT_EQ(KeysOf(diagnosis), (std::vector<std::string>{"op.fp32", "host.memory"}));
  EXPECT_EQ(diagnosis.findings[0].kind, FindingKind::kOpportunity);
  EXPECT_EQ(diagnosis.findings[1].kind, FindingKind::kFault);
  EXPECT_EQ(diagnosis.step_after_fixes, diagnosis.step - 7 * kMs) << "gains still add up";
}

// As above.
TEST(Order, NumbersAskForTheFindingThatIsShown) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Host(TimeCategory::kMemory, 2 * kMs).Kernel("MatMulV3", 10 * kMs);
    step.Kind("MatMulV3").multiplies_fp32 = true;
  });
  const std::vector<DiagnosedRank> ranks = {{0, &part}};
  for (const auto& [number, key] :
       std::vector<std::pair<std::string, std::string>>{{"1", "op.fp32"}, {"2", "host.memory"}}) {
    const Diagnosis diagnosis = Diagnose(ranks, {}, number);
    for (const Finding& finding : diagnosis.findings)
      EXPECT_EQ(finding.chain.has_value(), finding.key == key) << number << " " << finding.key;
  }
}

// In each step the host allocates beside a product in FP32, of which half goes; a kernel of 10 ms
// waits for both.
RankDiagnosis Beside(TimeNs allocates, TimeNs product) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step();
    const std::uint32_t begin = builder.Last();
    const TimeNs start = builder.Now();
    builder.Kernel("MatMulV3", product);
    RankDiagnosis& part = builder.Part();
    const auto host = static_cast<std::uint32_t>(part.graph.nodes.size());
    part.graph.nodes.push_back({.start = start + allocates, .kind = NodeKind::kHost, .step = step});
    part.shares.push_back({.edge = static_cast<std::uint32_t>(part.graph.edges.size()),
                           .category = TimeCategory::kMemory,
                           .time = allocates});
    part.graph.edges.push_back({host, begin, WaitsFor::kEnd, allocates});
    if (allocates > product) builder.Gap(allocates - product);
    builder.Kernel("Add", 10 * kMs, TimeCategory::kVector);
    part.graph.edges.push_back({builder.Last(), host, WaitsFor::kEnd, 0});
  }
  builder.Kind("MatMulV3").multiplies_fp32 = true;
  return builder.Build();
}

// Allocations of 8 ms end 1 ms behind a product of 7: without them the step is 1 ms shorter. Half
// of the product is 3.5 ms, which pay only then: the finding says so itself.
TEST(Order, WhatSavesMoreStandsAboveWhatItNeeds) {
  const Diagnosis diagnosis = DiagnoseJob({Beside(8 * kMs, 7 * kMs)});
  EXPECT_EQ(KeysOf(diagnosis), (std::vector<std::string>{"op.fp32", "host.memory"}));
  EXPECT_EQ(diagnosis.findings[0].gain, 3'500 * kUs);
  EXPECT_EQ(diagnosis.findings[0].alone, 0);
  EXPECT_EQ(diagnosis.findings[1].gain, kMs);
}

}  // namespace
}  // namespace mpa
