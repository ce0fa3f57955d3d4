// SPDX-License-Identifier: Apache-2.0
// Threads that do not get a core. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

struct Held {
  ThreadDoing doing{};
  bool by_own = false;
  TimeNs time = 0;
  std::string_view name = "CSD -> python";
};

// The host works for 30 ms before a kernel of each step; for some of it its thread could not run.
RankDiagnosis WithHeld(const Held& held, TimeNs host = 30 * kMs) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 10 * kMs);
    builder.Host(TimeCategory::kPython, host);
    if (held.time > 0) {
      builder.Part().scheduler.waits.push_back(
          {.edge = static_cast<std::uint32_t>(builder.Part().graph.edges.size() - 1),
           .doing = held.doing,
           .by_own = held.by_own,
           .name = builder.NameOf(held.name),
           .core = 2,
           .count = 3,
           .time = held.time,
           .longest = held.time / 2,
           .start = builder.Now() - host});
    }
    builder.Kernel("MatMulV3", 10 * kMs);
  }
  RankDiagnosis part = builder.Build();
  part.scheduler.recorded = true;
  return part;
}

TEST(SchedulerCauses, WhatAThreadCouldNotRunIsSaved) {
  for (const auto& [doing, by_own, key] :
       {std::tuple{ThreadDoing::kPreempted, false, "host.preempted"},
        {ThreadDoing::kPreempted, true, "host.few_cores"},
        {ThreadDoing::kWoken, true, "host.few_cores"},
        {ThreadDoing::kWoken, false, "host.woken_late"},
        {ThreadDoing::kInterrupted, false, "host.interrupts"}}) {
    const Diagnosis diagnosis = DiagnoseJob({WithHeld({doing, by_own, 20 * kMs})});
    const Finding* found = FindingWith(diagnosis, key);
    ASSERT_NE(found, nullptr) << key;
    EXPECT_EQ(found->gain, 20 * kMs);
    EXPECT_EQ(MetricIn(*found, "time_per_step"), 20 * kMs);
    EXPECT_EQ(MetricIn(*found, "hold_ups_per_step"), 3);
    EXPECT_EQ(MetricIn(*found, "longest_hold_up"), 10 * kMs);
    ASSERT_EQ(found->evidence.size(), 1u);
    EXPECT_EQ(found->evidence[0].name, "CSD -> python");
    EXPECT_EQ(found->evidence[0].time, 20 * kMs);
  }
}

// The rest of the time is work of the host, and no more than that.
TEST(SchedulerCauses, OtherCausesGetWhatIsLeft) {
  const Diagnosis diagnosis = DiagnoseJob({WithHeld({ThreadDoing::kPreempted, false, 20 * kMs})});
  const Finding* python = FindingWith(diagnosis, "host.python");
  ASSERT_NE(python, nullptr);
  EXPECT_EQ(python->gain, 10 * kMs);
  EXPECT_EQ(diagnosis.findings[0].key, "host.preempted");
}

// One of three ranks is held up: the others wait for its process's neighbour, not for its host.
TEST(SchedulerCauses, AHeldRankIsNotCalledSlow) {
  const auto rank = [](TimeNs held) {
    return WithHeld({ThreadDoing::kPreempted, false, held}, held + kMs);
  };
  const Diagnosis diagnosis = DiagnoseJob({rank(0), rank(30 * kMs), rank(0)});
  const Finding* found = FindingWith(diagnosis, "host.preempted");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, std::vector<RankId>{1});
  EXPECT_EQ(FindingWith(diagnosis, "rank.late_host/r1"), nullptr);
}

// The same stretch, and the thread slept or ran: something else takes the time.
MPA_REFUTES(SchedulerCauses, AThreadThatRunsIsNotHeldUp, "host.preempted", "host.few_cores",
            "host.woken_late", "host.interrupts", "host.numa_moves");
TEST(SchedulerCauses, AThreadThatRunsIsNotHeldUp) {
  const Diagnosis diagnosis = DiagnoseJob({WithHeld({})});
  EXPECT_NE(FindingWith(diagnosis, "host.python"), nullptr);
  for (const Finding& found : diagnosis.findings) EXPECT_FALSE(IsOfScheduler(*found.type));
}

// What it takes longer on another node is saved, and is no time in which it did not run.
TEST(SchedulerCauses, WhatAThreadTakesLongerOnAnotherNodeIsSaved) {
  Held held{ThreadDoing::kRunning, false, 12 * kMs, "NUMA node 1 -> python"};
  RankDiagnosis part = WithHeld(held);
  part.scheduler.far_moves = 6;
  part.scheduler.far_ratio = 1.5;
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "host.numa_moves");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 12 * kMs);
  EXPECT_EQ(MetricIn(*found, "slower_on_node"), 1.5);
  EXPECT_EQ(MetricIn(*found, "moves_between_nodes_per_step"), 2);
  EXPECT_EQ(found->evidence[0].name, "NUMA node 1 -> python");
  const Finding* python = FindingWith(diagnosis, "host.python");
  ASSERT_NE(python, nullptr);
  EXPECT_EQ(python->gain, 18 * kMs);
}

TEST(SchedulerCauses, WithoutATraceNothingIsJudged) {
  const auto passes = [](bool recorded, bool knows_nodes = false) {
    RankDiagnosis part = WithHeld({});
    part.scheduler.recorded = recorded;
    part.scheduler.far_moves = knows_nodes ? 0 : -1;
    const Diagnosis diagnosis = DiagnoseJob({part});
    std::size_t passed = 0;
    for (const NotJudged& row : diagnosis.not_judged) EXPECT_FALSE(IsOfScheduler(*row.type));
    for (const FindingType* one : diagnosis.passed_checks) passed += IsOfScheduler(*one) ? 1 : 0;
    return passed;
  };
  EXPECT_EQ(passes(true, true), 5u);
  EXPECT_EQ(passes(true), 4u);  // whether threads moved between nodes is unknown
  EXPECT_EQ(passes(false), 0u);
}

}  // namespace
}  // namespace mpa
