// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mpa/mfu/flops.h"

namespace mpa {
namespace {

struct Kernel {
  std::string_view type, inputs, input_formats, outputs, output_formats;
};

Flops Of(const Kernel& kernel) {
  return FlopsOf(kernel.type, KernelTensors::Parse(kernel.inputs, kernel.input_formats,
                                                   kernel.outputs, kernel.output_formats));
}
Flops Of(std::string_view type, std::string_view inputs, std::string_view outputs) {
  return Of({.type = type,
             .inputs = inputs,
             .input_formats = "",
             .outputs = outputs,
             .output_formats = ""});
}

// The count, or minus one when it is not known.
std::int64_t Count(std::string_view type, std::string_view inputs, std::string_view outputs) {
  const Flops flops = Of(type, inputs, outputs);
  return flops.Known() ? flops.count : -1;
}
FlopsGap Gap(std::string_view type, std::string_view inputs, std::string_view outputs) {
  return Of(type, inputs, outputs).gap;
}

TEST(FlopsFamilyOf, KnowsTypesWhateverTheirVersion) {
  for (const char* type : {"MatMul", "MatMulV2", "MatMulV3", "MATMULV3"}) {
    EXPECT_EQ(FlopsFamilyOf(type), FlopsFamily::kMatMul) << type;
  }
  for (const char* type : {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "QuantBatchMatmulV3",
                           "QuantBatchMatmulV4", "WeightQuantBatchMatmulV2"}) {
    EXPECT_EQ(FlopsFamilyOf(type), FlopsFamily::kBatchMatMul) << type;
  }
  EXPECT_EQ(FlopsFamilyOf("GroupedMatmulV5"), FlopsFamily::kGroupedMatMul);
  EXPECT_EQ(FlopsFamilyOf("GroupedMatmulSwigluQuantV2"), FlopsFamily::kGroupedSwiglu);
  EXPECT_EQ(FlopsFamilyOf("Conv2D"), FlopsFamily::kConvolution);
  EXPECT_EQ(FlopsFamilyOf("Conv3DV2"), FlopsFamily::kConvolution);
  EXPECT_EQ(FlopsFamilyOf("Conv2DBackpropFilterD"), FlopsFamily::kConvolutionFilter);
  EXPECT_EQ(FlopsFamilyOf("Conv3DBackpropInputV2"), FlopsFamily::kConvolutionInput);
  EXPECT_EQ(FlopsFamilyOf("FlashAttentionScoreGrad"), FlopsFamily::kAttentionGrad);
}

TEST(FlopsFamilyOf, KnowsNoOthers) {
  for (const char* type : {"", "N/A", "Add", "V2", "v", "2", "MatMulV", "MatMul2",
                           "DepthwiseConv2D", "RotateQuant", "MatMulCompress"}) {
    EXPECT_EQ(FlopsFamilyOf(type), FlopsFamily::kNone) << type;
    EXPECT_EQ(Gap(type, "2,3;3,4", "2,4"), FlopsGap::kUnknownOperator) << type;
  }
}

TEST(MatMulFlops, IsTwiceTheSizesOfAProduct) {
  EXPECT_EQ(Count("MatMulV2", "2,3;3,4", "2,4"), 48);  // 2 x 2 x 4 x 3
  EXPECT_EQ(Count("MatMulV3", "2,3;3,4", "2,4"), 48);
  EXPECT_EQ(Count("MatMul", "4,4;4,5", "4,5"), 160);  // 2 x 4 x 5 x 4
  // 2 x 1024^3
  EXPECT_EQ(Count("MatMulV3", "1024,1024;1024,1024", "1024,1024"), 2147483648);
}

TEST(MatMulFlops, TakesTransposedInputs) {
  EXPECT_EQ(Count("MatMulV2", "3,2;3,4", "2,4"), 48);
  EXPECT_EQ(Count("MatMulV2", "3,2;4,3", "2,4"), 48);
  EXPECT_EQ(Count("MatMulV2", "2,3;4,3", "2,4"), 48);
  EXPECT_EQ(Count("MatMulV3", "\"32,4096;32,9216\"", "\"4096,9216\""), 2415919104);
}

TEST(MatMulFlops, DoesNotCountTheBias) {
  // 2 x 32 x 1000 x 4096
  EXPECT_EQ(Count("MatMulV2", "\"32,4096;1000,4096;1000\"", "\"32,1000\""), 262144000);
  // 2 x 32 x 4096 x 9216
  EXPECT_EQ(Count("MatMulV2", "\"32,9216;4096,9216;4096\"", "\"32,4096\""), 2415919104);
}

TEST(MatMulFlops, ReadsTilesAsMatrices) {
  // 56 x 15 x 16 x 16 is 240 x 896, transposed; 1 x 15 x 16 x 16 is 240 x 16: 2 x 896 x 16 x 240.
  const Flops untold = Of("MatMulV2", "56,15,16,16;1,15,16,16", "1,56,16,16");
  EXPECT_EQ(untold.count, 6881280);
  EXPECT_TRUE(untold.padded);
  const Flops told = Of({.type = "MatMulV2",
                         .inputs = "56,15,16,16;1,15,16,16",
                         .input_formats = "FRACTAL_NZ;FRACTAL_NZ",
                         .outputs = "1,56,16,16",
                         .output_formats = "FRACTAL_NZ"});
  EXPECT_EQ(told.count, 6881280);
}

TEST(MatMulFlops, TakesTrueSizesFromTensorsWithoutTiles) {
  // INT8 tiles are 16 x 32. The weight of 30 x 40 fills 2 x 2 of them; 2 x 8 x 40 x 30.
  const Flops flops = Of({.type = "QuantBatchMatmulV3",
                          .inputs = "8,30;2,2,16,32;40",
                          .input_formats = "ND;FRACTAL_NZ;ND",
                          .outputs = "8,40",
                          .output_formats = "ND"});
  EXPECT_EQ(flops.count, 19200);
  EXPECT_FALSE(flops.padded);
}

TEST(MatMulFlops, CountsEveryMatrixOfABatch) {
  EXPECT_EQ(Count("BatchMatMulV2", "5,2,3;5,3,4", "5,2,4"), 240);          // 5 x 48
  EXPECT_EQ(Count("BatchMatMulV3", "5,3,2;5,4,3", "5,2,4"), 240);          // both transposed
  EXPECT_EQ(Count("BatchMatMul", "6,5,2,3;6,5,3,4", "6,5,2,4"), 1440);     // 30 x 48
  EXPECT_EQ(Count("BatchMatMul", "6,1,2,3;5,3,4", "6,5,2,4"), 1440);       // broadcast
  EXPECT_EQ(Count("QuantBatchMatmulV3", "5,2,3;3,4;4", "5,2,4"), 240);     // one weight for all
  EXPECT_EQ(Count("WeightQuantBatchMatmulV2", "2,3;3,4;4;4", "2,4"), 48);  // scales do not count
}

TEST(MatMulFlops, ReadsTilesOfABatch) {
  // 5 x (32 x 16) times 5 x (16 x 48), in tiles of 16 x 16: 2 x 5 x 32 x 48 x 16
  const Flops flops = Of({.type = "BatchMatMulV2",
                          .inputs = "5,1,2,16,16;5,3,1,16,16",
                          .input_formats = "FRACTAL_NZ;FRACTAL_NZ",
                          .outputs = "5,3,2,16,16",
                          .output_formats = "FRACTAL_NZ"});
  EXPECT_EQ(flops.count, 245760);
  EXPECT_TRUE(flops.padded);
}

TEST(MatMulFlops, IsNothingForEmptyTensors) {
  EXPECT_EQ(Count("MatMulV2", "0,3;3,4", "0,4"), 0);
  EXPECT_EQ(Count("BatchMatMulV2", "0,2,3;0,3,4", "0,2,4"), 0);
}

TEST(MatMulFlops, SaysWhatIsMissing) {
  EXPECT_EQ(Gap("MatMulV2", "N/A", "N/A"), FlopsGap::kNoShapes);
  EXPECT_EQ(Gap("MatMulV2", "2,3;3,4", ""), FlopsGap::kNoShapes);
  EXPECT_EQ(Gap("MatMulV2", "2,3", "2,4"), FlopsGap::kNoShapes);
  EXPECT_EQ(Gap("MatMulV2", ";3,4", "2,4"), FlopsGap::kNoShapes);
  EXPECT_EQ(Gap("MatMulV2", "2,3;;3,4", "2,4"), FlopsGap::kNoShapes);
  EXPECT_EQ(Gap("MatMulV2", "2,3;3,4", "2,4;2,4"), FlopsGap::kNoShapes);  // which of the two
  EXPECT_EQ(Gap("MatMulV2", "2,-3;3,4", "2,4"), FlopsGap::kNoShapes);
  EXPECT_EQ(Gap("MatMulV2", "1,2,3;3,4", "2,4"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("MatMulV2", "2,3;5,4", "2,4"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("BatchMatMulV2", "3,2,3;5,3,4", "5,2,4"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("MatMulV2", "6;6", "1"), FlopsGap::kUnsupportedLayout);
  EXPECT_EQ(Of({.type = "MatMulV2",
                .inputs = "1,1,16,16;1,1,16,16",
                .input_formats = "FRACTAL_ZZ;",
                .outputs = "1,1,16,16",
                .output_formats = ""})
                .gap,
            FlopsGap::kUnsupportedLayout);
}

TEST(MatMulFlops, CountsNothingBeyond64Bits) {
  EXPECT_EQ(Gap("MatMulV2", "9223372036854775807,2;2,9223372036854775807",
                "9223372036854775807,9223372036854775807"),
            FlopsGap::kTooLarge);
  EXPECT_EQ(Gap("MatMulV2", "3000000000,3000000000;3000000000,3000000000", "3000000000,3000000000"),
            FlopsGap::kTooLarge);
  EXPECT_EQ(Gap("MatMulV2", "0,9223372036854775807;9223372036854775807,2", "0,2"),
            FlopsGap::kTooLarge);
  // 2 x 2^20 x 2^20 x 2^21 is 2^62; one more doubling leaves 64 bits.
  EXPECT_EQ(Count("MatMulV2", "1048576,2097152;2097152,1048576", "1048576,1048576"),
            std::int64_t{1} << 62);
  EXPECT_EQ(Gap("MatMulV2", "1048576,4194304;4194304,1048576", "1048576,1048576"),
            FlopsGap::kTooLarge);
  // A caller's own shapes, which no text can hold.
  const KernelTensors negative{
      .inputs = {{-2, 3}, {3, 4}}, .outputs = {{-2, 4}}, .input_formats = {}, .output_formats = {}};
  EXPECT_EQ(FlopsOf("MatMulV2", negative).gap, FlopsGap::kNoShapes);
}

TEST(MatMulFlops, StandsThousandsOfTensorsAndDimensions) {
  std::string many = "2,3;3,4", ones = "1";
  for (int i = 0; i < 10000; ++i) {
    many += ";1";
    ones += ",1";
  }
  EXPECT_EQ(Count("MatMulV2", many, "2,4"), 48);
  EXPECT_EQ(Count("BatchMatMulV2", fmt::format("{};{}", ones, ones), ones), 2);
  EXPECT_EQ(Gap("GroupedMatmul", many, many), FlopsGap::kMismatch);
}

TEST(TransposeMatMulFlops, TakesEitherOrderOfBatchAndRows) {
  // b = 2, m = 4, k = 3, n = 5: 2 x 2 x 4 x 3 x 5
  EXPECT_EQ(Count("TransposeBatchMatMul", "4,2,3;2,3,5", "4,2,5"), 240);
  EXPECT_EQ(Count("TransposeBatchMatMul", "2,4,3;2,3,5", "4,2,5"), 240);
  EXPECT_EQ(Count("TransposeBatchMatMul", "2,4,3;2,5,3", "4,2,5"), 240);
  EXPECT_EQ(Count("TransposeBatchMatMul", "2,4,3;2,3,5;;10", "4,1,10"), 240);  // quantised output
  EXPECT_EQ(Count("TransposeBatchMatMul", "0,2,3;2,3,5", "0,2,5"), 0);
  EXPECT_EQ(Gap("TransposeBatchMatMul", "4,3,3;2,3,5", "4,2,5"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("TransposeBatchMatMul", "4,2,3;2,3,5", "4,2,6"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("TransposeBatchMatMul", "4,3;2,3,5", "4,2,5"), FlopsGap::kUnsupportedLayout);
}

TEST(CollectiveMatMulFlops, CountsTheRowsThatThisDeviceMultiplies) {
  EXPECT_EQ(Count("MatmulAllReduce", "8,3;3,5", "8,5"), 240);  // 2 x 8 x 3 x 5
  EXPECT_EQ(Count("MatmulAllReduce", "2,4,3;3,5", "2,4,5"), 240);
  EXPECT_EQ(Count("AllGatherMatmul", "2,3;3,5", "8,5;8,3"), 240);  // 8 rows from four devices
  EXPECT_EQ(Count("MatmulReduceScatter", "8,3;5,3", "2,5"), 240);  // 8 rows for four devices
  EXPECT_EQ(Gap("AllGatherMatmul", "3,3;3,5", "8,5"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("AllGatherMatmul", "2,4;3,5", "8,5"), FlopsGap::kMismatch);
}

TEST(GroupedMatMulFlops, NeedsNoGroupListWhenGroupsShareTensors) {
  // All 8 rows times a 4 x 6 of either group: 2 x 8 x 4 x 6
  EXPECT_EQ(Count("GroupedMatmul", "8,4;2,4,6;;2", "8,6"), 384);
  EXPECT_EQ(Count("GroupedMatmulV4", "8,4;2,6,4;;2", "8,6"), 384);  // weight transposed
  EXPECT_EQ(Count("GroupedMatmul", "8,4;4,6;4,6;2", "8,6"), 384);   // a weight for each group
}

TEST(GroupedMatMulFlops, ReadsWeightsInTiles) {
  // Two weights of 30 x 40 in tiles of 16 x 32: 2 x 8 x 30 x 40
  const Flops flops = Of({.type = "GroupedMatmul",
                          .inputs = "8,30;2,2,2,16,32;2",
                          .input_formats = "ND;FRACTAL_NZ;ND",
                          .outputs = "8,40",
                          .output_formats = "ND"});
  EXPECT_EQ(flops.count, 19200);
}

TEST(GroupedMatMulFlops, AddsUpGroupsWithTensorsOfTheirOwn) {
  // 2 x 2 x 3 x 4 + 2 x 5 x 6 x 7
  EXPECT_EQ(Count("GroupedMatmul", "2,3;5,6;3,4;6,7", "2,4;5,7"), 468);
  // One x of 8 rows, 3 for one weight and 5 for the other: 2 x 3 x 4 x 6 + 2 x 5 x 4 x 7
  EXPECT_EQ(Count("GroupedMatmul", "8,4;4,6;4,7;2", "3,6;5,7"), 424);
}

TEST(GroupedMatMulFlops, KnowsGroupsAlongTheInnerDimension) {
  // 8 values of k in 2 groups, each a 3 x 5 of the output: 2 x 3 x 5 x 8
  EXPECT_EQ(Count("GroupedMatmul", "3,8;8,5;2", "2,3,5"), 240);
  EXPECT_EQ(Count("GroupedMatmul", "8,3;8,5;2", "2,3,5"), 240);
  EXPECT_EQ(Count("GroupedMatmulAdd", "8,3;8,5;2;6,5", "6,5"), 240);
}

TEST(GroupedMatMulFlops, KnowsFusedFollowUps) {
  EXPECT_EQ(Count("GroupedMatmulSwigluQuant", "8,4;2,4,12;2,12;8;;2", "8,6;8"), 768);  // n is 12
  EXPECT_EQ(Count("GroupedMatmulFinalizeRouting", "8,4;2,4,6;2,6", "3,6"), 384);
}

TEST(GroupedMatMulFlops, RefusesWhatDoesNotFit) {
  EXPECT_EQ(Gap("GroupedMatmul", "8,4;2,5,6;2", "8,6"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("GroupedMatmul", "8,4;2,4,6;2", "7,6"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("GroupedMatmul", "8,4;4,6;4,7;2", "3,6;4,7"), FlopsGap::kMismatch);
  EXPECT_EQ(Gap("GroupedMatmul", "", ""), FlopsGap::kNoShapes);
  EXPECT_EQ(Gap("GroupedMatmul", "8;2", "8"), FlopsGap::kUnsupportedLayout);
}

}  // namespace
}  // namespace mpa
