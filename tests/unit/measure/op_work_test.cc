// SPDX-License-Identifier: Apache-2.0
// Which operators launched which kernels.

#include <gtest/gtest.h>

#include "mpa/measure/op_tree.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

// One connection with these many launches, each by an operator of its own, and kernels.
RankTrace OneConnection(std::int64_t launches, std::int64_t kernels) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  for (std::int64_t i = 0; i < launches; ++i) {
    rank.Op("op", 10 * i, 10 * i + 5, thread);
    rank.Launch(7, 10 * i, thread);
  }
  for (std::int64_t i = 0; i < kernels; ++i) {
    rank.trace.kernels.Append({.start = i, .dur = 1, .link = 7});
  }
  return std::move(rank.trace);
}

TEST(OpWork, AKernelBelongsToTheLastOfSeveralLaunches) {
  const AllOpWork work = FindOpWork(OneConnection(2, 3));
  ASSERT_EQ(work.ops.size(), 1u);
  EXPECT_EQ(work.ops[0].op, 1u);
  EXPECT_EQ(work.ops[0].kernels.size(), 3u);
  EXPECT_TRUE(work.without_op.empty());
}

TEST(OpWork, TakesGraphsOfManyKernels) {
  const AllOpWork work = FindOpWork(OneConnection(1, 1'200'000));
  ASSERT_EQ(work.ops.size(), 1u);
  EXPECT_EQ(work.ops[0].kernels.size(), 1'200'000u);
}

// All launches with all kernels would be 9 million pairs.
TEST(OpWork, DoesNotMultiplyLaunchesByKernels) {
  const AllOpWork work = FindOpWork(OneConnection(3000, 3000));
  ASSERT_EQ(work.ops.size(), 1u);
  EXPECT_EQ(work.ops[0].kernels.size(), 3000u);
}

// The operators in the order of the capture with what they launched: names, times and rows.
using WorkOfOps = std::vector<std::vector<DeviceWork>>;

WorkOfOps OfComparison(const RankTrace& trace) {
  const OpTree tree(trace);
  WorkOfOps work(trace.host_ops.Size());
  for (std::size_t op = 0; op < work.size(); ++op) {
    for (const DeviceWork& piece : tree.Work(op)) work[op].push_back(piece);
  }
  return work;
}

WorkOfOps OfRecipes(const RankTrace& trace) {
  WorkOfOps work(trace.host_ops.Size());
  for (const OpWork& op : FindOpWork(trace).ops) work[op.op] = op.kernels;
  return work;
}

TEST(OpWork, IsThatOfTheComparison) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Op("outer", 100, 200, thread);
  rank.Op("inner", 100, 150, thread);  // begins with the outer one, in which both launch
  rank.Op("equal", 100, 150, thread);
  rank.LaunchedKernel(100, thread, 10, "of the innermost");
  rank.LaunchedKernel(150, thread, 10, "of the outer one, at the end of the others");
  rank.Op("next", 200, 300, thread);
  rank.LaunchedKernel(200, thread, 10, "of the next one");
  rank.LaunchedKernel(250, thread, 10, "launched twice");
  rank.Launch(rank.trace.kernels.link.back(), 160, thread);
  rank.Launch(90, 260, thread);
  for (const char* name : {"kernel_aivec", "aiv_all_reduce"}) {
    const TimeNs start = 1000 * static_cast<TimeNs>(rank.trace.kernels.Size());
    rank.trace.kernels.Append({.start = start, .dur = 9, .name = rank.Text(name), .link = 90});
    rank.trace.communications.Append(
        {.start = start, .dur = 10, .name = rank.Text("hcom_allReduce__1_0_1"), .link = 90});
  }
  const WorkOfOps work = OfRecipes(rank.trace);
  EXPECT_EQ(work, OfComparison(rank.trace));
  EXPECT_EQ(work[0].size(), 2u);  // with the second launch of the kernel that is launched twice
  EXPECT_TRUE(work[1].empty());
  EXPECT_EQ(work[2].size(), 1u);
  ASSERT_EQ(work[3].size(), 3u);
  for (const DeviceWork& collective : {work[3][1], work[3][2]}) {
    EXPECT_EQ(collective.dur, 10);
    EXPECT_GE(collective.kernel, 0);  // one piece of work with two rows
    EXPECT_EQ(NameOf(rank.trace, collective), "hcom_allReduce__1_0_1");
  }
}

// As in the Python tool: its comparison has no kernels that arrange collectives, its modules have
// no copies.
TEST(OpWork, OfModulesHasNoCopiesAndOfComparisonsNoScheduleKernels) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Op("op", 0, 100, thread);
  rank.Launch(1, 10, thread);
  rank.Launch(2, 20, thread);
  rank.trace.device_tasks.Append({.start = 5,
                                  .dur = 6,
                                  .name = rank.Text("MEMCPY_ASYNC"),
                                  .type = rank.Text("SDMA_SQE"),
                                  .link = 1});
  rank.trace.schedule_kernels.Append(
      {.start = 7, .dur = 8, .name = rank.Text("RunAicpuKfc"), .link = 2});
  const WorkOfOps of_modules = OfRecipes(rank.trace);
  ASSERT_EQ(of_modules[0].size(), 1u);
  EXPECT_EQ(of_modules[0][0].schedule, 0);
  const WorkOfOps of_comparison = OfComparison(rank.trace);
  ASSERT_EQ(of_comparison[0].size(), 1u);
  EXPECT_EQ(of_comparison[0][0].task, 0);
}

}  // namespace
}  // namespace mpa
