// SPDX-License-Identifier: Apache-2.0
// The overall picture of a rank: computing, communication, free time, copies.
#include <gtest/gtest.h>

#include <random>

#include "mpa/measure/overall_metrics.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

TEST(Overall, TakesTheProfilersOwnOverlapAnalysisWhereThatIsAll) {
  RankBuilder rank;
  rank.Overlap(Activity::kComputing, 100, 130);
  rank.Overlap(Activity::kCommunication, 110, 150);
  rank.Overlap(Activity::kExposedCommunication, 130, 150);
  rank.Overlap(Activity::kFree, 150, 200);
  rank.Overlap(Activity::kComputing, 200, 210);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.computing, 40);
  EXPECT_EQ(metrics.exposed_communication, 20);
  EXPECT_EQ(metrics.e2e, 110);
  EXPECT_EQ(metrics.free, 50);
}

TEST(Overall, WorksTheTimesOutFromKernelsAndCollectivesOtherwise) {
  RankBuilder rank;
  const std::int32_t group = rank.Group("g");
  rank.KernelAt(100, 130);
  rank.KernelAt(120, 140);
  rank.Collective(group, 130, 160);
  rank.Collective(group, 150, 170);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.computing, 40);              // 100..140
  EXPECT_EQ(metrics.exposed_communication, 30);  // 140..170
  EXPECT_EQ(metrics.e2e, 70);
  EXPECT_EQ(metrics.free, 0);
}

TEST(Overall, LastsFromTheFirstToTheLastDeviceTaskOfAnyKind) {
  RankBuilder rank;
  rank.KernelAt(100, 130);
  rank.Collective(rank.Group("g"), 120, 145);
  rank.Task("EVENT_WAIT_SQE", 90, 95, 7);
  rank.Task("", 140, 152, 7);
  rank.Task("SDMA_SQE", 140, 150, 7);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.e2e, 62);   // 90..152
  EXPECT_EQ(metrics.free, 17);  // 90..100 and 145..152
}

TEST(Overall, DoesNotLastForTasksThatFrameTheCollectionOrStandForKernels) {
  RankBuilder rank;
  rank.Task("EVENT_WAIT_SQE", 90, 95, 7);
  rank.Task("KERNEL_AICORE", 0, 10, 7);
  rank.Task("PROFILING_ENABLE", 1, 2, 7);
  rank.Task("PLACE_HOLDER_SQE", 1, 2, 7, "PROFILING_ENABLE");
  rank.Task("SDMA_SQE", 140, 150, 7);
  rank.Task("", 60, 130, 7, "forward");  // the time of a range of the program, in a text capture
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.e2e, 60);  // 90..150
  EXPECT_EQ(metrics.free, 60);
}

TEST(Overall, TakesTheFreeTimeAtBothEndsOfTheOverlapAnalysis) {
  RankBuilder rank;
  rank.Task("SDMA_SQE", 40, 60, 7);
  rank.Overlap(Activity::kFree, 40, 100);
  rank.Overlap(Activity::kComputing, 100, 130);
  rank.Overlap(Activity::kFree, 130, 150);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.e2e, 110);
  EXPECT_EQ(metrics.free, 80);
}

TEST(Overall, HasWhatTheOverlapAnalysisOfAnOlderExporterLeavesOut) {
  RankBuilder rank;
  rank.Task("SDMA_SQE", 40, 60, 7);
  rank.KernelAt(100, 130);
  rank.Overlap(Activity::kComputing, 100, 130);
  rank.Task("EVENT_WAIT_SQE", 140, 145, 7);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.e2e, 105);
  EXPECT_EQ(metrics.free, 75);
  const OverallMetrics compat = ComputeOverall(rank.trace, {}, /*compat=*/true);
  EXPECT_EQ(compat.e2e, 30);
  EXPECT_EQ(compat.free, 0);
}

