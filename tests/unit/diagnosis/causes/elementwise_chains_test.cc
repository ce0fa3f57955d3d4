// SPDX-License-Identifier: Apache-2.0
// What ends a chain of vector kernels on equal tensors, and what one kernel instead saves. The
// gains are worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/causes/finding_search.h"

namespace mpa {
namespace {

constexpr std::string_view kChainKey = "op.unfused/elementwise";

// Three equal steps: a product of 1 ms, what `fill` adds, and a product. Vector kernels of types
// that it uses have tensors of known size.
template <typename Fill>
RankDiagnosis StepsWithChain(Fill fill) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    fill(builder);
    builder.Kernel("MatMulV3", kMs);
  }
  for (const char* type : {"Add", "Sub", "Exp", "Swish", "Mul"}) builder.Kind(type).bytes = 8192;
  return builder.Build();
}

void VectorKernel(PartBuilder& builder, std::string_view type, TimeNs dur) {
  builder.Kernel(type, dur, TimeCategory::kVector);
}

const Finding* FindChain(const Diagnosis& diagnosis) { return FindingWith(diagnosis, kChainKey); }

// Add and Exp take 100 us, Sub 40 us.
void AddSubExp(PartBuilder& builder) {
  VectorKernel(builder, "Add", 100 * kUs);
  VectorKernel(builder, "Sub", 40 * kUs);
  VectorKernel(builder, "Exp", 100 * kUs);
}

TEST(ElementwiseChains, WhatIsSavedAndHowOften) {
  const Diagnosis diagnosis = DiagnoseJob({StepsWithChain(AddSubExp)});
  const Finding* found = FindChain(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * 40 * kUs) << "no kernel starts in more than the 40 us of the shortest";
  EXPECT_EQ(found->gain_max, 140 * kUs) << "all but one of the longest";
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 1);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 240 * kUs);
}

TEST(ElementwiseChains, GapsBetweenThemGo) {
  const Diagnosis diagnosis = DiagnoseJob({StepsWithChain([](PartBuilder& builder) {
    VectorKernel(builder, "Add", 100 * kUs);
    for (const char* type : {"Sub", "Exp"}) {
      // Nothing says what the kernel waited for in 30 us.
      const std::uint32_t before = builder.Last();
      builder.Host(TimeCategory::kHostIdle, 30 * kUs);
      VectorKernel(builder, type, 100 * kUs);
      LetWaitFor(before, builder.Part().graph.edges.back());
    }
  })});
  const Finding* found = FindChain(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * 100 * kUs + 2 * 30 * kUs);
}

TEST(ElementwiseChains, TheHostIssuesOneOfThem) {
  const auto issued_by = [](TimeCategory category) {
    return DiagnoseJob({StepsWithChain([category](PartBuilder& builder) {
      for (const auto& [type, dur] :
           {std::pair("Add", 100 * kUs), std::pair("Sub", 40 * kUs), std::pair("Exp", 100 * kUs)}) {
        builder.Host(category, 200 * kUs);
        builder.Part().graph.nodes.back().kind = NodeKind::kLaunch;
        VectorKernel(builder, type, dur);
      }
    })});
  };
  const Diagnosis diagnosis = issued_by(TimeCategory::kDispatchOp);
  const Finding* found = FindChain(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 2 * 40 * kUs + 2 * 200 * kUs) << "the first call stays";
  EXPECT_EQ(found->gain_max, 140 * kUs + 2 * 200 * kUs);
  const Diagnosis loads = issued_by(TimeCategory::kDataLoader);
  ASSERT_NE(FindChain(loads), nullptr);
  EXPECT_EQ(FindChain(loads)->alone, 2 * 40 * kUs) << "who loads data does not issue";
}

TEST(ElementwiseChains, KernelsOfOtherUnitsEndThem) {
  for (const TimeCategory category :
       {TimeCategory::kMatmul, TimeCategory::kFormat, TimeCategory::kMove, TimeCategory::kAiCpu}) {
    const auto with = [category](PartBuilder& builder) {
      VectorKernel(builder, "Add", 100 * kUs);
      VectorKernel(builder, "Sub", 100 * kUs);
      builder.Kernel("Mul", 10 * kUs, category);
      VectorKernel(builder, "Exp", 100 * kUs);
      VectorKernel(builder, "Add", 100 * kUs);
    };
    EXPECT_EQ(FindChain(DiagnoseJob({StepsWithChain(with)})), nullptr) << NameOf(category);
  }
}

TEST(ElementwiseChains, WhatWaitsForACollectiveBeginsAnother) {
  const auto with = [](bool waits) {
    return DiagnoseJob({StepsWithChain([waits](PartBuilder& builder) {
      VectorKernel(builder, "Add", 100 * kUs);
      const std::uint32_t before = builder.Last();
      builder.Collective("hcom_allReduce__1_" + std::to_string(builder.Part().operations.size()),
                         300 * kUs, "allreduce", "tp");
      VectorKernel(builder, "Sub", 100 * kUs);
      if (!waits) LetWaitFor(before, builder.Part().graph.edges.back());
      VectorKernel(builder, "Exp", 100 * kUs);
    })});
  };
  EXPECT_EQ(FindChain(with(true)), nullptr) << "Add sends, Sub and Exp receive";
  EXPECT_NE(FindChain(with(false)), nullptr) << "beside the collective";
}

