// SPDX-License-Identifier: Apache-2.0
// Captures without steps, which may hold the start of the program.
#include <gtest/gtest.h>

#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part/part_facts.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"

namespace mpa {
namespace {

void Launch(std::string_view type, TimeNs host, PartBuilder& builder,
            TimeCategory category = TimeCategory::kDispatchOp) {
  builder.Host(category, host);
  builder.Part().graph.nodes.back().kind = NodeKind::kLaunch;
  builder.Kernel(type, 100 * kUs);
}

// Ten launches of 10 us, after those that load libraries and code: 50 ms before the first of all
// and 30 ms before the first of another kind. At last 20 ms before a kernel like the first.
RankDiagnosis Starts(TimeCategory category) {
  PartBuilder builder;
  builder.Step();
  Launch("gemm", 50 * kMs, builder, category);
  Launch("softmax", 30 * kMs, builder, category);
  for (int i = 0; i < 10; ++i) Launch("gemm", 10 * kUs, builder);
  Launch("gemm", 20 * kMs, builder, category);
  builder.Part().steps[0].id = -1;
  builder.Part().has_calls = false;
  RankDiagnosis part = builder.Build();
  MarkStartUp(part);
  return part;
}

MPA_REFUTES(StartUp, IsUpToTheFirstLaunchOfAKind, "host.compile");
TEST(StartUp, IsUpToTheFirstLaunchOfAKind) {
  const RankDiagnosis part = Starts(TimeCategory::kDispatchOp);
  std::vector<TimeNs> starts;
  for (const HostShare& share : part.shares) {
    if (share.starts_up) starts.push_back(share.time);
  }
  EXPECT_EQ(starts, (std::vector<TimeNs>{50 * kMs, 30 * kMs}));
}

TEST(StartUp, IsNoStall) {
  const Diagnosis diagnosis = DiagnoseJob({Starts(TimeCategory::kDispatchOp)});
  const Finding* found = FindingWith(diagnosis, "host.launch_bound/stalls");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 20 * kMs - 10 * kUs);
}

TEST(StartUp, AllocatesAnyhow) {
  const Diagnosis diagnosis = DiagnoseJob({Starts(TimeCategory::kMemory)});
  const Finding* found = FindingWith(diagnosis, "host.memory");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 20 * kMs);
}

MPA_REFUTES(StartUp, TellsNoHabit, "capture.warmup");
TEST(StartUp, TellsNoHabit) {
  const Diagnosis diagnosis = DiagnoseJob({Starts(TimeCategory::kDispatchOp)});
  const Finding* found = FindingWith(diagnosis, "capture.warmup");
  ASSERT_NE(found, nullptr);
  // 80 of 100 ms before three kernels, and 13 kernels of 100 us and 10 launches of 10 us.
  EXPECT_NEAR(MetricIn(*found, "start_up"), 80 / 101.4, 1e-9);
}

}  // namespace
}  // namespace mpa