TEST(Overall, TakesTheTimesOfOneStepFromItsOwnWork) {
  RankBuilder rank;
  rank.Overlap(Activity::kExposedCommunication, 0, 50);  // reaches in from the step before
  rank.Overlap(Activity::kComputing, 100, 130);
  rank.KernelAt(100, 130);
  rank.Task("SDMA_SQE", 90, 95, 7);
  rank.trace.is_one_step = true;
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.e2e, 40);
  EXPECT_EQ(metrics.exposed_communication, 0);
  EXPECT_EQ(metrics.free, 10);
}

TEST(Overall, TakesTheOverlapAnalysisOfOneStepWithoutKernels) {
  RankBuilder rank;
  rank.Overlap(Activity::kComputing, 100, 130);
  rank.Task("SDMA_SQE", 90, 95, 7);
  rank.trace.is_one_step = true;
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.computing, 30);
  EXPECT_EQ(metrics.e2e, 40);
}

TEST(Overall, AccountsForAllOfTheTime) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned count) { return static_cast<TimeNs>(random() % count); };
    RankBuilder rank(seed % 4 == 0 ? DeviceKind::kGpu : DeviceKind::kNpu);
    const std::int32_t group = rank.Group("g");
    for (int i = 0; i < 20; ++i) {
      const TimeNs start = below(1000);
      rank.KernelAt(start, start + below(50));
      rank.Collective(group, start + below(50), start + 50 + below(50),
                      i % 5 == 0 ? "kernel_aivec" : "hcom_x_1");
      rank.Task("SDMA_SQE", start, start + below(9), 7);
    }
    const OverallMetrics metrics = ComputeOverall(rank.trace);
    ASSERT_EQ(metrics.computing + metrics.exposed_communication + metrics.lccl.time + metrics.free,
              metrics.e2e);
    ASSERT_GT(metrics.computing, 0);
    ASSERT_GE(metrics.e2e, metrics.computing + metrics.exposed_communication) << "seed " << seed;
  }
}

TEST(Overall, IsZeroForARankWithoutDeviceActivity) {
  const OverallMetrics metrics = ComputeOverall(RankTrace());
  EXPECT_EQ(metrics.e2e, 0);
  EXPECT_EQ(metrics.free, 0);
  EXPECT_FALSE(metrics.has_categories);
  EXPECT_FALSE(metrics.has_waits);
}

TEST(Overall, CountsLcclKernelsAsTheirOwnPart) {
  RankBuilder rank;
  rank.KernelAt(0, 10);
  rank.Collective(rank.Group("g"), 20, 50, "Kernel_AIVec");
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.lccl.time, 30);
  EXPECT_EQ(metrics.lccl.count, 1);
  EXPECT_EQ(metrics.exposed_communication, 0);
  EXPECT_EQ(metrics.free, 10);
}

TEST(Overall, SumsCategoriesByTimeAndCount) {
  RankBuilder rank;
  const auto add = [&](const char* type, const char* core, TimeNs dur) {
    rank.trace.kernels.dur.at(rank.Kernel("k", type, core)) = dur;
  };
  add("MatMul", "AI_CORE", 10);
  add("BatchMatMul", "AI_CORE", 20);
  add("Add", "AI_VECTOR_CORE", 5);
  add("Unknown", "", 3);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_TRUE(metrics.has_categories);
  EXPECT_EQ(metrics.Family(Category::kMatmulCube).time, 30);
  EXPECT_EQ(metrics.Family(Category::kMatmulCube).count, 2);
  EXPECT_EQ(metrics.Vector().time, 5);
  EXPECT_EQ(metrics.KernelCount(), 3);  // a kernel of unknown kind is no part of any category
}

TEST(Overall, TellsNoCategoriesWhereNoKernelSaysItsCore) {
  RankBuilder rank;
  rank.Kernel("k", "MatMul", "");
  EXPECT_FALSE(ComputeOverall(rank.trace).has_categories);
}