TEST(ElementwiseChains, AWaitOnTheStreamCounts) {
  const auto with = [](NodeKind released_by) {
    return DiagnoseJob({StepsWithChain([released_by](PartBuilder& builder) {
      VectorKernel(builder, "Add", 100 * kUs);
      builder.Collective("hcom_allReduce__1_" + std::to_string(builder.Part().operations.size()),
                         300 * kUs, "allreduce", "tp");
      const std::uint32_t leave = builder.Last();
      builder.Host(TimeCategory::kHostIdle, kUs);
      builder.Part().graph.nodes[builder.Last()].kind = NodeKind::kWait;
      if (released_by != NodeKind::kLeave) builder.Part().graph.nodes[leave].kind = released_by;
      VectorKernel(builder, "Sub", 100 * kUs);
      VectorKernel(builder, "Exp", 100 * kUs);
    })});
  };
  EXPECT_EQ(FindChain(with(NodeKind::kLeave)), nullptr);
  EXPECT_NE(FindChain(with(NodeKind::kWait)), nullptr) << "another event";
}

TEST(ElementwiseChains, EvidenceIsTheChain) {
  const RankDiagnosis part = StepsWithChain([](PartBuilder& builder) {
    AddSubExp(builder);
    builder.Kernel("MatMulV3", kMs).Kernel("Mul", 900 * kUs, TimeCategory::kVector);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindChain(diagnosis);
  ASSERT_NE(found, nullptr);
  // The longest of each chain stays: the fused kernel takes as long.
  ASSERT_EQ(found->evidence.size(), 2u);
  for (const Evidence& place : found->evidence)
    EXPECT_NE(place.name, "Mul") << "alone between products";
}

TEST(ElementwiseChains, PiecesOfARarePatternAreOnlyVectorKernels) {
  // Swish and Mul are SwiGLU in pieces, but take less of the step than the rule wants; the chain
  // takes more.
  const auto fill = [](PartBuilder& builder) {
    VectorKernel(builder, "Exp", 300 * kUs);
    VectorKernel(builder, "Swish", 15 * kUs);
    VectorKernel(builder, "Mul", 15 * kUs);
  };
  const Diagnosis diagnosis = DiagnoseJob({StepsWithChain(fill)});
  EXPECT_EQ(FindingWith(diagnosis, "op.unfused/swiglu"), nullptr);
  const Finding* found = FindChain(diagnosis);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 330 * kUs);
}

TEST(ElementwiseChains, AStepEndsThem) {
  // Two at the end of each step, and one that begins the next.
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step();
    VectorKernel(builder, "Exp", 100 * kUs);
    builder.Kernel("MatMulV3", kMs);
    VectorKernel(builder, "Add", 100 * kUs);
    VectorKernel(builder, "Sub", 100 * kUs);
  }
  for (const char* type : {"Add", "Sub", "Exp"}) builder.Kind(type).bytes = 8192;
  EXPECT_EQ(FindChain(DiagnoseJob({builder.Build()})), nullptr);
}

TEST(ElementwiseChains, UnknownSizesAreNotEqual) {
  RankDiagnosis part = StepsWithChain(AddSubExp);
  for (KernelKind& kind : part.kinds) kind.bytes = 0;
  EXPECT_EQ(FindChain(DiagnoseJob({part})), nullptr);
}

TEST(ElementwiseChains, PiecesOfAPatternBelongToIt) {
  const Diagnosis diagnosis = DiagnoseJob({StepsWithChain([](PartBuilder& builder) {
    VectorKernel(builder, "Exp", 100 * kUs);
    VectorKernel(builder, "Swish", 100 * kUs);
    VectorKernel(builder, "Mul", 100 * kUs);
    VectorKernel(builder, "Add", 100 * kUs);
  })});
  EXPECT_NE(FindingWith(diagnosis, "op.unfused/swiglu"), nullptr);
  EXPECT_EQ(FindChain(diagnosis), nullptr) << "one is left on either side";
}

TEST(ElementwiseChains, WhatTakesLittleOfTheStepIsLeft) {
  const auto short_ones = [](PartBuilder& builder) {
    for (const char* type : {"Add", "Sub", "Exp"}) VectorKernel(builder, type, 13 * kUs);
  };
  EXPECT_EQ(FindChain(DiagnoseJob({StepsWithChain(short_ones)})), nullptr) << "39 us of 2.04 ms";
  const auto longer = [](PartBuilder& builder) {
    for (const char* type : {"Add", "Sub", "Exp"}) VectorKernel(builder, type, 14 * kUs);
  };
  EXPECT_NE(FindChain(DiagnoseJob({StepsWithChain(longer)})), nullptr) << "42 us of 2.04 ms";
}

TEST(ElementwiseChains, RulesSayHowManyMakeOne) {
  Thresholds thresholds;
  SetRule("op.unfused", "chain", 4, thresholds);
  EXPECT_EQ(FindChain(DiagnoseJob({StepsWithChain(AddSubExp)}, thresholds)), nullptr);
  SetRule("op.unfused", "chain", 2, thresholds);
  const auto two = [](PartBuilder& builder) {
    VectorKernel(builder, "Add", 100 * kUs);
    VectorKernel(builder, "Exp", 100 * kUs);
  };
  EXPECT_NE(FindChain(DiagnoseJob({StepsWithChain(two)}, thresholds)), nullptr);
  EXPECT_EQ(FindChain(DiagnoseJob({StepsWithChain(two)})), nullptr);
}

}  // namespace
}  // namespace mpa
