// SPDX-License-Identifier: Apache-2.0
// Operators that are declared equal: on one row of the statistics, whatever their names.
#include <gtest/gtest.h>

#include "support/comparing.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using NameLines = std::vector<std::string>;

// Operators of 10 ms, each with a kernel that takes as many ms as it says, and so many MB.
class OpsOfRank {
 public:
  void Add(std::string_view name, TimeNs kernel_ms) {
    constexpr TimeNs kMs = 1'000'000;
    rank.Op(name, next_, next_ + 10 * kMs, thread_);
    rank.LaunchedKernel(next_ + kMs, thread_, kernel_ms * kMs);
    rank.Allocation(name, kernel_ms << 20, next_ + 2 * kMs, next_ + 3 * kMs);
    next_ += 10 * kMs;
  }

  test::RankBuilder rank;

 private:
  std::int32_t thread_ = rank.Thread(1);
  TimeNs next_ = 1'000'000;
};

NameLines RowsOf(std::string_view comparison, std::string_view name, const OpsOfRank& base,
                 const OpsOfRank& changed, const OpNames& names, bool compat = false) {
  CompareOptions options;
  options.op_names = names;
  options.compat = compat;
  const Report report = test::Compare(comparison, base.rank.trace, changed.rank.trace, options);
  for (const Sheet& sheet : report.sheets) {
    if (sheet.name == name) return test::Lines(sheet, 1, sheet.columns.size());
  }
  return {};
}

// An optimizer that the comparison calls by another name, and an operator of both.
class DeclaredEqual : public ::testing::Test {
 protected:
  DeclaredEqual() {
    base_.Add("SGD.step", 4);
    base_.Add("aten::mm", 2);
    changed_.Add("NpuFusedSGD.step", 6);
    changed_.Add("aten::mm", 2);
  }

  OpsOfRank base_, changed_;
  const OpNames names_ = {{"SGD.step", "NpuFusedSGD.step"}};
};

TEST_F(DeclaredEqual, StandOnOneRowOfTheOperators) {
  // Name, ms and calls of both sides, their difference and ratio.
  EXPECT_EQ(RowsOf("operator", "OperatorCompareStatistic", base_, changed_, names_),
            (NameLines{"SGD.step = NpuFusedSGD.step 4 1 6 1 2 1.5", "aten::mm 2 1 2 1 0 1"}));
}

TEST_F(DeclaredEqual, StandOnTheirOwnRowsWithCompat) {
  EXPECT_EQ(RowsOf("operator", "OperatorCompareStatistic", base_, changed_, names_, true),
            (NameLines{"NpuFusedSGD.step 0 0 6 1 6 inf", "aten::mm 2 1 2 1 0 1",
                       "SGD.step 4 1 0 0 -4 0"}));
}

TEST_F(DeclaredEqual, StandOnOneRowOfTheirMemory) {
  // ms, MB and calls of both sides.
  EXPECT_EQ(
      RowsOf("memory", "MemoryCompareStatistic", base_, changed_, names_),
      (NameLines{"SGD.step = NpuFusedSGD.step 1 4 1 1 6 1 2 1.5", "aten::mm 1 2 1 1 2 1 0 1"}));
}

TEST_F(DeclaredEqual, StandOnOneRowOfTheHostTimes) {
  // Total, self and average ms and calls of both sides, the ratios.
  EXPECT_EQ(RowsOf("api", "ApiCompare", base_, changed_, names_),
            (NameLines{"SGD.step = NpuFusedSGD.step 10 10 10 1 10 10 10 1 1 1 1 1",
                       "aten::mm 10 10 10 1 10 10 10 1 1 1 1 1"}));
}

TEST_F(DeclaredEqual, StandOnOneRowOfAModuleAndOfEachOfItsCalls) {
  constexpr TimeNs kSecond = 1'000'000'000;
  for (OpsOfRank* side : {&base_, &changed_}) side->rank.Call("nn.Module: Net_0", 0, kSecond, 0);
  const auto operators = [&](std::string_view sheet) {
    NameLines lines;
    CompareOptions options;
    options.op_names = names_;
    const Report report = test::Compare("operator", base_.rank.trace, changed_.rank.trace, options);
    for (const Sheet& made : report.sheets) {
      if (made.name == sheet) lines = test::Lines(made, 4, 5);
    }
    return lines;
  };
  EXPECT_EQ(operators("ModuleCompareStatistic"),
            (NameLines{"[ TOTAL ]", "SGD.step = NpuFusedSGD.step", "aten::mm"}));
  // One call beside the other: a row each.
  EXPECT_EQ(operators("ModuleCompare"), (NameLines{"TOTAL", "SGD.step", "aten::mm"}));
}

TEST(DeclaredEqualNames, OfSeveralOperatorsAreAllNamed) {
  OpsOfRank base, changed;
  base.Add("a", 1);
  base.Add("b", 2);
  base.Add("a", 4);
  changed.Add("c", 8);
  changed.Add("a", 16);
  const OpNames names = {{"a", "all"}, {"b", "all"}, {"c", "all"}};
  EXPECT_EQ(RowsOf("operator", "OperatorCompareStatistic", base, changed, names),
            NameLines{"a = b = c 7 3 24 2 17 3.4285714285714284"});
}

TEST(DeclaredEqualNames, MayFormChainsAndCircles) {
  OpsOfRank base, changed;
  base.Add("a", 1);
  changed.Add("c", 2);
  const NameLines one_row = {"a = c 1 1 2 1 1 2"};
  const OpNames chain = {{"a", "b"}, {"b", "c"}}, circle = {{"a", "c"}, {"c", "a"}};
  EXPECT_EQ(RowsOf("operator", "OperatorCompareStatistic", base, changed, chain), one_row);
  EXPECT_EQ(RowsOf("operator", "OperatorCompareStatistic", base, changed, circle), one_row);
  // Call by call, too: base and comparison on one row.
  const NameLines call = RowsOf("operator", "OperatorCompare", base, changed, chain);
  ASSERT_EQ(call.size(), 1u);
  EXPECT_EQ(call[0].substr(0, 2), "a ");
  // The Python tool follows one step: "a" matches by "b", "c" by itself.
  EXPECT_EQ(RowsOf("operator", "OperatorCompare", base, changed, chain, true).size(), 2u);
}

}  // namespace
}  // namespace mpa
