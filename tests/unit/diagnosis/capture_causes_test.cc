// SPDX-License-Identifier: Apache-2.0
// Settings of the job and its captures, memory, and what cannot be judged. The gains are worked out
// by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/made_diagnosis.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

// --- What wins nothing by itself ---

MPA_REFUTES(CaptureCauses, AllocationsThatAskAgain, "mem.pressure");
TEST(CaptureCauses, AllocationsThatAskAgain) {
  PartBuilder builder;
  for (int step = 0; step < 4; ++step)
    builder.Step().Host(TimeCategory::kPython, kMs).Kernel("MatMulV3", kMs);
  builder.Part().blocked.push_back({.edge = 1, .category = TimeCategory::kMemory, .step = 1});
  builder.Part().memory.peak = 61 * std::int64_t{1'000'000'000};
  RankDiagnosis part = builder.Build();
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "mem.pressure"), nullptr) << "once in four steps";
  part.blocked.push_back({.edge = 1, .category = TimeCategory::kMemory, .step = 2});
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "mem.pressure");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 0) << "that is the matter of host.memory";
  EXPECT_EQ(MetricIn(*found, "retries_per_step"), 0.5);
  EXPECT_EQ(MetricIn(*found, "peak_reserved"), 61e9);
  part.blocked.back().category = TimeCategory::kExplicitSync;
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "mem.pressure"), nullptr);
}

// Allocations that ask again while the allocator holds so many times what its tensors take; 0: not
// recorded.
Finding RetriesWith(double held, const Thresholds& thresholds = {}, const std::string& setting = "",
                    const std::string& key = "mem.pressure") {
  PartBuilder builder;
  for (int step = 0; step < 4; ++step) {
    builder.Step().Host(TimeCategory::kMemory, kMs).Kernel("MatMulV3", kMs);
    builder.Part().blocked.push_back({.edge = 1, .category = TimeCategory::kMemory, .step = step});
  }
  builder.Part().memory.allocated = held > 0 ? 1'000'000 : 0;
  builder.Part().memory.pool = static_cast<std::int64_t>(held * 1e6);
  if (!setting.empty()) builder.Part().settings["PYTORCH_NPU_ALLOC_CONF"] = setting;
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()}, thresholds);
  const Finding* found = FindingWith(diagnosis, key);
  if (found == nullptr) ADD_FAILURE() << "no " << key;
  return found == nullptr ? MadeFinding(key, 0) : *found;
}

TEST(CaptureCauses, MemoryInPiecesNeedsSegmentsThatGrow) {
  const std::string in_pieces =
      "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; recompute activations";
  const std::string full = "recompute activations; shard the optimizer over the ranks";
  const auto advice = [](const Finding& found) { return AdviceOf(found); };
  EXPECT_EQ(advice(RetriesWith(1.4)), in_pieces);
  EXPECT_EQ(advice(RetriesWith(1.39)), full) << "tensors fill it";
  EXPECT_EQ(advice(RetriesWith(0)), full) << "not recorded";
  EXPECT_EQ(advice(RetriesWith(2, {}, "expandable_segments:True")), full) << "they grow already";
  EXPECT_EQ(MetricIn(RetriesWith(1.5), "reserved_of_allocated"), 1.5);
  EXPECT_EQ(MetricIn(RetriesWith(0), "reserved_of_allocated"), -1);
  // What the retries cost is mended by the same.
  const auto of_stalls = [&](double held) {
    return advice(RetriesWith(held, {}, "", "host.memory"));
  };
  EXPECT_EQ(of_stalls(1.39), "no empty_cache in the loop; recompute activations");
  const std::string grow =
      "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; no empty_cache in the loop";
  EXPECT_EQ(of_stalls(1.4), grow);
  EXPECT_EQ(of_stalls(0), grow) << "not recorded whether in pieces";
  Thresholds thresholds;
  SetRule("mem.pressure", "in_pieces", 1.6, thresholds);
  EXPECT_EQ(advice(RetriesWith(1.5, thresholds)), full);
}

