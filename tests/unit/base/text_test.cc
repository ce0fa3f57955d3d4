// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace mpa {
namespace {

TEST(ToLower, ChangesAsciiLettersOnly) {
  EXPECT_EQ(ToLower("aclnnMatMul_Z[0]"), "aclnnmatmul_z[0]");
  EXPECT_EQ(ToLower("\xC3\x84pfel"), "\xC3\x84pfel");  // a capital umlaut stays
}

TEST(WithoutAddresses, LeavesOutWhatDiffersFromRunToRun) {
  EXPECT_EQ(WithoutAddresses("<function f at 0x7f12aB>"), "<function f>");
  EXPECT_EQ(WithoutAddresses("<built-in method run of E object at 0xfffd96c47890> at 0x1"),
            "<built-in method run of E object>");
  EXPECT_EQ(WithoutAddresses("look at 0x"), "look at 0x") << "no address";
  EXPECT_EQ(WithoutAddresses("train.py(90): f"), "train.py(90): f");
  EXPECT_EQ(WithoutAddresses(""), "");
}

TEST(EqualsIgnoringCase, ComparesWholeTexts) {
  EXPECT_TRUE(EqualsIgnoringCase("CPU_op", "cpu_op"));
  EXPECT_TRUE(EqualsIgnoringCase("", ""));
  EXPECT_FALSE(EqualsIgnoringCase("cpu_ops", "cpu_op"));
  EXPECT_FALSE(EqualsIgnoringCase("cpu_o", "cpu_op"));
  EXPECT_FALSE(EqualsIgnoringCase("[", "{"));  // 32 apart, as 'A' and 'a' are
}

TEST(StartsWithIgnoringCase, ComparesTheBegin) {
  EXPECT_TRUE(StartsWithIgnoringCase("NN.Module: Net_0", "nn.module:"));
  EXPECT_TRUE(StartsWithIgnoringCase("nccl", "nccl"));
  EXPECT_FALSE(StartsWithIgnoringCase("ncc", "nccl"));
  EXPECT_FALSE(StartsWithIgnoringCase("torch/nn.Module:", "nn.module:"));
}

TEST(Trim, TakesBlanksTabsAndLineEndsFromBothEnds) {
  EXPECT_EQ(Trim(" \t12.5\t\r\n"), "12.5");
  EXPECT_EQ(Trim("a b"), "a b");
  EXPECT_EQ(Trim(" \t "), "");
  EXPECT_EQ(Trim(""), "");
}

TEST(Split, GivesEveryPieceAsItIs) {
  EXPECT_EQ(Split("a, b,,c", ','), (std::vector<std::string_view>{"a", " b", "", "c"}));
  EXPECT_EQ(Split(",", ','), (std::vector<std::string_view>{"", ""}));
  EXPECT_EQ(Split("a;b", ','), (std::vector<std::string_view>{"a;b"}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string_view>{""}));
}

TEST(WithoutNumber, TakesOneNumberBehindAnUnderscoreFromTheEnd) {
  EXPECT_EQ(WithoutNumber("Linear_12"), "Linear");
  EXPECT_EQ(WithoutNumber("Linear_1_2"), "Linear_1");
  EXPECT_EQ(WithoutNumber("_3"), "");
  for (const char* text : {"", "12", "Conv2d", "Linear_", "Linear_1 ", "Linear_x1"}) {
    EXPECT_EQ(WithoutNumber(text), text);
  }
}

TEST(IsOneOf, ComparesWholeWords) {
  EXPECT_TRUE(IsOneOf("SDMA", {"AI_CORE", "SDMA"}));
  EXPECT_FALSE(IsOneOf("SDMA", {"SDMA_SQE", "SDM"}));
}

TEST(ContainsAny, FindsAWordAnywhere) {
  EXPECT_TRUE(ContainsAny("void cutlass::gemm<>", {"conv", "gemm"}));
  EXPECT_FALSE(ContainsAny("gem", {"gemm"}));
}

TEST(Closest, FindsTheOptionThatWasMistyped) {
  const std::vector<std::string> options = {"--base_step", "--output_path", "--force"};
  EXPECT_EQ(Closest("--output-path", options), "--output_path");
  EXPECT_EQ(Closest("--froce", options), "--force");
  EXPECT_EQ(Closest("--base_step", options), "--base_step");
}

TEST(Closest, SuggestsNothingWhenTooMuchDiffers) {
  const std::vector<std::string> options = {"compare", "cluster"};
  EXPECT_EQ(Closest("visualize", options), std::nullopt);
  EXPECT_EQ(Closest("compare", std::vector<std::string>{}), std::nullopt);
}

TEST(Closest, SuggestsNothingThatSharesNoLetter) {
  const std::vector<std::string> options = {"-o", "-d"};
  EXPECT_EQ(Closest("xy", options), std::nullopt);
}

TEST(Closest, PrefersTheFirstOfEquallyNearOnes) {
  const std::vector<std::string> options = {"steps", "stepa"};
  EXPECT_EQ(Closest("step", options), "steps");
}

TEST(ShortFunctionName, LeavesOutWhatIsAroundTheName) {
  EXPECT_EQ(ShortFunctionName("void at::native::vectorized_elementwise_kernel<4,"
                              " at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>"
                              " >(int, at::native::CUDAFunctor_add<float>)"),
            "at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, Array<char*, 3>"
            " >");
  EXPECT_EQ(ShortFunctionName("void at::(anonymous namespace)::f<(anonymous namespace)::g>(int)"),
            "at::(anonymous namespace)::f<g>");
  EXPECT_EQ(ShortFunctionName("Cijk_Ailk_Bljk_HHS"), "Cijk_Ailk_Bljk_HHS");
  EXPECT_EQ(ShortFunctionName("</failure>&'|"), "</failure>&'|");
  EXPECT_EQ(ShortFunctionName("f)"), "f)");
  EXPECT_EQ(ShortFunctionName(""), "");
}

}  // namespace
}  // namespace mpa
