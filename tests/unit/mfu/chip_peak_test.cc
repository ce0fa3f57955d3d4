// SPDX-License-Identifier: Apache-2.0
#include "mpa/mfu/chip_peak.h"

#include <gtest/gtest.h>

#include <limits>

namespace mpa {
namespace {

ChipPeak Chip(std::int64_t cores, double frequency_mhz) {
  ChipPeak chip;
  chip.cores = cores;
  chip.frequency_mhz = frequency_mhz;
  return chip;
}

Flops Count(std::int64_t count) {
  Flops flops;
  flops.count = count;
  return flops;
}

TEST(TypeClassOf, TellsTypesApart) {
  for (const char* type : {"FLOAT16", "BF16"}) {
    EXPECT_EQ(TypeClassOf(type), TypeClass::kFp16) << type;
  }
  EXPECT_EQ(TypeClassOf(ParseTensorNames("DT_BF16").at(0)), TypeClass::kFp16);
  EXPECT_EQ(TypeClassOf("FLOAT"), TypeClass::kFp32);
  EXPECT_EQ(TypeClassOf("FLOAT32"), TypeClass::kFp32);
  EXPECT_EQ(TypeClassOf("FLOAT", true), TypeClass::kHf32);
  EXPECT_EQ(TypeClassOf("FLOAT16", true), TypeClass::kFp16);
  EXPECT_EQ(TypeClassOf("INT8"), TypeClass::kInt8);
  for (const char* type :
       {"INT32", "INT64", "UINT8", "BOOL", "HIFLOAT8", "FLOAT8_E5M2", "", "float16", "N/A"}) {
    EXPECT_EQ(TypeClassOf(type), TypeClass::kUnknown) << type;
  }
}

TEST(LimitsOf, KnowsTheChipsThatHaveAnEntry) {
  const ChipLimits limits = LimitsOf("Ascend910B");
  EXPECT_EQ(limits.card_gbs, 18);
  EXPECT_EQ(limits.port_gbs, 12.5);  // 100 Gbit/s
  EXPECT_EQ(limits.memory_gbs, 1600);
  EXPECT_EQ(limits.cache_bytes, 33'554'432);
  EXPECT_EQ(LimitsOf("Ascend910B3"), limits) << "the variants have one entry";
  for (const char* chip : {"", "Ascend310P", "Ascend910", "ascend910b", "NVIDIA A100"})
    EXPECT_EQ(LimitsOf(chip), ChipLimits()) << chip;
}

TEST(ComputeType, IsTheWidestOfTheOperands) {
  EXPECT_EQ(ComputeType("MatMulV2", {"FLOAT16", "FLOAT16", "FLOAT"}), TypeClass::kFp16);
  EXPECT_EQ(ComputeType("WeightQuantBatchMatmulV2", {"BF16", "INT8"}), TypeClass::kFp16);
  EXPECT_EQ(ComputeType("QuantBatchMatmulV3", {"INT8", "INT8", "UINT64"}), TypeClass::kInt8);
  EXPECT_EQ(ComputeType("GroupedMatmul", {"INT8", "INT4"}), TypeClass::kInt8);
  EXPECT_EQ(ComputeType("FlashAttentionScore", {"BF16", "BF16", "BF16", "UINT8"}),
            TypeClass::kFp16);
  EXPECT_EQ(ComputeType("MatMulV2", {"FLOAT", "FLOAT"}, Hf32::kYes), TypeClass::kHf32);
  EXPECT_EQ(ComputeType("MatMulV2", {"FLOAT16", "FLOAT16"}, Hf32::kYes), TypeClass::kFp16);
}

TEST(ComputeType, SkipsTheSizeThatGradientsAreTold) {
  EXPECT_EQ(ComputeType("Conv2DBackpropInput", {"INT32", "FLOAT16", "FLOAT16"}), TypeClass::kFp16);
  EXPECT_EQ(ComputeType("Conv2DBackpropFilter", {"BF16", "INT32", "BF16"}), TypeClass::kFp16);
  EXPECT_EQ(ComputeType("Conv2DBackpropFilterD", {"FLOAT16", "FLOAT16"}), TypeClass::kFp16);
}

TEST(ComputeType, OfFp32IsHf32InConvolutionsUnlessTheCaptureTellsOtherwise) {
  const std::vector<std::string> two = {"FLOAT", "FLOAT"};
  EXPECT_EQ(ComputeType("Conv2D", two), TypeClass::kHf32);
  EXPECT_EQ(ComputeType("Conv2D", two, Hf32::kNo), TypeClass::kFp32);
  EXPECT_EQ(ComputeType("MatMulV2", two), TypeClass::kFp32);
  EXPECT_EQ(ComputeType("MatMulV2", two, Hf32::kYes), TypeClass::kHf32);
}

TEST(ComputeType, IsUnknownWhenOneOperandIs) {
  EXPECT_EQ(ComputeType("MatMulV2", {}), TypeClass::kUnknown);
  EXPECT_EQ(ComputeType("MatMulV2", {"FLOAT16"}), TypeClass::kUnknown);
  EXPECT_EQ(ComputeType("MatMulV2", {"", "FLOAT16", "FLOAT16"}), TypeClass::kUnknown);
  EXPECT_EQ(ComputeType("MatMulV2", {"INT32", "INT32"}), TypeClass::kUnknown);
  EXPECT_EQ(ComputeType("Add", {"FLOAT16"}), TypeClass::kFp16);
}

TEST(PeakOf, IsCoresTimesFrequencyTimesOperationsPerCycle) {
  const struct {
    std::int64_t cores;
    double mhz, fp16, int8;
  } chips[] = {{8, 1150, 75.37, 150.73},
               {20, 1800, 294.91, 589.82},
               {24, 1800, 353.89, 707.79},
               {25, 1800, 368.64, 737.28},
               {32, 1000, 262.14, 524.29}};
  for (const auto& chip : chips) {
    EXPECT_NEAR(PeakOf(Chip(chip.cores, chip.mhz), TypeClass::kFp16).tflops, chip.fp16, 0.005);
    EXPECT_NEAR(PeakOf(Chip(chip.cores, chip.mhz), TypeClass::kInt8).tflops, chip.int8, 0.005);
  }
}

TEST(PeakOf, IsWhatTheUserGives) {
  ChipPeak chip = Chip(20, 1800);
  chip.peak_tflops = 100;
  EXPECT_DOUBLE_EQ(PeakOf(chip, TypeClass::kFp16).tflops, 100);
  EXPECT_DOUBLE_EQ(PeakOf(chip, TypeClass::kInt8).tflops, 200);
}

TEST(PeakOf, OfFp32AndHf32IsAPartOfThatOfFp16) {
  ChipPeak chip = Chip(20, 1800);
  EXPECT_NEAR(PeakOf(chip, TypeClass::kFp32).tflops, 73.728, 1e-9);   // 2048 a cycle
  EXPECT_NEAR(PeakOf(chip, TypeClass::kHf32).tflops, 147.456, 1e-9);  // 4096 a cycle
  chip.multiplies_fp32 = false;
  EXPECT_EQ(PeakOf(chip, TypeClass::kFp32).gap, PeakGap::kUnknownType);
  EXPECT_EQ(PeakOf(chip, TypeClass::kHf32).gap, PeakGap::kUnknownType);
}

TEST(PeakOf, SaysWhyThereIsNone) {
  const ChipPeak chip = Chip(20, 1800);
  for (const TypeClass type : {TypeClass::kUnknown, TypeClass::kInt4}) {
    EXPECT_EQ(PeakOf(chip, type).gap, PeakGap::kUnknownType);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ChipPeak& broken : {ChipPeak(), Chip(0, 1800), Chip(-20, 1800), Chip(20, 0),
                                 Chip(20, -1), Chip(20, nan), Chip(20, 1e308 * 10)}) {
    EXPECT_EQ(PeakOf(broken, TypeClass::kFp16).gap, PeakGap::kNoChip);
  }
}

TEST(UtilisationOf, ComparesWithThePeakOfTheType) {
  const ChipPeak chip = Chip(20, 1800);
  EXPECT_NEAR(*Tflops(147456000, 1000), 147.456, 1e-9);
  EXPECT_DOUBLE_EQ(UtilisationOf(Count(147456000), 1000, chip, TypeClass::kFp16).ratio, 0.5);
  EXPECT_DOUBLE_EQ(UtilisationOf(Count(73728000), 1000, chip, TypeClass::kFp16).ratio, 0.25);
  EXPECT_DOUBLE_EQ(UtilisationOf(Count(294912000), 1000, chip, TypeClass::kInt8).ratio, 0.5);
  EXPECT_NEAR(UtilisationOf(Count(2147483648), 10000, chip, TypeClass::kFp16).ratio, 0.72818, 5e-6);
  EXPECT_NEAR(UtilisationOf(Count(2147483648), 20000, chip, TypeClass::kFp16).ratio, 0.36409, 5e-6);
  EXPECT_NEAR(UtilisationOf(Count(2147483648), 10000, chip, TypeClass::kInt8).ratio, 0.36409, 5e-6);
}

TEST(UtilisationOf, SaysWhyThereIsNone) {
  const ChipPeak chip = Chip(20, 1800);
  Flops unknown;
  unknown.gap = FlopsGap::kNoShapes;
  EXPECT_EQ(UtilisationOf(unknown, 1000, chip, TypeClass::kFp16).gap, PeakGap::kNoFlops);
  for (const TimeNs duration : {0, -5}) {
    EXPECT_EQ(UtilisationOf(Count(1), duration, chip, TypeClass::kFp16).gap, PeakGap::kNoDuration);
    EXPECT_EQ(Tflops(1, duration), std::nullopt);
  }
  EXPECT_EQ(UtilisationOf(Count(1), 1000, chip, TypeClass::kInt4).gap, PeakGap::kUnknownType);
  EXPECT_EQ(UtilisationOf(Count(1), 1000, ChipPeak(), TypeClass::kFp16).gap, PeakGap::kNoChip);
}

TEST(Text, NamesEveryGap) {
  for (int i = 1; i <= static_cast<int>(FlopsGap::kPagedCache); ++i) {
    EXPECT_NE(Text(static_cast<FlopsGap>(i)), "");
  }
  for (int i = 1; i <= static_cast<int>(PeakGap::kNoChip); ++i) {
    EXPECT_NE(Text(static_cast<PeakGap>(i)), "");
  }
}

}  // namespace
}  // namespace mpa
