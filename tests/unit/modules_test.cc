// SPDX-License-Identifier: Apache-2.0
// Modules: whose operators and kernels are whose, and in which rows they stand.
#include <gtest/gtest.h>

#include <algorithm>

#include "mpa/measure/module_tree.h"
#include "support/comparing.h"
#include "support/failures.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::Lines;
using test::RankBuilder;
using Texts = std::vector<std::string>;

// Net_0 calls Linear_0 and Linear_1, each with a matmul; Net_0 itself adds, between them.
//
//   0 ........................................... 100   nn.Module: Net_0
//      10 ............ 40                               nn.Module: Linear_0
//         12 mm 30                                      one kernel of 5 ns
//                          45 add 50                    one kernel of 2 ns
//                                   60 ......... 90     nn.Module: Linear_1
//                                      62 mm 80         two kernels of 7 and 8 ns
class Model {
 public:
  explicit Model(TimeNs first_linear = 5) {
    Module("nn.Module: Net_0", 0, 100);
    Module("nn.Module: Linear_0", 10, 40);
    Module("nn.Module: Linear_1", 60, 90);
    rank.Op("mm", 12, 30, thread);
    rank.LaunchedKernel(12, thread, first_linear, "MatMul");
    rank.Op("add", 45, 50, thread);
    rank.LaunchedKernel(45, thread, 2, "Add");
    rank.Op("mm", 62, 80, thread);
    rank.LaunchedKernel(62, thread, 7, "MatMul");
    rank.LaunchedKernel(70, thread, 8, "MatMul");
  }
  void Module(std::string_view name, TimeNs start, TimeNs end) {
    rank.trace.python_calls.Append(
        {.start = start, .dur = end - start, .name = rank.Text(name), .track = thread});
  }
  ModuleTrees Trees() const { return BuildModuleTrees(OpTree(rank.trace)); }

  RankBuilder rank;
  std::int32_t thread = rank.Thread(1);
};

const Module& Find(const ModuleTree& tree, std::string_view name) {
  for (const Module& module : tree.modules) {
    if (module.name == name) return module;
  }
  ADD_FAILURE() << "no module " << name;
  static const Module none;
  return none;
}

TEST(ModuleTree, GivesWorkToTheInnermostModuleAndAllAroundIt) {
  const ModuleTree tree = Model().Trees().forward;
  const Module& net = Find(tree, "nn.Module: Net_0");
  EXPECT_EQ(net.full_name, "/nn.Module: Net_0");
  EXPECT_EQ(net.device_self.whole, 2);
  EXPECT_EQ(net.device_total.whole, 5 + 2 + 7 + 8);
  ASSERT_EQ(net.ops.size(), 1u);  // the matmuls belong to the modules within
  const Module& linear = Find(tree, "nn.Module: Linear_1");
  EXPECT_EQ(linear.full_name, "/nn.Module: Net_0/nn.Module: Linear_1");
  EXPECT_EQ(linear.depth, net.depth + 1);
  EXPECT_EQ(linear.device_total.whole, 15);
  ASSERT_EQ(linear.ops.size(), 1u);
  EXPECT_EQ(linear.ops[0].work.size(), 2u);
}

TEST(ModuleTree, CountsWhatBeginsWithinANestedOperatorAsItsPart) {
  Model model;
  model.rank.Op("view", 46, 54, model.thread);   // within add, and ends behind it
  model.rank.Op("empty", 52, 53, model.thread);  // within view
  model.rank.Op("relu", 55, 56, model.thread);
  const ModuleTree tree = model.Trees().forward;
  EXPECT_EQ(Find(tree, "nn.Module: Net_0").ops.size(), 2u);  // add and relu
}

TEST(ModuleTree, CountsNestedOperatorsAsTheOutermostOfThem) {
  Model model;
  model.rank.Op("addmm", 61, 85, model.thread);  // around the second mm
  const ModuleTree tree = model.Trees().forward;
  const Module& linear = Find(tree, "nn.Module: Linear_1");
  ASSERT_EQ(linear.ops.size(), 1u);
  EXPECT_EQ(model.rank.trace.strings.View(model.rank.trace.host_ops.name[linear.ops[0].op]),
            "addmm");
  EXPECT_EQ(linear.ops[0].Time().whole, 15);
}

