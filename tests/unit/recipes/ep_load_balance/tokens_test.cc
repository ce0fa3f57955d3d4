// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "mpa/recipe/recipe.h"
#include "support/rank_builder.h"

namespace mpa::recipes::ep_load_balance {
namespace {

const Recipe& LoadBalance() {
  return *std::find_if(AllRecipes().begin(), AllRecipes().end(),
                       [](const Recipe& recipe) { return recipe.name == "ep_load_balance"; });
}

Report ReportOf(const RankTrace& trace) {
  Report report;
  LoadBalance().reduce({{0, LoadBalance().map(trace, {})}}, {},
                       {.documents = false, .screen = Detail::kNone}, report);
  return report;
}

bool SaysThatOneIsLeftOut(const Report& report) {
  return std::any_of(report.notes.begin(), report.notes.end(), [](const std::string& note) {
    return note.ends_with("because their shapes show no tokens: 1");
  });
}

// x is 100 x 64; the weights and the group list are no tokens.
constexpr std::string_view kShapes = "100,64;4,64,32;4";

TEST(ExpertTokens, AreThoseOfAllVersionsOfTheOperator) {
  test::RankBuilder rank;
  for (const char* type : {"GroupedMatmul", "GroupedMatmulV4", "MatMulV3"}) {
    rank.trace.kernels.shapes[rank.Kernel("kernel", type, "AI_CORE")] = rank.Text(kShapes);
  }
  const Report report = ReportOf(rank.trace);
  ASSERT_EQ(report.sheets.size(), 2u);
  ASSERT_EQ(report.sheets[0].rows.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(report.sheets[0].rows[0].cells[2]), 200);
  EXPECT_FALSE(SaysThatOneIsLeftOut(report));
}

TEST(ExpertTokens, AreUnknownOfFusedProducts) {
  test::RankBuilder rank;
  rank.trace.kernels.shapes[rank.Kernel("kernel", "GroupedMatmulSwigluQuant", "AI_CORE")] =
      rank.Text(kShapes);
  EXPECT_TRUE(SaysThatOneIsLeftOut(ReportOf(rank.trace)));
}

TEST(ExpertTokens, AreUnknownOfKernelsOfGpus) {
  test::RankBuilder rank(DeviceKind::kGpu);
  rank.Kernel("void cutlass::moe_gemm_kernel<float>");
  rank.Kernel("ampere_sgemm_128x64_tn");
  EXPECT_TRUE(SaysThatOneIsLeftOut(ReportOf(rank.trace)));
}

}  // namespace
}  // namespace mpa::recipes::ep_load_balance
