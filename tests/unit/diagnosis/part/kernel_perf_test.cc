// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the limits: 80 % for the matrix unit, 95 % for loading.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "mpa/diagnosis/part/analyzer_rows.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

class KernelPerfTest : public ::testing::Test {
 protected:
  struct Made {
    std::string_view type, core, shapes, outputs;
  };

  // Behind the one before it.
  void Kernel(const Made& made, TimeNs dur, KernelLoads::Row loads,
              std::string_view types = "FLOAT16;FLOAT16") {
    rank_.KernelAt(now_, now_ + dur, made.type);
    now_ += dur;
    Kernels& kernels = rank_.trace.kernels;
    kernels.op_type.back() = rank_.Text(made.type);
    kernels.core.back() = rank_.Text(made.core);
    kernels.shapes.back() = rank_.Text(made.shapes);
    kernels.output_shapes.Stored().back() = rank_.Text(made.outputs);
    kernels.input_types.Stored().back() = rank_.Text(types);
    loads.output_types = rank_.Text("FLOAT16");
    rank_.trace.kernel_loads.Append(loads);
  }

  // "bound mac 2x300": verdict, what, count and time of each row.
  std::string Rows() const {
    std::string rows;
    for (const PerfRow& row : KernelPerformance(rank_.trace)) {
      const char* const verdicts[] = {"room", "bound", "shape"};
      rows += std::string(verdicts[static_cast<std::size_t>(row.verdict)]) + " " + row.what + " " +
              std::to_string(row.count) + "x" + std::to_string(row.time) + "; ";
    }
    return rows;
  }

  test::RankBuilder rank_;
  TimeNs now_ = 0;
};

// Each has 4096 * 8192 elements twice and 4096 * 4096 once: 160 MiB.
constexpr std::string_view kShapes = "\"4096,8192;8192,4096\"", kOutput = "\"4096,4096\"";

TEST_F(KernelPerfTest, ProductsAreBoundByEitherUnitOrBoth) {
  for (const std::string_view type : {"MatMulV2", "MatMulV3", "BatchMatMul", "MatMul"}) {
    const bool mac = type != "MatMulV3", mte2 = type == "MatMulV3" || type == "BatchMatMul",
               none = type == "MatMul";
    Kernel({type, "AI_CORE", kShapes, kOutput}, 100,
           {.aic_mac = static_cast<std::int16_t>(mac && !none ? 800 : 799),
            .aic_mte2 = static_cast<std::int16_t>(mte2 ? 950 : 700)});
  }
  EXPECT_EQ(Rows(),
            "room mac 1x100; bound mac_and_mte2 1x100; bound mac 1x100; bound mte2 1x100; ");
}

TEST_F(KernelPerfTest, CallsOfOneShapeAreOneRowWithMeanLoads) {
  const Made made{"MatMulV3", "AI_CORE", kShapes, kOutput};
  Kernel(made, 100, {.aic_mac = 500, .aic_mte2 = 600});
  Kernel(made, 300, {.aic_mac = 700, .aic_mte2 = 600});
  Kernel(made, 50, {});  // not measured: neither busy nor idle
  ASSERT_EQ(Rows(), "room mac 3x450; ");
  EXPECT_DOUBLE_EQ(KernelPerformance(rank_.trace)[0].room, 0.2);
}

TEST_F(KernelPerfTest, SmallProductsAreNotJudged) {
  Kernel({"MatMulV3", "AI_CORE", "\"512,512;512,512\"", "\"512,512\""}, 100,
         {.aic_mac = 100, .aic_mte2 = 100});
  EXPECT_EQ(Rows(), "");
}

TEST_F(KernelPerfTest, ElementsOfUnknownTypesHaveTwoBytes) {
  Kernel({"MatMulV3", "AI_CORE", kShapes, kOutput}, 100, {.aic_mac = 900, .aic_mte2 = 100},
         "DT_NEW;DT_NEW");
  EXPECT_EQ(Rows(), "bound mac 1x100; ") << "160 MiB; without the inputs they were 32";
}

TEST_F(KernelPerfTest, InnerAxesDecideWhereverTheBatchIs) {
  Kernel({"BatchMatMul", "AI_CORE", "\"16,1024,2048;16,2048,1024\"", "\"16,1024,1024\""}, 100,
         {.aic_mac = 900, .aic_mte2 = 100});
  Kernel({"BatchMatMul", "AI_CORE", "\"16,1024,2000;16,2000,1024\"", "\"16,1024,1024\""}, 100,
         {.aic_mac = 900, .aic_mte2 = 100});
  EXPECT_EQ(Rows(), "bound mac 1x100; shape inner axis 1x100; ");
}

