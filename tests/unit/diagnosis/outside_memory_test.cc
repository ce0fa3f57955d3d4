// SPDX-License-Identifier: Apache-2.0
// Memory of the process that no allocator of the framework holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/part/counter_facts.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

constexpr std::int64_t kMebi = 1 << 20;

// Steps with what the process holds at their ends and what the allocators hold of it, in MiB.
RankDiagnosis PartThatHolds(const std::vector<std::int64_t>& process,
                            const std::vector<std::int64_t>& reserved) {
  PartBuilder builder;
  for (std::size_t step = 0; step < process.size(); ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    StepMemory& memory = builder.Part().steps.back().memory;
    memory.reserved = reserved[step] * kMebi;
    memory.allocated = memory.most_allocated = 100 * kMebi;
    memory.process = process[step] < 0 ? -1 : process[step] * kMebi;
  }
  return builder.Build();
}

const std::vector<std::int64_t> kConstant = {900, 900, 900, 900, 900};

TEST(OutsideMemory, ThatGrowsIsNamedByItsComponent) {
  RankDiagnosis part = PartThatHolds({1000, 1040, 1080, 1121, 1160}, kConstant);
  part.memory.components = {{"GE", 80 * kMebi, 90 * kMebi}, {"HCCL", 100 * kMebi, 240 * kMebi}};
  const Diagnosis diagnosis = DiagnoseJob({part, PartThatHolds(kConstant, kConstant)});
  const Finding* found = FindingWith(diagnosis, "mem.outside");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, std::vector<RankId>{0});
  EXPECT_EQ(MetricIn(*found, "outside_per_step"), 40 * kMebi);
  EXPECT_EQ(MetricIn(*found, "outside"), 260 * kMebi);
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_EQ(found->evidence[0].name, "HCCL");
}

// Nobody says of memory that was not recorded that it does not grow.
TEST(OutsideMemory, PassesWhereItWasRecordedAlone) {
  const auto passes = [](const std::vector<std::int64_t>& process) {
    const Diagnosis diagnosis = DiagnoseJob({PartThatHolds(process, kConstant)});
    return std::ranges::any_of(diagnosis.passed_checks,
                               [](const FindingType* type) { return type->id == "mem.outside"; });
  };
  EXPECT_TRUE(passes({1000, 1000, 1000, 1000, 1000}));
  EXPECT_FALSE(passes({1000, 1000, -1, 1000, 1000}));
  EXPECT_FALSE(passes({1000, 1000, 1000})) << "too few steps";
}

MPA_REFUTES(OutsideMemory, WhatIsNoGrowth, "mem.outside");
TEST(OutsideMemory, WhatIsNoGrowth) {
  const auto grows = [](const std::vector<std::int64_t>& process,
                        const std::vector<std::int64_t>& reserved) {
    return FindingWith(DiagnoseJob({PartThatHolds(process, reserved)}), "mem.outside") != nullptr;
  };
  EXPECT_TRUE(grows({1000, 1040, 1080, 1121, 1160}, kConstant));
  EXPECT_FALSE(grows({1000, 1040, 1080, 1120, 1160}, {900, 940, 980, 1020, 1060}))
      << "the allocators hold the more";
  EXPECT_FALSE(grows({1000, 1200, 1200, 1200, 1200}, kConstant)) << "buffers that are made once";
  EXPECT_FALSE(grows({1000, 1010, 1020, 1030, 1040}, kConstant)) << "the profiler's own buffers";
  EXPECT_FALSE(grows({1000, 1040, -1, 1120, 1160}, kConstant)) << "a step is not recorded";
  EXPECT_FALSE(grows({1000, 1040, 1080}, kConstant)) << "too few steps";
}

TEST(OutsideMemory, AComponentThatGrewLittleIsNotNamed) {
  RankDiagnosis part = PartThatHolds({1000, 1040, 1080, 1121, 1160}, kConstant);
  part.memory.components = {{"HCCL", 100 * kMebi, 170 * kMebi}};
  const Diagnosis diagnosis = DiagnoseJob({part});
  ASSERT_NE(FindingWith(diagnosis, "mem.outside"), nullptr);
  EXPECT_TRUE(FindingWith(diagnosis, "mem.outside")->evidence.empty());
}

TEST(OutsideMemory, IsWhatTheDeviceTold) {
  test::RankBuilder rank;
  const auto sample = [&](std::string_view component, TimeNs time, std::int64_t bytes) {
    rank.trace.memory_samples.Append(
        {.time = time, .component = rank.Text(component), .reserved_bytes = bytes});
  };
  sample("APP", 30, 70);
  sample("APP", 10, 50);
  sample("PTA", 10, 40);
  const auto level = [&](std::string_view group, std::string_view name, std::string_view part,
                         std::initializer_list<std::pair<TimeNs, double>> values) {
    const auto counter = static_cast<std::int32_t>(rank.trace.counters.Size());
    rank.trace.counters.Append(
        {.group = rank.Text(group), .name = rank.Text(name), .part = rank.Text(part)});
    for (const auto& [time, value] : values)
      rank.trace.counter_samples.Append({.start = time, .counter = counter, .value = value});
  };
  level("NPU MEM", "device HBM", "", {{5, 900}, {12, 80}, {31, 75}});
  level("NPU module memory", "reserved", "HCCL", {{1, 3}, {15, 4}, {25, 9}, {60, 99}});
  level("NPU module memory", "reserved", "APP", {{1, 40}});
  level("NPU module memory", "reserved", "FMK", {{1, 0}});
  const DeviceMemoryTold told = DeviceMemoryOf(rank.trace, {16, 40});
  EXPECT_EQ(told.ProcessAt(9), -1);
  EXPECT_EQ(told.ProcessAt(29), 50);
  EXPECT_EQ(told.ProcessAt(30), 70);
  EXPECT_EQ(told.others, 30) << "80 at 12, of which 50 are the process's; before 10 it is not told";
  ASSERT_EQ(told.components.size(), 1u);
  EXPECT_EQ(told.components[0].name, "HCCL");
  EXPECT_EQ(told.components[0].first, 4);
  EXPECT_EQ(told.components[0].last, 9);
}

}  // namespace
}  // namespace mpa
