// SPDX-License-Identifier: Apache-2.0
#include "mpa/mfu/shapes.h"

#include <gtest/gtest.h>

#include "mpa/mfu/attention_args.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;

TEST(ParseShapes, ReadsWhatCapturesHold) {
  EXPECT_EQ(ParseShapes("\"32,4096;4096,4096;4096\""), (Shapes{{32, 4096}, {4096, 4096}, {4096}}));
  EXPECT_EQ(ParseShapes("32,4096"), (Shapes{{32, 4096}}));
  EXPECT_EQ(ParseShapes("'2, 3 ; 4'\t"), (Shapes{{2, 3}, {4}}));
  EXPECT_EQ(ParseShapes("\"0,8\""), (Shapes{{0, 8}}));
}

TEST(ParseShapes, KeepsThePlaceOfAbsentTensors) {
  EXPECT_EQ(ParseShapes("\"2,3;;4;\""), (Shapes{{2, 3}, {}, {4}, {}}));
  EXPECT_EQ(ParseShapes(";2"), (Shapes{{}, {2}}));
}

TEST(ParseShapes, TellsNothingForTextWithoutShapes) {
  for (const char* text : {"", "\"\"", "\"", "N/A", "\"N/A\"", "  "}) {
    EXPECT_TRUE(ParseShapes(text).empty()) << text;
  }
}

TEST(ParseShapes, RefusesMalformedTextAsAWhole) {
  for (const char* text : {"2,,3", "2,3;4,", "-1,3", "2,3;a", "2x3", "1.5", "9223372036854775808",
                           "1e3", "0x10", "+1", "2 3", "[2,3]"}) {
    EXPECT_TRUE(ParseShapes(text).empty()) << text;
  }
}

TEST(ParseShapes, ReadsThousandsOfTensors) {
  std::string text = "1";
  for (int i = 0; i < 20000; ++i) text += ";1,2,3";
  EXPECT_EQ(ParseShapes(text).size(), 20001U);
  EXPECT_EQ(ParseShapes(std::string(20000, ';')).size(), 20001U);
}

TEST(ParseTensorNames, DropsPrefixesAndKeepsPlaces) {
  EXPECT_EQ(ParseTensorNames("FLOAT16;DT_BF16;;float"), (Names{"FLOAT16", "BF16", "", "FLOAT"}));
  EXPECT_EQ(ParseTensorNames("FORMAT_ND;NC1HWC0"), (Names{"ND", "NC1HWC0"}));
  EXPECT_EQ(ParseTensorNames("\"FRACTAL_NZ\""), (Names{"FRACTAL_NZ"}));
  EXPECT_TRUE(ParseTensorNames("N/A").empty());
  EXPECT_TRUE(ParseTensorNames("").empty());
}

TEST(ParseAttentionArgs, ReadsTheArgumentsOfFusionAttention) {
  const auto args = ParseAttentionArgs(
      R"({"input_layout": "TND", "sparse_mode": 3, "head_num": 8,
          "actual_seq_qlen": [3, 8], "actual_seq_kvlen": [4, 9, 0]})");
  ASSERT_TRUE(args);
  EXPECT_EQ(args->layout, "TND");
  EXPECT_EQ(args->sparse_mode, 3);
  EXPECT_EQ(args->heads, 8);
  EXPECT_EQ(args->query_ends, (std::vector<std::int64_t>{3, 8}));
  EXPECT_EQ(args->kv_ends, (std::vector<std::int64_t>{4, 9, 0}));
}

TEST(ParseAttentionArgs, ReadsTheNamesOfInferenceOperators) {
  const auto args = ParseAttentionArgs(
      R"({"input_layout": "BSH", "num_heads": 4, "actual_seq_lengths": [1],
          "actual_seq_lengths_kv": [7]})");
  ASSERT_TRUE(args);
  EXPECT_EQ(args->heads, 4);
  EXPECT_EQ(args->sparse_mode, std::nullopt);
  EXPECT_EQ(args->query_ends, std::vector<std::int64_t>{1});
  EXPECT_EQ(args->kv_ends, std::vector<std::int64_t>{7});
}

TEST(ParseAttentionArgs, TakesIsCausalForBnsd) {
  const auto causal = ParseAttentionArgs(R"({"is_causal": true})");
  ASSERT_TRUE(causal);
  EXPECT_EQ(causal->layout, "BNSD");
  EXPECT_EQ(causal->sparse_mode, 2);
  EXPECT_EQ(ParseAttentionArgs(R"({"is_causal": false})")->sparse_mode, 0);
}

TEST(ParseAttentionArgs, TakesNullForNotTold) {
  const auto args = ParseAttentionArgs(
      R"({"input_layout": "BNSD", "sparse_mode": null, "head_num": null, "actual_seq_qlen": null})");
  ASSERT_TRUE(args);
  EXPECT_EQ(args->sparse_mode, std::nullopt);
  EXPECT_EQ(args->heads, std::nullopt);
  EXPECT_TRUE(args->query_ends.empty());
}

TEST(ParseAttentionArgs, RefusesWhatTellsNoLayout) {
  for (const char* text :
       {"", "{", "[]", "3", "null", "{}", R"({"input_layout": null})", R"({"input_layout": 4})",
        R"({"input_layout": null, "is_causal": true})", R"({"is_causal": 1})",
        "{\"input_layout\": \"\xff\"}", R"({"sparse_mode": 0})"}) {
    EXPECT_FALSE(ParseAttentionArgs(text)) << text;
  }
  EXPECT_FALSE(ParseAttentionArgs(std::string(100000, '[')));
}

TEST(ParseAttentionArgs, IgnoresValuesOfOtherKinds) {
  const auto args = ParseAttentionArgs(
      R"({"input_layout": "TND", "sparse_mode": 2.5, "head_num": 18446744073709551615,
          "actual_seq_qlen": [3, "8"], "actual_seq_kvlen": 7})");
  ASSERT_TRUE(args);
  EXPECT_EQ(args->sparse_mode, std::nullopt);
  EXPECT_EQ(args->heads, std::nullopt);
  EXPECT_TRUE(args->query_ends.empty());
  EXPECT_TRUE(args->kv_ends.empty());
}

}  // namespace
}  // namespace mpa
