// SPDX-License-Identifier: Apache-2.0
// The sheets ModuleCompare and ModuleCompareStatistic.
#include <gtest/gtest.h>

#include "support/comparing.h"
#include "support/failures.h"
#include "support/module_model.h"

namespace mpa {
namespace {

using test::Lines;
using Model = test::ModuleModel;
using Texts = std::vector<std::string>;

const Sheet& SheetOf(const Report& report, std::string_view name) {
  for (const Sheet& sheet : report.sheets) {
    if (sheet.name == name) return sheet;
  }
  ADD_FAILURE() << "no sheet " << name;
  static const Sheet none;
  return none;
}

TEST(ModuleCompare, HasATotalAndTheOperatorsOfEveryPairInOrderOfTheBase) {
  const Report report = test::Compare("operator", Model(5).rank.trace, Model(6).rank.trace);
  const Sheet& sheet = SheetOf(report, "ModuleCompare");
  EXPECT_EQ(Lines(sheet, 0, 5),
            (Texts{"1 nn.Module: Net 2 / Net_0 TOTAL", "2 nn.Module: Net 2 / Net_0 add",
                   "3 nn.Module: Linear 3 / Net_0/ Linear_0 TOTAL",
                   "4 nn.Module: Linear 3 / Net_0/ Linear_0 mm",
                   "5 nn.Module: Linear 3 / Net_0/ Linear_1 TOTAL",
                   "6 nn.Module: Linear 3 / Net_0/ Linear_1 mm"}));
  // Self and total of both sides in us, the row of Linear_0: 5 ns against 6.
  EXPECT_EQ(Lines(sheet, 6, 8)[2], "0.005 0.005");
  EXPECT_EQ(Lines(sheet, 10, 15)[2], "0.006 0.006 0.001 0.001 1.2");
}

TEST(ModuleCompare, PutsModulesOfTheComparisonAloneWhereTheyHappened) {
  Model more;
  more.Module("nn.Module: Dropout_0", 50, 55);  // between the two Linears
  more.Module("nn.Module: Dropout_1", 92, 95);
  const Report report = test::Compare("operator", Model().rank.trace, more.rank.trace);
  Texts names;
  for (const Row& row : SheetOf(report, "ModuleCompare").rows) {
    if (row.cells[4] == Cell("TOTAL")) names.push_back(std::get<std::string>(row.cells[3]));
  }
  EXPECT_EQ(names, (Texts{"/ Net_0", "/ Net_0/ Linear_0", "/ Net_0/ Dropout_0", "/ Net_0/ Linear_1",
                          "/ Net_0/ Dropout_1"}));
}

TEST(ModuleCompareStatistic, AddsUpTheCallsOfAModule) {
  Model twice;
  twice.Module("nn.Module: Net_0", 200, 240);
  twice.rank.Op("add", 205, 210, twice.thread);
  twice.rank.LaunchedKernel(205, twice.thread, 10, "Add");
  const Report report = test::Compare("operator", twice.rank.trace, Model().rank.trace);
  const Sheet& sheet = SheetOf(report, "ModuleCompareStatistic");
  // Net_0: self 2 + 10 ns in two calls, total 22 + 10; Linear modules lie below it.
  EXPECT_EQ(Lines(sheet, 1, 5)[0], "nn.Module: Net 1 / Net_0 [ TOTAL ]");
  EXPECT_EQ(Lines(sheet, 6, 9)[0], "1.2e-05 2 3.2e-05");
  EXPECT_EQ(Lines(sheet, 10, 13)[0], "2e-06 1 2.2e-05");
  EXPECT_EQ(Lines(sheet, 4, 6)[1], "add Add, [number: 2], [duration_ms: 0.000]\n");
  EXPECT_EQ(Lines(sheet, 7, 8)[1], "2");
}

TEST(ModuleCompare, GivesWayToOperatorsWhereOneSideKnowsNoModules) {
  Model without;
  without.rank.trace.python_calls = {};
  const Report report = test::Compare("operator", Model().rank.trace, without.rank.trace);
  ASSERT_EQ(report.sheets.size(), 2u);
  EXPECT_EQ(report.sheets[0].name, "OperatorCompareStatistic");
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_HAS_TEXT(report.notes[0], "new has no nn.Module events");
  EXPECT_HAS_TEXT(report.notes[0], "with_stack=True");
}

TEST(ModuleCompare, GivesWayToOperatorsIfAsked) {
  CompareOptions options;
  options.modules = false;
  const Report report = test::Compare("operator", Model().rank.trace, Model().rank.trace, options);
  EXPECT_EQ(report.sheets.at(0).name, "OperatorCompareStatistic");
}

}  // namespace
}  // namespace mpa