TEST(ModuleTree, KnowsTheThreadsApart) {
  Model model;
  const std::int32_t other = model.rank.Thread(2);
  model.rank.Op("mm", 15, 20, other);  // at the time of Linear_0
  model.rank.LaunchedKernel(15, other, 1000);
  EXPECT_EQ(Find(model.Trees().forward, "nn.Module: Net_0").device_total.whole, 22);
}

TEST(ModuleTree, TiesBackwardOperatorsToTheModuleOfTheirForwardOperator) {
  Model model;
  const std::int32_t backward = model.rank.Thread(2);
  model.rank.Op("MmBackward0", 200, 230, backward);
  model.rank.Op("mm", 205, 225, backward);
  model.rank.LaunchedKernel(205, backward, 9);
  model.rank.trace.backward_links.Append({12, model.thread, 200, backward});
  const ModuleTree tree = model.Trees().backward;
  ASSERT_EQ(tree.modules.size(), 1u);
  const Module& module = tree.modules[0];
  EXPECT_EQ(module.full_name, "/[ BACKWARD ]/nn.Module: Net_0/nn.Module: Linear_0");
  EXPECT_EQ(module.device_total.whole, 9);
  ASSERT_EQ(module.ops.size(), 1u);
  EXPECT_EQ(module.ops[0].Time().whole, 9);
}

TEST(ModuleTree, HasTheOptimizerAsAModule) {
  Model model;
  model.rank.Op("Optimizer.step#SGD.step", 300, 400, model.thread);
  model.rank.Op("aten::_foreach_add_", 310, 320, model.thread);
  model.rank.LaunchedKernel(310, model.thread, 3);
  const ModuleTree tree = model.Trees().forward;
  const Module& optimizer = Find(tree, "Optimizer.step#SGD.step");
  EXPECT_EQ(optimizer.device_total.whole, 3);
  EXPECT_EQ(optimizer.ops.size(), 1u);
}

TEST(ModuleTree, NamesTheFunctionsAroundAModule) {
  Model model;
  model.Module("main.py(1): main", -20, 200);
  model.Module("net.py(7): forward", 5, 95);  // within Net_0
  const ModuleTree tree = model.Trees().forward;
  EXPECT_EQ(Find(tree, "nn.Module: Net_0").call_stack, "main.py(1): main");
  EXPECT_EQ(Find(tree, "nn.Module: Linear_0").call_stack, "main.py(1): main;\nnet.py(7): forward");
}

TEST(ModuleTree, NamesTheModulesAroundWhereNoFunctionIsKnown) {
  EXPECT_EQ(Find(Model().Trees().forward, "nn.Module: Linear_0").call_stack,
            "nn.Module: Net_0;\nnn.Module: Linear_0");
}

TEST(ModuleTree, CutsCallStacksThatNoPythonHas) {
  Model model;
  for (int i = 0; i < 1500; ++i) model.Module("f.py(1): f", -2000 + i, 4000 - i);
  const std::string stack = Find(model.Trees().forward, "nn.Module: Net_0").call_stack;
  EXPECT_EQ(std::count(stack.begin(), stack.end(), '\n'), 1000);
  EXPECT_TRUE(stack.ends_with("f.py(1): f;\n..."));
  model.Module(std::string(40'000, 'x'), -3000, 5000);
  EXPECT_EQ(Find(model.Trees().forward, "nn.Module: Net_0").call_stack, "...");
}

TEST(ModuleTree, TellsOfModulesThatLieTooDeep) {
  for (const int levels : {256, 257}) {
    Model model;
    for (int i = 1; i < levels - 1; ++i) model.Module("nn.Module: A_0", -i, 100 + i);
    const ModuleTree tree = model.Trees().forward;  // Linear_0 and Linear_1 are the innermost
    EXPECT_EQ(tree.too_deep, levels == 257);
  }
}

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