TEST(Overall, TellsNoCategoriesWhereHalfOfTheKernelsDoNotSayTheirCore) {
  RankBuilder rank;
  rank.Kernel("k", "MatMul", "AI_CORE");
  rank.Kernel("k", "MatMul", "");
  EXPECT_FALSE(ComputeOverall(rank.trace).has_categories);
  rank.Kernel("k", "MatMul", "AI_CORE");
  EXPECT_TRUE(ComputeOverall(rank.trace).has_categories);
}

TEST(Overall, CallsComputingThatNoCategoryHoldsOther) {
  RankBuilder rank;
  rank.Kernel("k", "MatMul", "AI_CORE");
  rank.Kernel("k", "x", "AI_CORE");
  rank.Kernel("k", "x", "");
  rank.trace.kernels.start = {0, 60, 60};
  rank.trace.kernels.dur = {60, 0, 40};
  EXPECT_EQ(ComputeOverall(rank.trace).Other(), 40);
  rank.trace.kernels.dur[0] = 160;
  EXPECT_EQ(ComputeOverall(rank.trace).Other(), 0);  // never negative
}

TEST(Overall, SplitsFusedKernelsIntoComputingAndCommunication) {
  RankBuilder rank;
  const std::size_t row = rank.KernelAt(100, 200, "AllGatherMatmul");
  rank.trace.kernels.aic_mac.Stored()[row] = 30;
  rank.trace.kernels.aic_mte2.Stored()[row] = 40;
  rank.trace.kernels.aiv_total.Stored()[row] = 5;
  // By their ends: 99 is before the kernel; 110 and 130 are a pair, 150 and 180 another; 190 is
  // alone.
  for (const TimeNs end : {99, 180, 110, 150, 130, 190}) rank.Task("C_CORE_SQE", end - 2, end, 9);
  rank.Task("", 100, 120, 9, "OTHER_SQE");
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  ASSERT_EQ(metrics.mc2.size(), 1u);
  EXPECT_EQ(metrics.mc2[0].name, "AllGatherMatmul");
  EXPECT_EQ(metrics.mc2[0].total.time, 100);
  EXPECT_EQ(metrics.mc2[0].total.count, 1);
  EXPECT_EQ(metrics.mc2[0].computing, 45);      // max(30, 40) + 5
  EXPECT_EQ(metrics.mc2[0].communication, 50);  // 20 + 30
  EXPECT_EQ(metrics.KernelCount(), 0);
}

TEST(Overall, FindsThePairsOfFusedKernelsByNameInTextCaptures) {
  RankBuilder rank;
  rank.trace.kernels.aic_mac.Stored()[rank.KernelAt(100, 200, "MatmulAllReduce")] = 1;
  for (const TimeNs end : {110, 130}) rank.Task("", end - 2, end, 9, "C_CORE_SQE");
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  ASSERT_EQ(metrics.mc2.size(), 1u);
  EXPECT_EQ(metrics.mc2[0].communication, 20);
}

TEST(Overall, ListsFusedKernelsInTheOrderOfTheirLaunches) {
  RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Launch(1, 20, thread);
  rank.Launch(2, 10, thread);
  for (const char* name : {"MatmulAllReduce", "AllGatherMatmul"}) {
    const std::size_t row = rank.KernelAt(100, 200, name);
    rank.trace.kernels.aic_mac.Stored()[row] = 1;
    rank.trace.kernels.link[row] = static_cast<std::int64_t>(row) + 1;
  }
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  ASSERT_EQ(metrics.mc2.size(), 2u);
  EXPECT_EQ(metrics.mc2[0].name, "AllGatherMatmul");
}

TEST(Overall, TakesTheLargestReservedMemoryAndAddsUpTraffic) {
  RankBuilder rank;
  for (const std::int64_t bytes : {5, 9, 7})
    rank.trace.memory_samples.Append({.reserved_bytes = bytes});
  rank.trace.transfers.Append({.transport = Transport::kRdma, .bytes = 300, .time = 100});
  rank.trace.transfers.Append({.transport = Transport::kRdma, .bytes = 300, .time = 200});
  rank.trace.transfers.Append({.transport = Transport::kSdma, .bytes = 50, .time = 0});
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.peak_memory_bytes, 9);
  EXPECT_DOUBLE_EQ(metrics.rdma_traffic.GigabytesPerSecond(), 2.0);
  EXPECT_EQ(metrics.sdma_traffic.bytes, 50);
  EXPECT_EQ(metrics.sdma_traffic.GigabytesPerSecond(), 0.0);
}

