// SPDX-License-Identifier: Apache-2.0
// Hosts in system calls and at locks. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <utility>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

// In the second of three steps the host stands still for 30 ms before a kernel.
RankDiagnosis WithStall(TimeCategory category, TimeNs stall = 30 * kMs) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 10 * kMs);
    builder.Host(TimeCategory::kDispatchOp, 10 * kUs);
    if (step == 1) builder.Host(category, stall);
    builder.Kernel("MatMulV3", 10 * kMs);
  }
  RankDiagnosis part = builder.Build();
  part.knows_system_calls = part.knows_locks = true;
  return part;
}

TEST(SystemCallCauses, AStallIsTheTimeOfItsCall) {
  for (const auto& [category, key] : {std::pair{TimeCategory::kSystemCall, "host.system_call"},
                                      {TimeCategory::kLock, "host.lock"},
                                      {TimeCategory::kGil, "host.gil"}}) {
    const Diagnosis diagnosis = DiagnoseJob({WithStall(category)});
    const Finding* found = FindingWith(diagnosis, key);
    ASSERT_NE(found, nullptr) << key;
    EXPECT_EQ(found->gain, 10 * kMs) << "30 ms in three steps";
    EXPECT_EQ(MetricIn(*found, "time_per_step"), 10 * kMs);
    EXPECT_EQ(found->steps, std::vector<std::int32_t>{11});
    EXPECT_EQ(FindingWith(diagnosis, "host.launch_bound/stalls"), nullptr);
  }
}

// One of three ranks stands still: what the others wait for is told once, by its cause.
TEST(SystemCallCauses, AStallOfOneRankIsNamedByItsCall) {
  const Diagnosis diagnosis =
      DiagnoseJob({WithStall(TimeCategory::kSystemCall, 1), WithStall(TimeCategory::kSystemCall),
                   WithStall(TimeCategory::kSystemCall, 1)});
  EXPECT_NE(FindingWith(diagnosis, "host.system_call"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "rank.late_host/r1"), nullptr);
}

// The device has work meanwhile: it was queued before the host stood still.
MPA_REFUTES(SystemCallCauses, BesideABusyDeviceNothingIsSaid, "host.system_call", "host.lock",
            "host.gil");
TEST(SystemCallCauses, BesideABusyDeviceNothingIsSaid) {
  for (const TimeCategory category :
       {TimeCategory::kSystemCall, TimeCategory::kLock, TimeCategory::kGil}) {
    RankDiagnosis part = ThreeSteps([&](PartBuilder& step) {
      step.Host(TimeCategory::kDispatchOp, 10 * kUs);
      const std::uint32_t asked = step.Last();
      step.Kernel("MatMulV3", 10 * kMs);
      const std::uint32_t kernel = step.Last();
      step.Host(category, 10 * kUs);
      HostShare& share = step.Part().shares.back();
      share.time += 10 * kMs;
      GraphEdge& edge = step.Part().graph.edges[share.edge];
      edge = {edge.node, asked, WaitsFor::kEnd, share.time};
      step.Kernel("Add", kMs, TimeCategory::kVector);
      step.Part().graph.edges.push_back({step.Last(), kernel, WaitsFor::kEnd, 0});
    });
    part.knows_system_calls = part.knows_locks = true;
    const Diagnosis diagnosis = DiagnoseJob({part});
    for (const Finding& found : diagnosis.findings) {
      EXPECT_NE(found.type->area, Area::kHosts) << found.key;
    }
  }
}

TEST(SystemCallCauses, WhatIsNotRecordedIsNotJudged) {
  const auto passes = [](bool recorded) {
    RankDiagnosis part = ThreeSteps([](PartBuilder& step) { step.Kernel("MatMulV3", kMs); });
    part.knows_system_calls = part.knows_locks = recorded;
    const Diagnosis diagnosis = DiagnoseJob({part});
    std::size_t passed = 0;
    for (const FindingType* type : {&kHostSystemCall, &kHostLock, &kHostGil}) {
      for (const NotJudged& row : diagnosis.not_judged) EXPECT_NE(row.type, type);
      for (const FindingType* one : diagnosis.passed_checks) passed += one == type ? 1 : 0;
    }
    return passed;
  };
  EXPECT_EQ(passes(true), 3u);
  EXPECT_EQ(passes(false), 0u);
}

}  // namespace
}  // namespace mpa