// In a step 15 MB are written element by element, 5 MB of it in place; 50 MB are reserved.
TEST(CaptureCauses, OperatorsThatDoNotOverwriteTheirInput) {
  const auto advice = [](std::int64_t reserved, const std::string& name, double share) {
    PartBuilder builder;
    for (int step = 0; step < 4; ++step) {
      builder.Step().Kernel("Mul", kMs, TimeCategory::kVector);
      builder.Kernel("Add", kMs, TimeCategory::kVector).Kernel("MatMulV3", kMs);
      builder.Part().blocked.push_back(
          {.edge = 1, .category = TimeCategory::kMemory, .step = step});
    }
    for (const char* type : {"Mul", "Add", "MatMulV3"}) {
      KernelKind& kind = builder.Kind(type);
      kind.streams = type != std::string("MatMulV3");
      kind.written = type == std::string("Mul") ? 10 * kMb : 5 * kMb;
    }
    builder.Kind("Mul").name = builder.NameOf(name);
    builder.Kind("Add").name = builder.NameOf("aclnnInplaceAdd_AddAiCore_Add");
    builder.Part().memory.peak = reserved;
    Thresholds thresholds;
    SetRule("mem.pressure", "written_beside", share, thresholds);
    const Diagnosis diagnosis = DiagnoseJob({builder.Build()}, thresholds);
    const Finding* found = FindingWith(diagnosis, "mem.pressure");
    return found == nullptr ? "" : AdviceOf(*found);
  };
  const std::string overwrite =
      "overwrite inputs that nothing reads later (relu_, add_, inplace=True); recompute"
      " activations";
  const std::string usual = "recompute activations; shard the optimizer over the ranks";
  EXPECT_EQ(advice(50 * kMb, "aclnnMul_MulAiCore_Mul", 0.2), overwrite);
  EXPECT_EQ(advice(50 * kMb, "aclnnMul_MulAiCore_Mul", 0.21), usual);
  EXPECT_EQ(advice(0, "aclnnMul_MulAiCore_Mul", 0.2), usual) << "memory is not recorded";
  EXPECT_EQ(advice(50 * kMb, "aclnnInplaceMul_MulAiCore_Mul", 0.2), usual);
  EXPECT_EQ(advice(50 * kMb, "Mul_12", 0.2), usual) << "the name does not tell";
}

// Four steps of 10 ms in which the host compiles for some time before.
std::vector<std::int32_t> DroppedSteps(const std::vector<TimeNs>& compiling) {
  PartBuilder builder;
  for (const TimeNs time : compiling)
    builder.Step().Host(TimeCategory::kCompile, time).Kernel("MatMulV3", 10 * kMs);
  return DiagnoseJob({builder.Build()}).dropped_steps;
}

TEST(CaptureCauses, AFirstStepThatCompilesIsWarmUp) {
  const std::vector<std::int32_t> first = {10}, none;
  EXPECT_EQ(DroppedSteps({kMs, 0, 0, 0}), first);
  EXPECT_EQ(DroppedSteps({kMs, 100 * kUs, 100 * kUs, 100 * kUs}), first) << "a tenth of it later";
  EXPECT_EQ(DroppedSteps({kMs, 101 * kUs, 101 * kUs, 101 * kUs}), none)
      << "more than that is usual";
  EXPECT_EQ(DroppedSteps({300 * kUs, 0, 0, 0}), none) << "2.9 % of the step";
  EXPECT_EQ(DroppedSteps({kMs, 0}), none) << "of two steps none is usual";
}

// How many causes of late ranks cannot be judged with so many ranks that meet in each of some
// steps.
std::ptrdiff_t LateNotJudged(std::size_t ranks, int steps) {
  PartBuilder builder;
  for (int step = 0; step < steps; ++step)
    builder.Step()
        .Kernel("MatMulV3", kMs)
        .Collective("hcom_allReduce__1_" + std::to_string(step), kMs);
  const auto rows = DiagnoseJob(std::vector<RankDiagnosis>(ranks, builder.Build())).not_judged;
  return std::count_if(rows.begin(), rows.end(),
                       [](const NotJudged& row) { return row.type->id.starts_with("rank.late_"); });
}

