// SPDX-License-Identifier: Apache-2.0
// Vector kernels in a row that could be one. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"

namespace mpa {
namespace {

struct ChainKernel {
  std::string type;
  TimeNs dur = 0;
};

// Three steps: a product of 1 ms, then vector kernels on tensors of `shapes`, all of 8 KB.
Diagnosis WithChain(const std::vector<ChainKernel>& pieces, bool in_optimizer = false,
                    const std::vector<std::string>& shapes = {}) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    for (const ChainKernel& piece : pieces)
      builder.Kernel(piece.type, piece.dur, TimeCategory::kVector, in_optimizer);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    builder.Kind(pieces[i].type).bytes = 8192;
    if (i < shapes.size()) builder.Kind(pieces[i].type).shapes = builder.NameOf(shapes[i]);
  }
  return DiagnoseJob({builder.Build()});
}

const Finding* ChainOf(const Diagnosis& diagnosis) {
  return FindingWith(diagnosis, "op.unfused/elementwise");
}

const std::vector<ChainKernel> kThree = {
    {"Mul", 100 * kUs}, {"Add", 200 * kUs}, {"Pow", 300 * kUs}};

TEST(FusionChains, OneKernelStartsOnceAndAtBestReadsOnce) {
  const Diagnosis diagnosis = WithChain(kThree);
  const Finding* found = ChainOf(diagnosis);
  ASSERT_NE(found, nullptr);
  // No vector kernel takes less than 100 us, so that is what starting one takes; two are saved.
  EXPECT_EQ(found->gain, 200 * kUs);
  EXPECT_EQ(found->gain_max, 300 * kUs) << "only the longest is left";
  EXPECT_EQ(found->kind, FindingKind::kOpportunity);
}

TEST(FusionChains, FirstTensorsDecide) {
  EXPECT_NE(ChainOf(WithChain(kThree, false, {"8,64;64", "8,64", "8,64;1"})), nullptr);
  EXPECT_EQ(ChainOf(WithChain(kThree, false, {"8,64", "64,8", "8,64"})), nullptr);
}

TEST(FusionChains, TwoAreTooFew) { EXPECT_EQ(ChainOf(WithChain({kThree[0], kThree[1]})), nullptr); }

TEST(FusionChains, TheSameAgainIsDoneToOtherTensors) {
  EXPECT_EQ(ChainOf(WithChain({{"Add", 100 * kUs}, {"Add", 100 * kUs}, {"Add", 100 * kUs}})),
            nullptr);
}

TEST(FusionChains, TheOptimizerIsAMatterOfItsOwn) {
  EXPECT_EQ(ChainOf(WithChain(kThree, true)), nullptr);
}

TEST(FusionChains, AKernelBetweenThemEndsTheChain) {
  EXPECT_EQ(
      ChainOf(WithChain({kThree[0], kThree[1], {"Sub", 100 * kUs}, kThree[2], {"Div", 100 * kUs}},
                        false, {"8,64", "8,64", "4,4", "8,64", "8,64"})),
      nullptr);
}

TEST(FusionCauses, OperatorsInPieces) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", kMs)
        .Kernel("Swish", 300 * kUs, TimeCategory::kVector)
        .Kernel("Cast", 50 * kUs, TimeCategory::kFormat);
    step.Kernel("Mul", 200 * kUs, TimeCategory::kVector).Kernel("MatMulV3", kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "op.unfused/swiglu");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 250 * kUs);  // all but the longest piece
  EXPECT_EQ(FindingWith(diagnosis, "op.unfused/rms_norm"), nullptr);
}

}  // namespace
}  // namespace mpa
