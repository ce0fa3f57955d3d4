// SPDX-License-Identifier: Apache-2.0
#include "mfu/operator_products.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace mpa {
namespace {

constexpr std::string_view kBf16 = "['c10::BFloat16', 'c10::BFloat16', 'c10::BFloat16']";

std::int64_t CountOf(std::string_view op, std::string_view shapes, std::string_view values = "",
                     std::string_view types = kBf16) {
  const auto product = ProductOf(op, {.shapes = shapes, .types = types, .values = values});
  return product && product->flops.Known() ? product->flops.count : -1;
}

FlopsGap GapOf(std::string_view op, std::string_view shapes, std::string_view values = "") {
  const auto product = ProductOf(op, {.shapes = shapes, .types = kBf16, .values = values});
  return product ? product->flops.gap : FlopsGap::kUnknownOperator;
}

TEST(OperatorProducts, AMultiplyAddCountsAsTwo) {
  EXPECT_EQ(CountOf("aten::mm", "[[32, 64], [64, 8]]"), 2 * 32 * 64 * 8);
  EXPECT_EQ(CountOf("aten::addmm", "[[8], [32, 64], [64, 8], [], []]"), 2 * 32 * 64 * 8);
  EXPECT_EQ(CountOf("aten::bmm", "[[5, 32, 64], [5, 64, 8]]"), 2 * 5 * 32 * 64 * 8);
  EXPECT_EQ(CountOf("aten::baddbmm", "[[5, 1, 8], [5, 32, 64], [5, 64, 8]]"), 2 * 5 * 32 * 64 * 8);
  EXPECT_EQ(CountOf("aten::linear", "[[2, 16, 64], [8, 64], [8]]"), 2 * 2 * 16 * 64 * 8);
}

TEST(OperatorProducts, ShapesThatAreNotThoseOfAProductAreUnknown) {
  EXPECT_EQ(ProductOf("aten::add", {.shapes = "[[2, 2], [2, 2]]", .types = kBf16}), std::nullopt);
  EXPECT_EQ(GapOf("aten::mm", "N/A"), FlopsGap::kNoShapes);
  EXPECT_EQ(GapOf("aten::mm", "[[2, 2]]"), FlopsGap::kNoShapes);
  EXPECT_EQ(GapOf("aten::mm", "[[2, 3], [4, 5]]"), FlopsGap::kMismatch);
  EXPECT_EQ(GapOf("aten::mm", "[[4294967296, 4294967296], [4294967296, 2]]"), FlopsGap::kTooLarge);
  EXPECT_EQ(GapOf("aten::mm", "[[[2, 3]], [3, 5]]"), FlopsGap::kNoShapes);
}

TEST(OperatorProducts, TypesAreThoseOfTheFactors) {
  const auto type = [](std::string_view op, std::string_view types) {
    return ProductOf(op, {.shapes = "[[2, 2], [2, 2], [2, 2]]", .types = types})->type;
  };
  EXPECT_EQ(type("aten::mm", kBf16), TypeClass::kFp16);
  EXPECT_EQ(type("aten::addmm", "['float', 'c10::Half', 'c10::Half']"), TypeClass::kFp16);
  EXPECT_EQ(type("aten::_scaled_mm", "['c10::Float8_e4m3fnuz', 'c10::Float8_e4m3fnuz']"),
            TypeClass::kFp8);
  EXPECT_EQ(type("aten::mm", "['float', 'float']"), TypeClass::kUnknown);
  EXPECT_EQ(type("aten::mm", "N/A"), TypeClass::kUnknown);
}

// The weights of servers have a row for each output, as linear layers have.
TEST(OperatorProducts, OfServingLibrariesCount) {
  EXPECT_EQ(CountOf("vllm::rocm_unquantized_gemm", "[[32, 2880], [5120, 2880], [5120]]"),
            2LL * 32 * 2880 * 5120);
  EXPECT_EQ(CountOf("aiter::gemm_a16w16", "[[15360, 4096], [6144, 4096], [], []]"),
            2LL * 15360 * 4096 * 6144);
  EXPECT_EQ(CountOf("aiter::gemm_a8w8_blockscale_ck", "[[8, 256], [64, 256], [8, 2], [1, 2]]"),
            2 * 8 * 256 * 64);
  EXPECT_EQ(CountOf("_rocm_C::wvSplitK", "[[64, 256], [4, 256], []]"), 2 * 64 * 256 * 4);
  EXPECT_EQ(CountOf("_C::cutlass_scaled_mm", "[[4, 64], [4, 256], [256, 64], [1], [1], []]"),
            2 * 4 * 256 * 64);
  EXPECT_EQ(CountOf("sgl_kernel::fp8_scaled_mm", "[[4, 256], [256, 64], [4], [64]]"),
            2 * 4 * 256 * 64);
  // Each element is two values of 4 bits.
  EXPECT_EQ(CountOf("aiter::gemm_a4w4", "[[4, 128], [64, 128]]"), 2 * 4 * 256 * 64);
}

// image 32 x 3 x 224 x 224, filter 64 x 3 x 7 x 7, stride 2, padding 3: the output is 112 x 112,
// each of its values takes 3 x 7 x 7 multiply-adds.
constexpr std::string_view kFirstLayer = "[[32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]";
constexpr std::string_view kFirstArguments =
    "['', '', '', '[2, 2]', '[3, 3]', '[1, 1]', 'False', '[0, 0]', '1']";

TEST(OperatorConvolutions, CountTheirFilterForEachValueOfTheOutput) {
  EXPECT_EQ(CountOf("aten::convolution", kFirstLayer, kFirstArguments),
            2LL * (32 * 64 * 112 * 112) * (3 * 7 * 7));
  // Dilation 2 spreads 3 values over 5: 10 - 5 + 1 = 6 positions in each direction; two groups.
  EXPECT_EQ(CountOf("aten::convolution", "[[1, 8, 10, 10], [16, 4, 3, 3], []]",
                    "['', '', '', '[1]', '[0]', '[2]', 'False', '[0]', '2']"),
            2 * (16 * 6 * 6) * (4 * 3 * 3));
  // One dimension: (20 + 2 - 3) / 2 + 1 = 10 positions.
  EXPECT_EQ(CountOf("aten::convolution", "[[2, 4, 20], [8, 4, 3], [8]]",
                    "['', '', '', '[2]', '[1]', '[1]', 'False', '[0]', '1']"),
            2 * (2 * 8 * 10) * (4 * 3));
  // Transposed: each value of the input multiplies with the whole filter of its channel.
  EXPECT_EQ(CountOf("aten::convolution", "[[1, 8, 5, 5], [8, 3, 4, 4], []]",
                    "['', '', '', '[2, 2]', '[1, 1]', '[1, 1]', 'True', '[0, 0]', '1']"),
            2 * (8 * 5 * 5) * (3 * 4 * 4));
}

TEST(OperatorConvolutions, CountEachGradientThatTheMaskAsksFor) {
  constexpr std::string_view kShapes =
      "[[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], [], []]";
  constexpr std::int64_t kOne = 2LL * (32 * 64 * 112 * 112) * (3 * 7 * 7);
  const auto count = [&](std::string_view mask) {
    return CountOf("aten::convolution_backward", kShapes,
                   fmt::format("['', '', '', '[0]', '[2, 2]', '[3, 3]', '[1, 1]', 'False',"
                               " '[0, 0]', '1', '{}']",
                               mask));
  };
  EXPECT_EQ(count("[False, True, False]"), kOne);  // of the first layer
  EXPECT_EQ(count("[True, True, True]"), 2 * kOne);
  EXPECT_EQ(count("[False, False, True]"), 0);  // the bias is a sum
  EXPECT_EQ(GapOf("aten::convolution_backward", kShapes), FlopsGap::kNoValues);
  // Transposed: the input (8 x 5 x 5) has the positions.
  EXPECT_EQ(CountOf("aten::convolution_backward", "[[1, 3, 10, 10], [1, 8, 5, 5], [8, 3, 4, 4]]",
                    "['', '', '', '[0]', '[2, 2]', '[1, 1]', '[1, 1]', 'True', '[0, 0]', '1',"
                    " '[True, False, False]']"),
            2 * (8 * 5 * 5) * (3 * 4 * 4));
}

TEST(OperatorConvolutions, AreUnknownWithoutWhatTheirOutputDependsOn) {
  EXPECT_EQ(GapOf("aten::convolution", kFirstLayer), FlopsGap::kNoValues);
  EXPECT_EQ(GapOf("aten::convolution", "N/A", kFirstArguments), FlopsGap::kNoShapes);
  EXPECT_EQ(GapOf("aten::convolution", "[[32, 3, 4, 4], [64, 3, 7, 7]]",
                  "['', '', '', '[2, 2]', '[0, 0]', '[1, 1]', 'False', '[0, 0]', '1']"),
            FlopsGap::kMismatch);  // the filter is larger than the image
  EXPECT_EQ(GapOf("aten::convolution", kFirstLayer,
                  "['', '', '', '[0, 0]', '[3, 3]', '[1, 1]', 'False', '[0, 0]', '1']"),
            FlopsGap::kMismatch);
}

// Two sequences of 5 queries and 7 keys, 4 heads of 8 values: 2 x 4 x 5 x 7 scores.
constexpr std::int64_t kScores = 2 * 4 * 5 * 7;
constexpr std::string_view kQkv = "[[2, 4, 5, 8], [2, 4, 7, 8], [2, 4, 7, 8], [], [], [], []]";

TEST(OperatorAttention, CountsTheProductsWithKeysAndValues) {
  constexpr std::string_view kFlash = "aten::_scaled_dot_product_flash_attention";
  EXPECT_EQ(CountOf(kFlash, kQkv, "['', '', '', '0.', 'False', 'False', '']"),
            2 * kScores * (8 + 8));
  // Two heads of keys and values for four of queries change nothing.
  EXPECT_EQ(CountOf(kFlash, "[[2, 4, 5, 8], [2, 2, 7, 8], [2, 2, 7, 8]]",
                    "['', '', '', '0.', 'False', 'False', '']"),
            2 * kScores * (8 + 8));
  // Causal, from the upper left corner: half of 5 x 5.
  EXPECT_EQ(CountOf(kFlash, kQkv, "['', '', '', '0.', 'True', 'False', '']"),
            2 * 4 * (5 * 5) * (8 + 8));
  constexpr std::string_view kMasked = "['', '', '', '', 'False', '0.', 'True', '']";
  EXPECT_EQ(CountOf("aten::_scaled_dot_product_efficient_attention", kQkv, kMasked),
            2 * 4 * (5 * 5) * (8 + 8));
  EXPECT_EQ(GapOf(kFlash, kQkv), FlopsGap::kNoValues);
}

TEST(OperatorAttention, OfCudnnHadOtherArgumentsBeforeItTookAMask) {
  constexpr std::string_view kCudnn = "aten::_scaled_dot_product_cudnn_attention";
  EXPECT_EQ(CountOf(kCudnn, kQkv, "['', '', '', '0.', 'False', 'False', '']",
                    "['c10::Half', 'c10::Half', 'c10::Half', 'Scalar', 'Scalar', 'Scalar', '']"),
            2 * kScores * (8 + 8));
  EXPECT_EQ(CountOf(kCudnn, kQkv, "['', '', '', '', 'True', '0.', 'False', 'False', '']",
                    "['c10::Half', 'c10::Half', 'c10::Half', '', 'Scalar', 'Scalar', 'Scalar']"),
            2 * kScores * (8 + 8));
}

TEST(OperatorAttention, ComputesTheScoresAgainForItsGradients) {
  constexpr std::string_view kShapes =
      "[[2, 4, 5, 8], [2, 4, 5, 8], [2, 4, 7, 8], [2, 4, 7, 8], [2, 4, 5, 8], [2, 4, 5]]";
  EXPECT_EQ(CountOf("aten::_scaled_dot_product_flash_attention_backward", kShapes,
                    "['', '', '', '', '', '', '', '', '5', '7', '0.', 'False', '', '', '']"),
            2 * kScores * (3 * 8 + 2 * 8));
  // With the layout and the mask of the package flash-attn: batch, sequence, heads; a triangle that
  // ends in the lower right corner leaves 5 x 7 - 5 x 5 / 2.
  EXPECT_EQ(CountOf("flash_attn::_flash_attn_backward",
                    "[[2, 5, 4, 8], [2, 5, 4, 8], [2, 7, 4, 8], [2, 7, 4, 8]]",
                    "['', '', '', '', '', '', '', '', '', '0.', '0.3', 'True', '-1', '-1']"),
            2 * 4 * (2 * 5 * 7 - 5 * 5) * (3 * 8 + 2 * 8));
  EXPECT_EQ(GapOf("flash_attn::_flash_attn_forward", "[[2, 5, 4, 8], [2, 7, 4, 8], [2, 7, 4, 8]]",
                  "['', '', '', '0.', '0.3', 'True', '3', '0', '0.']"),
            FlopsGap::kUnsupportedMask);  // a window
}

TEST(OperatorAttention, OfPagesIsKnownWhereAllSequencesMustBeAsLongAsTheLongest) {
  const auto prefill = [](std::string_view query, int most_q, int most_k) {
    return GapOf("aiter::mha_batch_prefill",
                 fmt::format("[[{}, 4, 8], [999, 2, 8], [999, 2, 8], [4], [4], [99]]", query),
                 fmt::format("['', '', '', '', '', '', '{}', '{}', '0.', '0.1', '0.', 'False',"
                             " 'True', '-1', '-1', '0']",
                             most_q, most_k));
  };
  EXPECT_EQ(prefill("30", 10, 10), FlopsGap::kNone);  // 3 sequences of 10
  EXPECT_EQ(prefill("29", 10, 10), FlopsGap::kPagedCache);
  EXPECT_EQ(prefill("30", 10, 12), FlopsGap::kPagedCache);
  // 3 x 4 heads x half of 10 x 10 scores.
  EXPECT_EQ(
      CountOf("aiter::mha_batch_prefill", "[[30, 4, 8], [999, 2, 8], [999, 2, 8], [4], [4], [99]]",
              "['', '', '', '', '', '', '10', '10', '0.', '0.1', '0.', 'False', 'True',"
              " '-1', '-1', '0']"),
      2 * 3 * 4 * (10 * 10 / 2) * (8 + 8));
  EXPECT_EQ(GapOf("vllm::unified_attention_with_output", "[[32, 64, 64], [32, 8, 64]]"),
            FlopsGap::kPagedCache);
}

}  // namespace
}  // namespace mpa