TEST_F(KernelPerfTest, TilesOfAnInnerAxisCountTogether) {
  Kernel({"MatMulV2", "AI_CORE", "\"512,256,16,16;256,512,16,16\"", "\"256,256,16,16\""}, 100,
         {.aic_mac = 900, .aic_mte2 = 100});
  rank_.trace.kernels.input_formats.Stored().back() = rank_.Text("FRACTAL_NZ;FRACTAL_NZ");
  EXPECT_EQ(Rows(), "bound mac 1x100; ");
}

// Forward: query of three axes, maxima of (batch, heads, S, 8). 2048 / 16 heads is 128, 2048 / 20
// none.
TEST_F(KernelPerfTest, AttentionNeedsHeadsAndSequencesThatFit) {
  const KernelLoads::Row loads{.aic_mte2 = 850, .aiv_vec = 100};
  Kernel({"FlashAttentionScore", "MIX_AIC", "\"2,4096,2048;2,4096,2048\"", "\"2,16,4096,8\""}, 500,
         loads);
  Kernel({"FlashAttentionScore", "MIX_AIC", "\"2,4096,1536;2,4096,1536\"", "\"2,16,4096,8\""}, 400,
         loads);
  Kernel({"FlashAttentionScore", "MIX_AIC", "\"2,1000,2048;2,1000,2048\"", "\"2,16,1000,8\""}, 300,
         loads);
  Kernel({"FlashAttentionScore", "MIX_AIC", "\"8000,8,100;8000,8,100\"", "\"8000,8,8\""}, 200,
         loads);
  EXPECT_EQ(Rows(), "bound mte2 1x500; shape D 1x400; shape S 1x300; shape D 1x200; ");
}

// Its query of 100 columns is one token per sequence.
TEST_F(KernelPerfTest, AttentionOverACacheIsJudgedByItsUnitsAlone) {
  Kernel({"FusedInferAttentionScore", "MIX_AIC", "\"8,1,100;8,900,100\"", "\"8,1,100\""}, 300,
         {.aic_mte2 = 900, .aiv_vec = 100});
  EXPECT_EQ(Rows(), "bound mte2 1x300; ");
}

TEST_F(KernelPerfTest, GradientsOfAttentionStoreToo) {
  Kernel({"FlashAttentionScoreGrad", "MIX_AIC", "\"2,16,4096,128;2,16,4096,128\"",
          "\"2,16,4096,128\""},
         500, {.aic_mte2 = 100, .aic_fixpipe = 750});
  EXPECT_EQ(Rows(), "bound fixpipe 1x500; ");
}

TEST_F(KernelPerfTest, VectorKernelsAreBoundByTheSumOfTheirUnits) {
  const auto add = [&](std::string_view type, TimeNs dur, std::int16_t vec, std::int16_t mte2,
                       std::int16_t mte3) {
    Kernel({type, "AI_VECTOR_CORE", "\"64\"", "\"64\""}, dur,
           {.aiv_vec = vec, .aiv_mte2 = mte2, .aiv_mte3 = mte3});
  };
  add("Add", 1000, 300, 300, 300);
  add("Mul", 500, 50, 710, 50);
  add("Exp", 300, 400, 100, 100);  // 30 % below each of the sum and the vector unit
  add("Neg", 10, 100, 100, 100);   // less than a hundredth of the time
  EXPECT_EQ(Rows(), "room vec_mte2_mte3 1x300; bound vec_mte2_mte3 1x1000; bound mte2 1x500; ");
}

TEST_F(KernelPerfTest, FiveOfAVerdictAreKeptTheMostRoomFirst) {
  for (std::int16_t i = 1; i <= 6; ++i) {
    Kernel({"Exp", "AI_VECTOR_CORE", "\"" + std::to_string(i) + "\"", "\"64\""}, 100 * i,
           {.aiv_vec = 100, .aiv_mte2 = 100, .aiv_mte3 = 100});
  }
  EXPECT_EQ(Rows(),
            "room vec_mte2_mte3 1x600; room vec_mte2_mte3 1x500; room vec_mte2_mte3 1x400; room"
            " vec_mte2_mte3 1x300; room vec_mte2_mte3 1x200; ");
}

}  // namespace
}  // namespace mpa
