// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include "mpa/measure/call_paths.h"

#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa {
namespace {

std::string PathOf(CallPaths& paths, std::int32_t node) {
  return PathText(paths.tree().tree(), node);
}

TEST(CallPaths, FunctionsAndOperatorsAreFramesStepsAreNot) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Op("ProfilerStep#3", 0, 100, thread);
  rank.Call("train.py(90): step", 5, 95, thread);
  rank.Op("aten::linear", 10, 50, thread);
  rank.Call("nn.py(3): hook", 20, 40, thread);
  rank.Op("aten::mm", 25, 35, thread);
  CallPaths paths(rank.trace);
  EXPECT_EQ(PathOf(paths, paths.OfOp(2)),
            "train.py(90): step;aten::linear;nn.py(3): hook;aten::mm");
  EXPECT_EQ(PathOf(paths, paths.At(thread, 60)), "train.py(90): step");
  EXPECT_EQ(paths.At(thread, 2), CallPaths::kNone);
  EXPECT_EQ(paths.At(rank.Thread(2), 60), CallPaths::kNone);
}

TEST(CallPaths, StacksStandForFunctionsThatAreNotRecorded) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  const auto add = [&](const char* name, TimeNs begin, TimeNs end, const char* stack) {
    rank.Op(name, begin, end, thread);
    rank.trace.host_ops.stack.Stored().back() = rank.Text(stack);
  };
  add("Optimizer.step", 0, 100, "train.py(90): step;\r\n<frozen>(1): main");
  add("aten::add_", 10, 20, "sgd.py(7): update;\r\ntrain.py(90): step;\r\n<frozen>(1): main");
  add("aten::mul_", 12, 18, "N/A");
  CallPaths paths(rank.trace);
  EXPECT_EQ(PathOf(paths, paths.OfOp(2)),
            "<frozen>(1): main;train.py(90): step;Optimizer.step;sgd.py(7): update;aten::add_;"
            "aten::mul_");
  // A function that is recorded says the same; a module does not.
  rank.Call("nn.Module: Net_0", 5, 50, thread);
  CallPaths with_module(rank.trace);
  EXPECT_EQ(PathOf(with_module, with_module.OfOp(1)),
            "<frozen>(1): main;train.py(90): step;Optimizer.step;nn.Module: Net_0;"
            "sgd.py(7): update;aten::add_");
  rank.Call("sgd.py(5): update", 6, 49, thread);
  CallPaths with_function(rank.trace);
  EXPECT_EQ(PathOf(with_function, with_function.OfOp(1)),
            "<frozen>(1): main;train.py(90): step;Optimizer.step;nn.Module: Net_0;"
            "sgd.py(5): update;aten::add_");
}

// From 0 to 100: nothing until 10 and from 60 to 70.
TEST(HostPaths, AddUpToTheSpanOfAThread) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1), backward = rank.Thread(2), idle = rank.Thread(3);
  rank.Op("ProfilerStep#3", 0, 100, main);
  rank.Call("train.py(90): step", 10, 60, main);
  rank.Op("aten::item", 20, 50, main);
  rank.trace.host_calls.Append({.start = 30,
                                .dur = 15,
                                .name = rank.Text("AscendCL@aclrtSynchronizeStream"),
                                .track = main});
  rank.Op("aten::add", 70, 100, main);
  rank.Op("aten::mm", 40, 47, backward);
  rank.Op("aten::mm", 50, 53, backward);
  rank.Op("aten::from_loader", 0, 100, idle);
  rank.Launch(1, 70, main);
  rank.Launch(2, 40, backward);
  const PathTree tree = HostPaths(rank.trace);
  EXPECT_EQ(FoldedStacks(tree),
            "[main thread];[nothing recorded] 20\n"
            "[main thread];aten::add 30\n"
            "[main thread];train.py(90): step 20\n"
            "[main thread];train.py(90): step;aten::item 15\n"
            "[main thread];train.py(90): step;aten::item;aclrtSynchronizeStream 15\n"
            "[thread 2];[nothing recorded] 3\n"
            "[thread 2];aten::mm 10\n");
  EXPECT_EQ(tree.Total(), 100 + 13);
}

// What ends behind the span in which it begins is not within it.
TEST(HostPaths, NoTimeCountsTwice) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Call("a.py(1): f", 0, 50'000, thread);
  rank.Op("aten::late", 40'000, 60'000, thread);
  rank.Op("aten::next", 55'000, 80'000, thread);
  EXPECT_EQ(FoldedStacks(HostPaths(rank.trace)),
            "[main thread];a.py(1): f 40000\n"
            "[main thread];aten::late 15000\n"
            "[main thread];aten::next 25000\n");
}

// A broken capture in which every operator overlaps the next: text must not grow with the square.
TEST(HostPaths, DepthIsBounded) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  constexpr TimeNs kOps = 20'000;
  for (TimeNs i = 0; i < kOps; ++i) rank.Op("op", i, kOps + i, thread);
  const PathTree tree = HostPaths(rank.trace);
  EXPECT_LT(tree.nodes.size(), 1000u);
  EXPECT_EQ(tree.Total(), 2 * kOps - 1);
}

}  // namespace
}  // namespace mpa