TEST(CaptureCauses, WhatCannotBeJudgedIsTold) {
  EXPECT_EQ(LateNotJudged(3, 1), 0);
  EXPECT_EQ(LateNotJudged(2, 2), 0);
  EXPECT_EQ(LateNotJudged(2, 1), 3) << "in one step either may be the odd one";
  EXPECT_EQ(LateNotJudged(1, 3), 3);
  const auto part = ThreeSteps([](PartBuilder& step) { step.Kernel("MatMulV3", kMs); });
  const Diagnosis diagnosis = DiagnoseJob({part, part, part});
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_TRUE(diagnosis.findings.back().Is(kCaptureMissing)) << "the last of all";
  EXPECT_EQ(MetricIn(diagnosis.findings.back(), "causes_not_judged"), 4)
      << "ranks that never meet are not compared, and no clock is recorded";
  EXPECT_EQ(diagnosis.not_judged.size(), 4u);
}

TEST(CaptureCauses, SettingsThatCostTime) {
  std::vector<RankDiagnosis> parts =
      EightSteps(TimeCategory::kPython, [](std::size_t, std::size_t) { return TimeNs{0}; });
  for (RankDiagnosis& part : parts) part.settings["TASK_QUEUE_ENABLE"] = "2";
  parts[3].settings["TASK_QUEUE_ENABLE"] = "0";
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const Finding* found = FindingWith(diagnosis, "env.check/TASK_QUEUE_ENABLE");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{3}));
  EXPECT_EQ(found->gain, 0);
  EXPECT_EQ(MetricIn(*found, "ranks_with_value"), 1);
  EXPECT_EQ(TitleOf(*found),
            "TASK_QUEUE_ENABLE=0: the thread that calls operators also launches them");
  EXPECT_EQ(FactsText(*found, 76), "0 on rank 3");
  EXPECT_EQ(AdviceOf(*found), "TASK_QUEUE_ENABLE=2 (raises peak device memory)");
  EXPECT_EQ(diagnosis.settings.at("TASK_QUEUE_ENABLE"), "0 (rank 3), 2 (ranks 0-2)");
}

MPA_REFUTES(CaptureCauses, SettingsThatDifferBetweenRanks, "env.check");
TEST(CaptureCauses, SettingsThatDifferBetweenRanks) {
  std::vector<RankDiagnosis> parts =
      EightSteps(TimeCategory::kPython, [](std::size_t, std::size_t) { return TimeNs{0}; });
  for (RankDiagnosis& part : parts) part.settings["CPU_AFFINITY_CONF"] = "1,npu0:0-9";
  parts[1].settings["CPU_AFFINITY_CONF"] = "1,npu1:10-19";  // the cores may differ, the mode not
  EXPECT_EQ(FindingWith(DiagnoseJob(parts), "env.check/CPU_AFFINITY_CONF"), nullptr);
  parts[2].settings["CPU_AFFINITY_CONF"] = "2";
  parts[3].settings.clear();
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const Finding* found = FindingWith(diagnosis, "env.check/CPU_AFFINITY_CONF");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "different_values"), 3);
  EXPECT_EQ(TitleOf(*found), "the ranks have different values of CPU_AFFINITY_CONF");
  EXPECT_EQ(FactsText(*found, 76), "no value on rank 3, 1 on ranks 0, 1, 2 on rank 2");
  EXPECT_EQ(AdviceOf(*found), "set the same value on all ranks");
}

PartBuilder& LaunchAfter(TimeNs work, PartBuilder& step) {
  step.Host(TimeCategory::kDispatchOp, work);
  step.Part().graph.nodes.back().kind = NodeKind::kLaunch;
  return step;
}

