// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include "recipes/export_stacks/stacks.h"

#include <gtest/gtest.h>

#include <tuple>

#include "mpa/measure/accounting.h"
#include "support/rank_builder.h"

namespace mpa::recipes::export_stacks {
namespace {

// A step of 100 us. A kernel of aten::mm until 20, a copy until 25, a collective from 40 that a
// kernel hides until 50; then until 60 the collective alone. A kernel nobody launched from 70 to
// 90. The host: aten::item blocks from 10 to 60.
class Stacks : public ::testing::Test {
 protected:
  Stacks() {
    thread_ = rank_.Thread(1);
    rank_.Step(7, 0, 100'000);
    rank_.Op("ProfilerStep#7", 0, 100'000, thread_);
    rank_.Call("/home/me/train.py(90): step", 0, 100'000, thread_);
    rank_.Op("aten::mm", 1'000, 5'000, thread_);
    rank_.Op("c10d::allreduce_", 6'000, 8'000, thread_);
    rank_.Op("aten::item", 10'000, 60'000, thread_);
    rank_.trace.host_calls.Append({.start = 11'000,
                                   .dur = 48'000,
                                   .name = rank_.Text("AscendCL@aclrtSynchronizeStream"),
                                   .track = thread_});
    rank_.trace.host_calls.Append({.start = 65'000,
                                   .dur = 5'000,
                                   .name = rank_.Text("Node@launch"),
                                   .track = thread_,
                                   .connection = 5});
    for (const auto& [link, time] : {std::pair{1, 1'000}, {2, 6'000}, {3, 10'000}})
      rank_.Launch(link, time, thread_);
    Kernel(5'000, 20'000, "MatMulV2", 1);
    Kernel(30'000, 50'000, "Add", 3);
    rank_.Task("MEMCPY_ASYNC", 20'000, 25'000, 1, "MEMCPY_ASYNC");
    rank_.Collective(rank_.Group("g"), 40'000, 60'000);
    rank_.trace.communications.link.back() = 2;
    rank_.KernelAt(70'000, 90'000, "Nobody");
    rank_.Task("KERNEL_AIVEC", 70'000, 90'000, 2);
    rank_.trace.device_tasks.connection.back() = 5;
  }

  void Kernel(TimeNs begin, TimeNs end, const char* name, std::int64_t link) {
    rank_.KernelAt(begin, end, name);
    rank_.trace.kernels.link.back() = link;
  }

  TimeNs Account(bool (*belongs)(TimeCategory)) const {
    TimeNs sum = 0;
    for (const StepAccount& step : AccountRank(rank_.trace).steps)
      sum += step.categories.SumOf(belongs);
    return sum;
  }

  test::RankBuilder rank_;
  std::int32_t thread_ = -1;
};

TEST_F(Stacks, DeviceWorkIsOfThePathThatLaunchedIt) {
  const PathTree tree = StacksOf(rank_.trace, Metric::kDevice);
  // The last kernel has a call of the runtime alone, which says when which thread asked for it.
  EXPECT_EQ(FoldedStacks(tree),
            "/home/me/train.py(90): step;Nobody 20000\n"
            "/home/me/train.py(90): step;aten::item;Add 20000\n"
            "/home/me/train.py(90): step;aten::mm;MatMulV2 15000\n"
            "/home/me/train.py(90): step;c10d::allreduce_;hcom_allReduce_;[comm.unsplit] 10000\n"
            "[launch unknown];MEMCPY_ASYNC;[copy.h2d] 5000\n");
  EXPECT_EQ(tree.Total(), Account([](TimeCategory leaf) { return !IsFree(leaf); }));
}

TEST_F(Stacks, WorkOfAnUnknownLaunchHasAFrame) {
  rank_.trace.launches = {};
  rank_.trace.host_calls = {};
  const PathTree tree = StacksOf(rank_.trace, Metric::kDevice);
  for (const std::int32_t node : OrderByText(tree))
    EXPECT_TRUE(PathText(tree, node).starts_with("[launch unknown];")) << PathText(tree, node);
  EXPECT_EQ(tree.Total(), Account([](TimeCategory leaf) { return !IsFree(leaf); }));
}

// Work that another kernel interrupts is one piece of work.
TEST_F(Stacks, InterruptedWorkCountsOnce) {
  Kernel(52'000, 54'000, "Mul", 3);
  const PathTree tree = StacksOf(rank_.trace, Metric::kDevice);
  std::int64_t counted = 0;
  for (const PathNode& node : tree.nodes) {
    if (tree.frames[static_cast<std::size_t>(node.frame)] != "[comm.unsplit]") continue;
    EXPECT_EQ(node.time, 8'000);
    counted = node.count;
  }
  EXPECT_EQ(counted, 1);
}

// Free: 0-5, 25-30, 60-70, 90-100. Who launched the last kernel is known: until 65 Python, then the
// launch.
TEST_F(Stacks, FreeTimeIsOfWhatTheHostDid) {
  const PathTree tree = StacksOf(rank_.trace, Metric::kFree);
  EXPECT_EQ(tree.Total(), Account(IsFree));
  EXPECT_EQ(tree.Total(), 30'000);
  const std::string text = FoldedStacks(tree);
  EXPECT_NE(text.find("/home/me/train.py(90): step;launch;[free.dispatch.cann] 5000\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("/home/me/train.py(90): step;[free.python] "), std::string::npos) << text;
}

// As torch_npu has it: aten::linear (10 us) holds aten::addmm (4 us), which launches 15 and 20 us
// at once; the operator without a stack is left out.
TEST(OperatorStacks, OwnTimesByTheCallStack) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1), backward = rank.Thread(2);
  const auto op = [&](const char* name, TimeNs begin, TimeNs end, std::int32_t track,
                      const char* stack) {
    rank.Op(name, begin, end, track);
    rank.trace.host_ops.stack.Stored().back() = rank.Text(stack);
  };
  op("aten::linear", 0, 10'000, thread, "model.py(7): forward;\r\ntrain.py(90): step");
  op("aten::addmm", 2'000, 6'000, thread, "model.py(7): forward;\r\ntrain.py(90): step");
  op("aten::item", 20'000, 21'000, thread, "train.py(91): log");
  op("AddmmBackward0", 0, 50'000, backward, "N/A");
  for (const auto& [link, time, track] :
       {std::tuple{1, 3'000, thread}, {2, 4'000, thread}, {3, 100, backward}})
    rank.Launch(link, time, track);
  for (const auto& [link, begin, end] :
       {std::tuple{1, 5'000, 20'000}, {2, 10'000, 30'000}, {3, 30'000, 90'000}}) {
    rank.KernelAt(begin, end, "MatMulV2");
    rank.trace.kernels.link.back() = link;
  }
  EXPECT_EQ(FoldedStacks(StacksOf(rank.trace, Metric::kSelfCpu)),
            "train.py(90): step;model.py(7): forward 10000\n"
            "train.py(91): log 1000\n");
  EXPECT_EQ(FoldedStacks(StacksOf(rank.trace, Metric::kSelfNpu)),
            "train.py(90): step;model.py(7): forward 35000\n");
}

}  // namespace
}  // namespace mpa::recipes::export_stacks
