// SPDX-License-Identifier: Apache-2.0
// Modules: whose operators and kernels are whose.
#include "mpa/measure/module_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/module_model.h"

namespace mpa {
namespace {

using Model = test::ModuleModel;

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

// The module is over before the operator: what it launched meanwhile is work of the module, but the
// operator is none of its operators. Nor is the next module within the one that it outlives.
TEST(ModuleTree, DoesNotHoldWhatOutlivesIt) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Call("nn.Module: A_0", 0, 100'000, thread);
  rank.Call("nn.Module: B_0", 80'000, 200'000, thread);
  rank.Op("aten::within", 10'000, 60'000, thread);
  rank.LaunchedKernel(20'000, thread, 5);
  rank.Op("aten::late", 70'000, 120'000, thread);
  rank.LaunchedKernel(75'000, thread, 3);
  rank.LaunchedKernel(110'000, thread, 7);
  const ModuleTree tree = BuildModuleTrees(OpTree(rank.trace)).forward;
  const Module& a = Find(tree, "nn.Module: A_0");
  EXPECT_TRUE(a.children.empty());
  ASSERT_EQ(a.ops.size(), 1u);
  EXPECT_EQ(a.ops[0].Time().whole, 5);
  EXPECT_EQ(a.device_total.whole, 5 + 3);
  EXPECT_EQ(Find(tree, "nn.Module: B_0").device_total.whole, 7);
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
  const std::string stack(Find(model.Trees().forward, "nn.Module: Net_0").call_stack);
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

}  // namespace
}  // namespace mpa
