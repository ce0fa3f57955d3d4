// SPDX-License-Identifier: Apache-2.0
// Operators that take longer than the chip or their likes need. The gains are worked out by hand.
#include <gtest/gtest.h>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

TEST(OperatorCauses, KernelsOfUnequalLength) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 10; ++i) step.Kernel("MatMulV3", i < 8 ? kMs : 3 * kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "op.variance/MatMulV3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(diagnosis.step, 14 * kMs);
  EXPECT_EQ(found->gain, 4 * kMs);  // two of three times the median
  EXPECT_EQ(MetricIn(*found, "slowest_tenth"), 3);
}

TEST(OperatorCauses, NineEqualKernelsTellNothing) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 9; ++i) step.Kernel("MatMulV3", i < 5 ? kMs : 3 * kMs);
  });
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "op.variance/MatMulV3"), nullptr);
}

TEST(OperatorCauses, AProductFarBelowTheChip) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", kMs).Kernel("BatchMatMulV2", kMs);
    step.Kind("MatMulV3").least = 240 * kUs;       // a quarter of the chip, roughly
    step.Kind("BatchMatMulV2").least = 500 * kUs;  // half of it is well
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "op.slow/MatMulV3");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 600 * kUs);      // 1 ms - 240 us / 0.6
  EXPECT_EQ(found->gain_max, 760 * kUs);  // 1 ms - 240 us
  EXPECT_EQ(MetricIn(*found, "use_of_chip"), 0.24);
  EXPECT_EQ(FindingWith(diagnosis, "op.slow/BatchMatMulV2"), nullptr);
}

// 0.24 of what the cube cores can do, as above; FP32, too, where other cores are the cause.
TEST(OperatorCauses, AProductOnVectorCores) {
  for (const bool fp32 : {false, true}) {
    const auto diagnose = [&](bool on_vector_cores) {
      return DiagnoseJob({ThreeSteps([&](PartBuilder& step) {
        step.Kernel("MatMulV3", kMs);
        step.Kind("MatMulV3").least = 240 * kUs;
        step.Kind("MatMulV3").multiplies_fp32 = fp32;
        step.Kind("MatMulV3").on_vector_cores = on_vector_cores;
      })});
    };
    const Diagnosis diagnosis = diagnose(true);
    const Finding* found = FindingWith(diagnosis, "op.slow/MatMulV3");
    ASSERT_NE(found, nullptr) << fp32;
    EXPECT_EQ(found->gain, 600 * kUs);
    EXPECT_EQ(TitleOf(*found), "matrix products run on vector cores");
    EXPECT_EQ(AdviceOf(*found),
              "give them shapes and types of the cube cores (fp16 or bf16, multiples of 16); tune"
              " the tiling (AOE)");
    const Diagnosis usual = diagnose(false);
    found = FindingWith(usual, "op.slow/MatMulV3");
    ASSERT_EQ(found == nullptr, fp32);
    EXPECT_TRUE(found == nullptr || found->variant == nullptr);
  }
}

// Of two kernels of a step 60 % and 30 % of the requests hit the cache; of the third it is unknown.
TEST(OperatorCauses, ASlowProductSaysHowItUsesTheCache) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 3; ++i) step.Kernel("MatMulV3", kMs);
    KernelKind& kind = step.Kind("MatMulV3");
    kind.least = 240 * kUs;
    kind.cache_time += 2 * kMs;
    kind.cache_hits += 0.9 * static_cast<double>(kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "op.slow/MatMulV3");
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(MetricIn(*found, "l2_hit_rate"), 0.45);
}

TEST(OperatorCauses, AnOptimizerOfManyKernels) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 400 * kUs);
    for (int i = 0; i < 60; ++i) step.Kernel("Mul", 10 * kUs, TimeCategory::kVector, true);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "op.optimizer");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 360 * kUs);  // 0.6 of 60 x 10 us
  EXPECT_EQ(MetricIn(*found, "launches_per_step"), 60);
}

// The host takes 20 us for each of its 60 kernels of 10 us: 60 % of both go.
TEST(OperatorCauses, TheHostOfAnOptimizerCountsAsWell) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 400 * kUs);
    for (int i = 0; i < 60; ++i)
      step.Host(TimeCategory::kDispatchOp, 20 * kUs, true)
          .Kernel("Mul", 10 * kUs, TimeCategory::kVector, true);
  });
  const Diagnosis diagnosis = DiagnoseJob({part, part});
  const Finding* found = FindingWith(diagnosis, "op.optimizer");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 1'800 * kUs);
  EXPECT_EQ(found->gain, 1'080 * kUs);
}

MPA_REFUTES(OperatorCauses, AFusedOptimizerIsNone, "op.optimizer");
TEST(OperatorCauses, AFusedOptimizerIsNone) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 30; ++i)
      step.Kernel("ApplyFusedEmaAdam", 10 * kUs, TimeCategory::kVector, true);
    for (int i = 0; i < 30; ++i)
      step.Kernel("void multi_tensor_apply_kernel<AdamFunctor<float>>", 10 * kUs,
                  TimeCategory::kVector, true);
  });
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "op.optimizer"), nullptr);
}

MPA_REFUTES(OperatorCauses, AllDevicesThrottled, "dev.clock");
TEST(OperatorCauses, AllDevicesThrottled) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 2 * kMs);
    builder.Part().steps.back().mhz = 900;
  }
  builder.Part().rated_mhz = 1800;
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const Finding* found = FindingWith(diagnosis, "dev.clock");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(MetricIn(*found, "clock_rated"), 1800);
}

}  // namespace
}  // namespace mpa
