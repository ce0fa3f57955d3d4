// SPDX-License-Identifier: Apache-2.0
#include "recipes/calibrate_npu_gpu/matching.h"

#include <gtest/gtest.h>

namespace mpa::calibrate {
namespace {

TEST(Likeness, IsThatOfDifflib) {
  EXPECT_DOUBLE_EQ(Likeness("Linear", "Linear"), 1);
  EXPECT_DOUBLE_EQ(Likeness("Linear", "ReplicatedLinear"), 12.0 / 22);
  EXPECT_DOUBLE_EQ(Likeness("abcd", "bcde"), 0.75);
  EXPECT_DOUBLE_EQ(Likeness("abc", "xyz"), 0);
  EXPECT_DOUBLE_EQ(Likeness("Qwen2Model/Weird", "Qwen2Model"), 20.0 / 26);
}

TEST(MatchModules, EqualNamesNestedOrNot) {
  const ModuleProfile npu = {{"", "AscendNet", "a", "k", 300, 1},
                             {"Net", "AscendLinear", "b", "k", 90, 3}};
  const ModuleProfile gpu = {{"", "Net", "a", "g", 100, 1}, {"Net", "Linear", "b", "g", 30, 3}};
  const auto rows = MatchModules(npu, gpu, 0.8);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].key, "Net");
  EXPECT_EQ(rows[0].kind, MatchKind::kRule);
  EXPECT_EQ(rows[1].key, "Net/Linear");
  EXPECT_EQ(rows[1].kind, MatchKind::kRule);
  EXPECT_EQ(rows[1].npu->total, 90);
  EXPECT_EQ(rows[1].gpu->total, 30);
}

TEST(MatchModules, NamesThatAreAlikeEnough) {
  const ModuleProfile npu = {{"", "Qwen2Model", "a", "k", 10, 1},
                             {"Qwen2Model", "Weird", "a", "k", 5, 1}};
  const ModuleProfile gpu = {{"", "Qwen2Models", "a", "g", 8, 1}};
  const auto rows = MatchModules(npu, gpu, 0.6);
  // Both are alike enough; the GPU module goes to the one that is most alike.
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].key, "Qwen2Models");
  EXPECT_EQ(rows[0].kind, MatchKind::kFuzzy);
  EXPECT_EQ(rows[0].npu->module, "Qwen2Model");
  EXPECT_EQ(rows[1].kind, MatchKind::kNone);
  EXPECT_EQ(rows[1].gpu, nullptr);
  EXPECT_EQ(MatchModules(npu, gpu, 0.99)[0].kind, MatchKind::kNone);
}

TEST(MatchModules, TakesNoModuleFromItsEqual) {
  const ModuleProfile npu = {{"", "Net", "a", "k", 10, 1}, {"", "Nets", "a", "k", 5, 1}};
  const ModuleProfile gpu = {{"", "Net", "a", "g", 8, 1}};
  for (const MatchedRow& row : MatchModules(npu, gpu, 0.5)) {
    EXPECT_EQ(row.kind, row.key == "Net" ? MatchKind::kRule : MatchKind::kNone);
  }
}

TEST(MatchModules, PutsTheLongestOperatorsBesideEachOther) {
  const ModuleProfile npu = {{"", "Net", "short", "k", 1, 1}, {"", "Net", "long", "k", 9, 1}};
  const ModuleProfile gpu = {{"", "Net", "only", "g", 4, 1}};
  const auto rows = MatchModules(npu, gpu, 0.8);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].npu->op, "long");
  EXPECT_EQ(rows[0].gpu->op, "only");
  EXPECT_EQ(rows[1].npu->op, "short");
  EXPECT_EQ(rows[1].gpu, nullptr);
  EXPECT_EQ(rows[1].npu_module, 10);
  EXPECT_EQ(rows[1].gpu_module, 4);
}

TEST(Combine, AddsRowsOfOneOperator) {
  const ModuleProfile rows = Combine(
      {{"p", "m", "o", "a", 10, 1}, {"p", "m", "x", "c", 1, 1}, {"p", "m", "o", "b", 20, 5}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].kernels, "a, b");
  EXPECT_EQ(rows[0].total, 30);
  EXPECT_DOUBLE_EQ(rows[0].Average(), 5);  // of 6 calls, not of the two averages
}

}  // namespace
}  // namespace mpa::calibrate