TEST(Overall, TellsTheMemoryOfAllocatorsFromThatOfTheProcess) {
  RankBuilder rank;
  const auto add = [&](RankBuilder& to, std::string_view component, TimeNs time,
                       std::int64_t bytes) {
    to.trace.memory_samples.Append(
        {.time = time, .component = to.Text(component), .reserved_bytes = bytes});
  };
  add(rank, "APP", 1, 2000);
  EXPECT_EQ(ComputeOverall(rank.trace).peak_memory_bytes, -1) << "no allocator is known";
  for (const auto& [time, bytes] : {std::pair(10, 1000), std::pair(30, 1100), std::pair(40, 900)})
    add(rank, "PTA", time, bytes);
  for (const auto& [time, bytes] : {std::pair(20, 50), std::pair(40, 300)})
    add(rank, "GE", time, bytes);
  add(rank, "PTA+GE", 40, 1200);
  OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.peak_memory_bytes, 1200);  // 900 + 300, at 40; 1100 + 50 at 30
  EXPECT_EQ(metrics.process_memory_bytes, 2000);
  EXPECT_EQ(ComputeOverall(rank.trace, {}, /*compat=*/true).peak_memory_bytes, 2000);
  rank.trace.source = "database";  // MEMORY_RECORD has no rows of the process
  EXPECT_EQ(ComputeOverall(rank.trace, {}, /*compat=*/true).peak_memory_bytes, 1200);

  RankBuilder other;
  add(other, "PTA", 10, 1500);
  OverallMetrics of_other = ComputeOverall(other.trace);
  EXPECT_EQ(of_other.process_memory_bytes, -1);
  ShareAllocators(rank.trace, other.trace, metrics, of_other);
  EXPECT_EQ(metrics.peak_memory_bytes, 1100) << "of PTA, which both have";
  EXPECT_EQ(of_other.peak_memory_bytes, 1500);
  EXPECT_EQ(metrics.allocators, std::set<std::string>{"PTA"});
  EXPECT_TRUE(metrics.only_shared_allocators);
}

// The steps last from 0 to 500, the tasks from 100 to 400.
TEST(Overall, PartsBeforeAndBehindTheTasksLeadToTheSteps) {
  RankBuilder rank;
  rank.Step(1, 0, 250);
  rank.Step(2, 250, 500);
  rank.KernelAt(100, 150);
  rank.KernelAt(300, 400);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.e2e, 300);
  EXPECT_EQ(metrics.free, 150);
  EXPECT_EQ(metrics.steps, 2u);
  EXPECT_EQ(metrics.before_first, 100);
  EXPECT_EQ(metrics.behind_last, 100);
  EXPECT_EQ(metrics.step, 500);
}

// A task at -50 belongs to no step.
TEST(Overall, WorkOutsideTheStepsIsTakenOff) {
  RankBuilder rank;
  rank.Step(1, 0, 500);
  rank.KernelAt(-50, -20);
  rank.KernelAt(100, 400);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.e2e, 450);
  EXPECT_EQ(metrics.before_first, -50);
  EXPECT_EQ(metrics.behind_last, 100);
  EXPECT_EQ(metrics.step, 500);
}

TEST(Overall, WithoutStepsTheWorkIsTheStep) {
  RankBuilder rank;
  rank.KernelAt(100, 150);
  rank.KernelAt(300, 400);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.steps, 0u);
  EXPECT_EQ(metrics.step, 300);
  EXPECT_EQ(metrics.before_first, 0);
  EXPECT_EQ(metrics.behind_last, 0);
}

}  // namespace
}  // namespace mpa
