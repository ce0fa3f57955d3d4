// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/serving_batch.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

using enum ServingPhase;

struct Named {
  const char* name;
  ServingBatch batch;
};

TEST(ServingBatch, ReadsNamesOfServers) {
  const Named kNames[] = {
      {"execute_context_2(6144)_generation_3(5)", {kMixed, 5, 6144, 5}},
      {"execute_context_0(0)_generation_64(64)", {kDecode, 64, 0, 64}},
      {"execute_context_2(14721)_generation_0(0)", {kPrefill, 2, 14721, 0}},
      {"execute_context_0(0)_generation_0(0)", {kDummy, 0, 0, 0}},
      {"execute_6147_context_2(sq6144sk7144sqsq20sqsk23)_generation_3(sq3sk61sqsq3sqsk61)",
       {kMixed, 5, 6144, 3}},
      {"execute_new_2_cached_3", {kMixed, 5, -1, -1}},
      {"execute_new_0_cached_3", {kDecode, 3, -1, -1}},
      {"step[EXTEND bs=15 toks=15360]", {kPrefill, 15, 15360, 0}},
      {"step[EXTEND bs=2 toks=147 c_sq=147 c_sqsq=10 c_sk=14]", {kPrefill, 2, 147, 0}},
      {"step[DECODE bs=32]", {kDecode, 32, 0, 32}},
      {"step[DECODE bs=64 g_sq=128 g_sk=131072]", {kDecode, 64, 0, 128}},
      {"step[TARGET_VERIFY bs=4]", {kDecode, 4, 0, -1}},
      {"step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 g_sq=1 g_sk=12]", {kMixed, 2, 5, 1}},
      {"step[MIXED bs=2]", {kMixed, 2, -1, -1}},
      {"step[IDLE]", {kDummy, 0, 0, 0}},
      {"step[DRAFT_EXTEND bs=3]", {kUnknown, 3, -1, -1}},
      {"prefill[bs=6 tok=17408 ctx=[4096, 4096]...+3]", {kPrefill, 6, 17408, 0}},
      {"decode[bs=117/128 tok=117 d=117]", {kDecode, 117, 0, 117, 128}},
      {"decode[bs=32 tok=128 d=32 spec=3 sqsq=512]", {kDecode, 32, 0, 128}}};
  for (const Named& named : kNames) {
    const auto batch = ReadServingName(named.name);
    ASSERT_TRUE(batch) << named.name;
    EXPECT_EQ(*batch, named.batch) << named.name;
  }
}

TEST(ServingBatch, OtherNamesAreNone) {
  for (const char* name : {"",
                           "execute_",
                           "execute_model",
                           "execute_context_1",
                           "execute_context_1(2)",
                           "step[",
                           "execute_context_1(2)_generation_",
                           "execute_context_1(2)_generation_1(",
                           "execute_context_-1(2)_generation_1(1)",
                           "execute_new_1",
                           "execute_diffusion_1_1024x1024",
                           "execute_context_1(99999999999999999999)_generation_0(0)",
                           "step[DECODE]",
                           "step[DECODE bs=]",
                           "step[DECODE bs=9223372036854775807]",
                           "prefill[tok=1]",
                           "decode[bs=1]",
                           "decode",
                           "ProfilerStep#1",
                           "my step[DECODE bs=1]"}) {
    EXPECT_FALSE(ReadServingName(name)) << name;
  }
}

TEST(ServingBatch, PaddingIsWhatNobodyAskedFor) {
  EXPECT_DOUBLE_EQ(ReadServingName("decode[bs=96/128 tok=96]")->Padding().value(), 25);
  EXPECT_FALSE(ReadServingName("decode[bs=96 tok=96]")->Padding());
  EXPECT_FALSE(ReadServingName("decode[bs=129/128 tok=129]")->Padding()) << "no such graph";
}

TEST(ServingBatch, GraphsAreCapturedForTokens) {
  const auto graph_of = [](ServingBatch batch, std::int64_t tokens) {
    batch.SetGraph(tokens);
    return batch.graph_size;
  };
  const ServingBatch decode = *ReadServingName("execute_context_0(0)_generation_24(24)");
  EXPECT_EQ(graph_of(decode, 32), 32);
  EXPECT_EQ(graph_of(decode, 24), 24);
  EXPECT_EQ(graph_of(decode, 23), -1) << "they do not fit";
  EXPECT_EQ(graph_of(decode, -1), -1);
  // Three tokens of each request: 96 tokens are 32 requests.
  EXPECT_EQ(graph_of(*ReadServingName("execute_context_0(0)_generation_24(72)"), 96), 32);
  EXPECT_EQ(graph_of(*ReadServingName("execute_context_1(24)_generation_24(24)"), 64), -1)
      << "prompts are in it";
}

TEST(ServingBatch, StepsOfAboutAsMuchWork) {
  const auto comparable = [](const char* a, const char* b) {
    return AreComparable(*ReadServingName(a), *ReadServingName(b));
  };
  EXPECT_TRUE(comparable("step[DECODE bs=32]", "step[DECODE bs=40]"));
  EXPECT_FALSE(comparable("step[DECODE bs=32]", "step[DECODE bs=41]"));
  EXPECT_FALSE(comparable("step[DECODE bs=1]", "step[IDLE]"));
  EXPECT_FALSE(comparable("step[DECODE bs=32]", "step[EXTEND bs=1 toks=32]"));
  EXPECT_TRUE(AreComparable({}, {}));
}

TEST(ServingBatch, SizesThatAreCompared) {
  const auto size = [](const char* name) { return SizeOf(*ReadServingName(name)); };
  EXPECT_EQ(size("step[DECODE bs=33]"), 33);
  EXPECT_EQ(size("decode[bs=117/128 tok=117]"), 128);
  EXPECT_EQ(size("step[EXTEND bs=1 toks=4096]"), 4096);
  EXPECT_EQ(size("step[EXTEND bs=1 toks=4097]"), 8192);
  EXPECT_EQ(size("step[MIXED bs=2]"), -1);
  EXPECT_EQ(size("step[IDLE]"), 0);
  EXPECT_EQ(SizeText(*ReadServingName("step[DECODE bs=1]")), "1 request");
  EXPECT_EQ(SizeText(*ReadServingName("step[MIXED bs=2]")), "");
}

}  // namespace
}  // namespace mpa
