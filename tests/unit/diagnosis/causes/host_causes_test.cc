// SPDX-License-Identifier: Apache-2.0
// What the host waits for and does between operators. The gains are worked out by hand.
#include <gtest/gtest.h>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"

namespace mpa {
namespace {

// A step reads five numbers: the host takes 1 ms for each, the copy 10 us.
TEST(HostCauses, NumbersThatAreReadAreNotCopied) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 10 * kMs);
    for (int i = 0; i < 5; ++i) {
      step.Host(TimeCategory::kScalarSync, kMs)
          .Kernel("MEMCPY_ASYNC", 10 * kUs, TimeCategory::kCopyOut);
      step.Part().graph.nodes.back().kind = NodeKind::kCopy;
    }
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs + 3 * 10 * kUs) << "the last two of a step are usual";
}

// The copies start 10 us after the device is free for them.
TEST(HostCauses, WhatIsNotCopiedNeedNotStart) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 10 * kMs);
    for (int i = 0; i < 5; ++i) {
      const std::uint32_t before = step.Host(TimeCategory::kScalarSync, kMs).Last();
      step.Host(TimeCategory::kDispatchOp, 10 * kUs)
          .Kernel("MEMCPY_ASYNC", 10 * kUs, TimeCategory::kCopyOut);
      step.Part().graph.nodes.back().kind = NodeKind::kCopy;
      step.Part().graph.edges.back().on = before;
    }
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs + 3 * (10 + 10) * kUs) << "the last two of a step are usual";
}

// A step has five calls that wait for the device, which has nothing to do: each takes 1 ms of its
// own.
TEST(HostCauses, ACallThatNeedNotWaitIsNotMade) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 5; ++i) {
      const std::uint32_t before = step.Last();
      const auto edge = static_cast<std::uint32_t>(step.Part().graph.edges.size());
      step.Host(TimeCategory::kScalarSync, kMs);
      RankDiagnosis& part_of = step.Part();
      part_of.shares.pop_back();
      part_of.graph.edges.push_back({step.Last(), before, WaitsFor::kEnd, 0});
      part_of.blocked.push_back({.edge = edge + 1,
                                 .category = TimeCategory::kScalarSync,
                                 .step = static_cast<std::int32_t>(part_of.steps.size()) - 1,
                                 .start = step.Now() - kMs,
                                 .dur = kMs,
                                 .own_edge = edge,
                                 .own = kMs});
    }
    step.Kernel("MatMulV3", kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  EXPECT_EQ(diagnosis.step, 6 * kMs);
  const FoundCause* found = FindingWith(diagnosis, "host.sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 3 * kMs) << "the last two of a step are usual";
}

TEST(HostCauses, EveryLaunchWaits) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    const std::uint32_t begin = builder.Last() - 1, kernel = builder.Last();
    // The host waits for the kernel, works for a millisecond, and launches the next.
    RankDiagnosis& part = builder.Part();
    const auto edge = static_cast<std::uint32_t>(part.graph.edges.size());
    builder.Host(TimeCategory::kDispatchOp, kMs);
    part.graph.edges[edge].on = begin;  // without the wait it would follow the begin of the step
    part.graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, kMs});
    part.blocked.push_back({.edge = edge + 1,
                            .category = TimeCategory::kExplicitSync,
                            .step = step,
                            .start = builder.Now(),
                            .dur = kMs,
                            .behind_launch = true});
    builder.Kernel("MatMulV3", kMs);
    part.graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, 0});  // one stream
    part.steps.back().launches = 2;
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  EXPECT_EQ(diagnosis.step, 3 * kMs);
  const FoundCause* found = FindingWith(diagnosis, "host.launch_blocking");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(MetricIn(*found, "waits_of_launches"), 0.5);
  EXPECT_EQ(FindingWith(diagnosis, "host.sync"), nullptr);
}

TEST(HostCauses, LaunchesThatAreHeldUp) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Host(TimeCategory::kDispatchCann, 2 * kMs).Kernel("MatMulV3", kMs);
    StepPart& of = builder.Part().steps.back();
    of.launches = 100;
    of.launch_median = 10 * kUs;
    of.launch_decile = 40 * kUs;
    of.launch_time = 2 * kMs;  // half of it beyond 100 x 10 us
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const FoundCause* found = FindingWith(diagnosis, "host.cpu_contention");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(found->confidence, Certainty::kLow);
}

TEST(HostCauses, PythonBetweenOperators) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Host(TimeCategory::kPython, 2 * kMs).Kernel("MatMulV3", 8 * kMs);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const FoundCause* found = FindingWith(diagnosis, "host.python");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(found->gain_max, 2 * kMs);
}

}  // namespace
}  // namespace mpa
