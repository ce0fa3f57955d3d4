// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/mfu/flops.h"

namespace mpa {
namespace {

Flops Of(std::string_view inputs, const std::optional<AttentionArgs>& args,
         std::string_view type = "FlashAttentionScore") {
  return FlopsOf(type, KernelTensors::Parse(inputs, "", "", ""), args ? &*args : nullptr);
}

AttentionArgs Args(std::string_view layout, std::int64_t mode) {
  return {.layout = std::string(layout),
          .sparse_mode = mode,
          .heads = {},
          .query_ends = {},
          .kv_ends = {}};
}
AttentionArgs Sequences(std::vector<std::int64_t> query, std::vector<std::int64_t> kv,
                        std::optional<std::int64_t> mode = 0) {
  return {.layout = "TND",
          .sparse_mode = mode,
          .heads = {},
          .query_ends = std::move(query),
          .kv_ends = std::move(kv)};
}
AttentionArgs WithHeads(std::string_view layout, std::int64_t mode, std::int64_t heads) {
  AttentionArgs args = Args(layout, mode);
  args.heads = heads;
  return args;
}

// Two heads, eight queries, eight keys, four values each.
constexpr std::string_view kSquare = "1,2,8,4;1,2,8,4;1,2,8,4";

TEST(AttentionFlops, CountsTheProductsWithKeysAndValues) {
  // 2 x 2 heads x 8 x 8 scores x (4 + 4)
  EXPECT_EQ(Of(kSquare, Args("BNSD", 0)).count, 2048);
  EXPECT_EQ(Of("1,8,2,4;1,8,2,4;1,8,2,4", Args("BSND", 0)).count, 2048);
  EXPECT_EQ(Of("1,8,8;1,8,8;1,8,8", Args("BSH", 0)).count, 2048);
  EXPECT_EQ(Of("8,1,8;8,1,8;8,1,8", Args("SBH", 2)).count, 1024);
  EXPECT_EQ(Of("3,2,8,4;3,2,8,4;3,2,8,4", Args("BNSD", 0)).count, 3 * 2048);
}

TEST(AttentionFlops, HalvesASquareUnderACausalMask) {
  EXPECT_EQ(Of(kSquare, Args("BNSD", 2)).count, 1024);
  EXPECT_EQ(Of(kSquare, Args("BNSD", 3)).count, 1024);
  // 8 heads, 1024 x 1024 scores, half of them: 2 x 8 x 524288 x (128 + 128)
  EXPECT_EQ(
      Of("1,8,1024,128;1,8,1024,128;1,8,1024,128", ParseAttentionArgs(R"({"is_causal":true})"))
          .count,
      2147483648);
}

TEST(AttentionFlops, TellsWhichCornerTheTriangleStartsFrom) {
  const std::string_view more_queries = "1,2,8,4;1,2,4,4;1,2,4,4";
  EXPECT_EQ(Of(more_queries, Args("BNSD", 0)).count, 1024);
  EXPECT_EQ(Of(more_queries, Args("BNSD", 2)).count, 768);  // 8 x 4 less half of 4 x 4: 24 scores
  EXPECT_EQ(Of(more_queries, Args("BNSD", 3)).count, 256);  // half of 4 x 4: 8 scores
  const std::string_view more_keys = "1,2,4,4;1,2,8,4;1,2,8,4";
  EXPECT_EQ(Of(more_keys, Args("BNSD", 0)).count, 1024);
  EXPECT_EQ(Of(more_keys, Args("BNSD", 2)).count, 256);
  EXPECT_EQ(Of(more_keys, Args("BNSD", 3)).count, 768);
}

TEST(AttentionFlops, DoesNotGuessOtherMasks) {
  for (const std::int64_t mode : {1, 4, 5, 6, 7, 8, -1}) {
    EXPECT_EQ(Of(kSquare, Args("BNSD", mode)).gap, FlopsGap::kUnsupportedMask) << mode;
    EXPECT_EQ(Of("8,2,4;8,2,4;8,2,4", Sequences({3, 8}, {3, 8}, mode)).gap,
              FlopsGap::kUnsupportedMask)
        << mode;
  }
}

TEST(AttentionFlops, TakesTheHeadSizeOfValuesFromTheValues) {
  // 2 x 2 heads x 64 scores x (6 + 4)
  EXPECT_EQ(Of("1,2,8,6;1,2,8,6;1,2,8,4", Args("BNSD", 0)).count, 2560);
  // The same in hidden sizes.
  EXPECT_EQ(Of("1,8,12;1,8,12;1,8,8", Args("BSH", 0)).count, 2560);
  EXPECT_EQ(Of("1,8,12;1,8,12;1,8,8", WithHeads("BSH", 0, 2)).count, 2560);
}

TEST(AttentionFlops, CountsTheHeadsOfQueriesThatShareKeys) {
  // 2 x 4 heads x 64 scores x (4 + 4)
  EXPECT_EQ(Of("1,8,16;1,8,4;1,8,4", WithHeads("BSH", 0, 4)).count, 4096);
  EXPECT_EQ(Of("8,1,16;8,1,4;8,1,4", WithHeads("SBH", 0, 4)).count, 4096);
  EXPECT_EQ(Of("1,8,4,4;1,8,1,4;1,8,1,4", Args("BSND", 0)).count, 4096);
  // Two heads of keys, with smaller values: 2 x 4 x 64 x (4 + 2)
  EXPECT_EQ(Of("1,8,16;1,8,8;1,8,4", WithHeads("BSH", 0, 4)).count, 3072);
  EXPECT_EQ(Of("1,8,16;1,8,4;1,8,4", Args("BSH", 0)).gap, FlopsGap::kNoHeadCount);
}

TEST(AttentionFlops, CountsPositionsKeptInTensorsOfTheirOwn) {
  // Tensor 15: rotary positions, 2 values per head: 2 x 2 heads x 64 scores x (4 + 2 + 4)
  EXPECT_EQ(Of("1,2,8,4;1,2,8,4;1,2,8,4;;;;;;;;;;;;;1,2,8,2;1,2,8,2", Args("BNSD", 0)).count, 2560);
  EXPECT_EQ(Of("1,2,8,4;1,2,8,4;1,2,8,4;;;;;;;;;;;;;1,2,7,2", Args("BNSD", 0)).gap,
            FlopsGap::kMismatch);
}

TEST(AttentionFlops, KnowsWhereEachOperatorHasItsPositions) {
  const auto with_positions = [](std::size_t input, std::string_view type) {
    std::string tensors = std::string(kSquare) + std::string(input - 2, ';') + "1,2,8,2";
    return Of(tensors, Args("BNSD", 0), type).count;
  };
  // 2 x 2 heads x 64 scores x (4 + 2 + 4), and backwards x (3 x (4 + 2) + 2 x 4)
  for (const std::size_t input : {14, 15, 16, 21, 22, 23, 24, 25}) {
    EXPECT_EQ(with_positions(input, "FlashAttentionScore"), input == 15 ? 2560 : 2048) << input;
    EXPECT_EQ(with_positions(input, "FlashAttentionScoreGrad"), input == 22 ? 6656 : 5120) << input;
    if (input == 14) continue;  // its block table
    EXPECT_EQ(with_positions(input, "FusedInferAttentionScore"), input == 24 ? 2560 : 2048)
        << input;
  }
}

TEST(AttentionFlops, KnowsWhereEachOperatorHasItsBlockTable) {
  const auto with_table = [](std::size_t input, std::string_view type) {
    std::string tensors = std::string(kSquare) + std::string(input - 2, ';') + "1,4";
    return Of(tensors, Args("BNSD", 0), type).gap;
  };
  for (const std::size_t input : {12, 13, 14, 15}) {
    EXPECT_EQ(with_table(input, "IncreFlashAttention") == FlopsGap::kPagedCache, input == 13);
    EXPECT_EQ(with_table(input, "FusedInferAttentionScore") == FlopsGap::kPagedCache, input == 14);
    EXPECT_EQ(with_table(input, "PromptFlashAttention"), FlopsGap::kNone);
  }
}

TEST(AttentionFlops, AddsUpSequences) {
  const std::string_view tensors = "8,2,4;8,2,4;8,2,4";
  // 3 and 5 long: 9 + 25 scores x 2 x 2 heads x (4 + 4)
  EXPECT_EQ(Of(tensors, Sequences({3, 8}, {3, 8})).count, 1088);
  EXPECT_EQ(Of(tensors, Sequences({3, 8, 0, 0}, {3, 8})).count, 1088);
  EXPECT_EQ(Of(tensors, Sequences({3, 8}, {3, 8}, std::nullopt)).count, 1088);
  EXPECT_EQ(Of(tensors, Sequences({3, 8}, {3, 8}, 2)).count, 544);
  EXPECT_EQ(Of(tensors, Sequences({3, 8}, {3, 8}, 3)).count, 544);
  EXPECT_EQ(Of(tensors, Sequences({3, 3, 8}, {3, 3, 8})).count, 1088);  // one of them empty
}

TEST(AttentionFlops, AppliesTheMaskToEachSequence) {
  // Queries 2 and 1 long, keys 4 and 1, two heads of 4 + 4 values.
  const std::string_view tensors = "3,2,4;5,2,4;5,2,4";
  EXPECT_EQ(Of(tensors, Sequences({2, 3}, {4, 5}, 0)).count, 288);  // 8 + 1 scores
  EXPECT_EQ(Of(tensors, Sequences({2, 3}, {4, 5}, 2)).count, 80);   // 4/2 + 1/2
  EXPECT_EQ(Of(tensors, Sequences({2, 3}, {4, 5}, 3)).count, 208);  // 8 - 4/2 + 1/2
}

TEST(AttentionFlops, RefusesListsThatAreNoSequences) {
  const std::string_view tensors = "8,2,4;8,2,4;8,2,4";
  for (const AttentionArgs& args :
       {Sequences({8, 3}, {8, 3}), Sequences({3, 8}, {8}), Sequences({}, {}), Sequences({0}, {0}),
        Sequences({-3, 8}, {3, 8}), Sequences({3, 9}, {3, 8}), Sequences({3, 8}, {3, 9}),
        Sequences({9223372036854775807}, {9223372036854775807}),
        Sequences({0, -9223372036854775807 - 1}, {3, 8})}) {
    EXPECT_EQ(Of(tensors, args).gap, FlopsGap::kBadSequences);
  }
}

TEST(AttentionFlops, CountsFiveProductsBackwards) {
  const std::string_view gradient = "1,2,8,4;1,2,8,4;1,2,8,4;1,2,8,4";
  EXPECT_EQ(Of(gradient, Args("BNSD", 0), "FlashAttentionScoreGrad").count, 5120);  // 2.5 x 2048
  EXPECT_EQ(Of(gradient, Args("BNSD", 2), "FlashAttentionScoreGrad").count, 2560);
  // Three of the products have the size of keys, two that of values: 2 x 2 x 64 x (3 x 6 + 2 x 4)
  EXPECT_EQ(Of("1,2,8,6;1,2,8,6;1,2,8,4;1,2,8,4", Args("BNSD", 0), "FlashAttentionScoreGrad").count,
            6656);
}

TEST(AttentionFlops, KnowsInferenceOperators) {
  EXPECT_EQ(Of(kSquare, Args("BNSD", 3), "PromptFlashAttention").count, 1024);
  EXPECT_EQ(Of(kSquare, Args("BNSD_BSND", 0), "FusedInferAttentionScore").count, 2048);
  // One query, 16 keys, hidden size 8: 2 x 16 x (8 + 8)
  EXPECT_EQ(Of("1,1,8;1,16,8;1,16,8", Args("BSH", 0), "IncreFlashAttention").count, 512);
  const std::string_view paged =
      "1,1,8;64,16,8;64,16,8;;;1;;;;;;;;1,4";  // tensor 13: the block table
  EXPECT_EQ(Of(paged, Args("BSH", 0), "IncreFlashAttention").gap, FlopsGap::kPagedCache);
}

TEST(AttentionFlops, SaysWhyNot) {
  AttentionArgs no_mode = Args("BNSD", 0);
  no_mode.sparse_mode = std::nullopt;
  EXPECT_EQ(Of(kSquare, std::nullopt).gap, FlopsGap::kNoArguments);
  EXPECT_EQ(Of(kSquare, no_mode).gap, FlopsGap::kNoArguments);
  EXPECT_EQ(Of("1,2,8,4;1,2,8,4", Args("BNSD", 0)).gap, FlopsGap::kNoShapes);
  EXPECT_EQ(Of(kSquare, Args("NTD", 0)).gap, FlopsGap::kUnsupportedLayout);
  EXPECT_EQ(Of(kSquare, Args("", 0)).gap, FlopsGap::kUnsupportedLayout);
  EXPECT_EQ(Of(kSquare, Args("BSH", 0)).gap, FlopsGap::kUnsupportedLayout);
  EXPECT_EQ(Of("8,8;8,8;8,8", Args("BNSD", 0)).gap, FlopsGap::kUnsupportedLayout);
  EXPECT_EQ(Of("1,2,8,4;1,2,8,5;1,2,8,4", Args("BNSD", 0)).gap, FlopsGap::kMismatch);
  EXPECT_EQ(Of("1,3,8,4;1,2,8,4;1,2,8,4", Args("BNSD", 0)).gap, FlopsGap::kMismatch);
  EXPECT_EQ(Of("1,2,8,4;1,0,8,4;1,0,8,4", Args("BNSD", 0)).gap, FlopsGap::kMismatch);
  for (const std::int64_t heads : {0, -1, 3, 32}) {
    EXPECT_EQ(Of("1,8,16;1,8,4;1,8,4", WithHeads("BSH", 0, heads)).gap, FlopsGap::kMismatch);
  }
}

TEST(AttentionFlops, CountsNothingBeyond64Bits) {
  const std::string_view wide = "1,1,4000000000,2;1,1,4000000000,2;1,1,4000000000,2";
  EXPECT_EQ(Of(wide, Args("BNSD", 0)).gap, FlopsGap::kTooLarge);
  EXPECT_EQ(Of(wide, Args("BNSD", 2)).gap, FlopsGap::kTooLarge);
}

TEST(AttentionFlops, StandsThousandsOfSequences) {
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 1; i <= 100000; ++i) ends.push_back(i);
  // 100000 scores x 2 x (1 + 1)
  EXPECT_EQ(Of("100000,1,1;100000,1,1;100000,1,1", Sequences(ends, ends)).count, 400000);
}

}  // namespace
}  // namespace mpa