TEST(CaptureCauses, AVariableNamesTheFindingThatItAddsTo) {
  auto part = ThreeSteps([](PartBuilder& step) {
    step.Host(TimeCategory::kPython, 2 * kMs).Kernel("MatMulV3", 8 * kMs);
  });
  part.settings["ASCEND_GLOBAL_LOG_LEVEL"] = "1";
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "env.check/ASCEND_GLOBAL_LOG_LEVEL")->setting->serves,
            "");
  const auto bound = ThreeSteps([](PartBuilder& step) {
    for (int i = 0; i < 40; ++i) LaunchAfter(kMs / 5, step).Kernel("Add", kMs / 20);
  });
  part = bound;
  part.settings["ASCEND_GLOBAL_LOG_LEVEL"] = "1";
  const Diagnosis diagnosis = DiagnoseJob({part});
  ASSERT_NE(FindingWith(diagnosis, "host.launch_bound"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "env.check/ASCEND_GLOBAL_LOG_LEVEL")->setting->serves,
            "host.launch_bound");
}

TEST(CaptureCauses, SettingsThatAllRanksHaveAreNotAdvised) {
  std::vector<RankDiagnosis> parts(1, ThreeSteps([](PartBuilder& step) {
                                     for (int i = 0; i < 40; ++i)
                                       LaunchAfter(kMs / 5, step).Kernel("Add", kMs / 20);
                                   }));
  const auto advice = [&] {
    const Diagnosis diagnosis = DiagnoseJob(parts);
    const Finding* found = FindingWith(diagnosis, "host.launch_bound");
    return found == nullptr ? "none" : AdviceOf(*found);
  };
  EXPECT_EQ(advice(), "TASK_QUEUE_ENABLE=2 (raises peak device memory); CPU_AFFINITY_CONF=2");
  parts[0].settings["TASK_QUEUE_ENABLE"] = "2";
  EXPECT_EQ(advice(), "CPU_AFFINITY_CONF=2; use fused operators or graphs");
  parts.push_back(parts[0]);
  parts[1].settings.clear();
  EXPECT_EQ(advice(), "TASK_QUEUE_ENABLE=2 (raises peak device memory); CPU_AFFINITY_CONF=2")
      << "only one of the ranks has it";
}

// Ascend910B has 32 GiB or more, of which half is free or not.
TEST(CaptureCauses, LargerBatchesNeedMemory) {
  const auto advice = [](std::int64_t reserved, double of_device = 0) {
    RankDiagnosis part = ThreeSteps([](PartBuilder& step) {
      for (int i = 0; i < 40; ++i) LaunchAfter(kMs / 5, step).Kernel("Add", kMs / 20);
    });
    part.memory.peak = reserved;
    Thresholds thresholds;
    SetRule("host.launch_bound", "memory_bytes", of_device, thresholds);
    const Diagnosis diagnosis = DiagnoseJob({part}, thresholds);
    const Finding* found = FindingWith(diagnosis, "host.launch_bound");
    return found == nullptr ? "none" : AdviceOf(*found);
  };
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  const std::string larger =
      "larger batches: most of the memory is free; TASK_QUEUE_ENABLE=2 (raises peak device memory)";
  const std::string usual = "TASK_QUEUE_ENABLE=2 (raises peak device memory); CPU_AFFINITY_CONF=2";
  EXPECT_EQ(advice(16 * kGib), larger);
  EXPECT_EQ(advice(16 * kGib + 1), usual);
  EXPECT_EQ(advice(0), usual) << "not recorded";
  EXPECT_EQ(advice(20 * kGib, 64e9), larger) << "the user says what the device has";
}

MPA_REFUTES(CaptureCauses, StacksMakeTheHostSlow, "capture.overhead");
TEST(CaptureCauses, StacksMakeTheHostSlow) {
  auto part = ThreeSteps([](PartBuilder& step) {
    step.Host(TimeCategory::kPython, 2 * kMs).Kernel("MatMulV3", 8 * kMs);
  });
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "capture.overhead"), nullptr);
  part.settings["profiler.stack"] = "on";
  EXPECT_NE(FindingWith(DiagnoseJob({part}), "capture.overhead"), nullptr);
}

}  // namespace
}  // namespace mpa
