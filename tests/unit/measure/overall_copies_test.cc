// SPDX-License-Identifier: Apache-2.0
// The overall picture of a rank: copies, and the times of GPUs.
#include <gtest/gtest.h>

#include "mpa/measure/overall_metrics.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

void KernelOn(RankBuilder& rank, std::int64_t stream) {
  rank.trace.kernels.stream.at(rank.KernelAt(0, 10)) = stream;
}

TEST(NpuCopies, CountsThoseOnComputeStreamsOnly) {
  RankBuilder rank;
  KernelOn(rank, 7);
  rank.Task("SDMA_SQE", 10, 15, 7);
  rank.Task("PCIE_DMA_SQE", 20, 22, 7);
  rank.Task("SDMA_SQE", 10, 90, 8);
  rank.Task("NOTIFY_WAIT_SQE", 30, 60, 7);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.sdma.time, 7);
  EXPECT_EQ(metrics.sdma.count, 2);
}

TEST(NpuCopies, TakesFromTheFreeTimeWhatLiesInIt) {
  RankBuilder rank;
  KernelOn(rank, 7);                     // 0..10
  rank.Task("SDMA_SQE", 5, 15, 7);       // 10..15 is free
  rank.Task("PCIE_DMA_SQE", 12, 18, 7);  // together with the other 10..18
  rank.Collective(rank.Group("g"), 30, 50);
  rank.Task("SDMA_SQE", 30, 45, 7);  // beside communication
  rank.Collective(rank.Group("g"), 60, 80, "kernel_aivec");
  rank.Task("SDMA_SQE", 55, 65, 7);  // 55..60
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.sdma.time, 41);
  EXPECT_EQ(metrics.sdma_in_free, 13);
}

TEST(NpuCopies, TakesThemFromAllFreeTimeWhateverTheOverlapAnalysisLacks) {
  RankBuilder rank;
  KernelOn(rank, 7);
  rank.Overlap(Activity::kComputing, 0, 10);
  rank.Overlap(Activity::kFree, 10, 40);
  rank.Task("SDMA_SQE", 5, 15, 7);
  rank.Task("SDMA_SQE", 35, 50, 7);  // an older exporter: the analysis ends at 40
  EXPECT_EQ(ComputeOverall(rank.trace).sdma_in_free, 20);
  EXPECT_EQ(ComputeOverall(rank.trace, {}, /*compat=*/true).sdma_in_free, 10);
}

TEST(NpuCopies, CountsOnlyStreamsThatWaitForEventsIfAnyDoes) {
  RankBuilder rank;
  KernelOn(rank, 7);
  KernelOn(rank, 8);
  rank.Task("SDMA_SQE", 10, 15, 7);
  rank.Task("SDMA_SQE", 10, 12, 8);
  EXPECT_EQ(ComputeOverall(rank.trace).sdma.time, 7);
  rank.Task("EVENT_WAIT_SQE", 20, 21, 8);
  EXPECT_EQ(ComputeOverall(rank.trace).sdma.time, 2);
  rank.Task("EVENT_WAIT_SQE", 20, 21, 7);
  EXPECT_EQ(ComputeOverall(rank.trace).sdma.time, 7);
}

TEST(NpuCopies, CountsNoneWhenOnlyOtherStreamsWait) {
  RankBuilder rank;
  KernelOn(rank, 7);
  rank.Task("SDMA_SQE", 10, 15, 7);
  rank.Task("EVENT_WAIT_SQE", 20, 21, 99);
  EXPECT_EQ(ComputeOverall(rank.trace).sdma.count, 0);
}

TEST(NpuCopies, FindsComputeStreamsByTheTypesOfTasksWhereKernelsNameNone) {
  RankBuilder rank;
  KernelOn(rank, -1);
  rank.Task("AI_CORE", 0, 10, 7);
  rank.Task("SDMA_SQE", 10, 15, 7);
  rank.Task("SDMA_SQE", 10, 90, 8);
  EXPECT_EQ(ComputeOverall(rank.trace).sdma.time, 5);
}

TEST(GpuCopies, CountsOnlyTheTimeInWhichTheGpuDidNothingElse) {
  RankBuilder rank(DeviceKind::kGpu);
  rank.KernelAt(0, 100, "volta_sgemm");
  rank.Collective(-1, 120, 150, "ncclKernel_AllReduce");
  rank.Task("gpu_memcpy", 90, 110, 7,
            "Memcpy HtoD (Pageable -> Device)");            // 10 beside the kernel, 10 alone
  rank.Task("gpu_memset", 140, 160, 7, "Memset (Device)");  // 10 beside NCCL, 10 alone
  rank.Task("gpu_memcpy", 155, 165, 8, "Memcpy DtoD");      // 5 of them beside the memset
  rank.Task("gpu_memcpy", 300, 400, 8, "something else");
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.sdma.time, 125);  // 100..110, 150..165 and, whatever its name, 300..400
  EXPECT_EQ(metrics.sdma.count, 4);
}

TEST(GpuTimes, HidesCommunicationBehindKernels) {
  RankBuilder rank(DeviceKind::kGpu);
  rank.KernelAt(0, 100);
  rank.Collective(-1, 50, 170, "ncclKernel_AllReduce");
  rank.KernelAt(150, 160);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_EQ(metrics.computing, 110);
  EXPECT_EQ(metrics.exposed_communication, 60);  // 100..150 and 160..170
  EXPECT_EQ(metrics.e2e, 170);
  EXPECT_TRUE(metrics.has_categories);
  EXPECT_FALSE(metrics.has_waits);
}

}  // namespace
}  // namespace mpa
