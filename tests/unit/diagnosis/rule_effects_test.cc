// SPDX-License-Identifier: Apache-2.0
// Thresholds that decide whether and how something is found: another value, another result.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

TEST(RuleEffects, HowMuchOfFp32GoesAtMost) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) builder.Step().Kernel("MatMulV3", 4 * kMs);
  builder.Kind("MatMulV3").multiplies_fp32 = true;
  Thresholds thresholds;
  SetRule("op.fp32", "most", 1, thresholds);
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()}, thresholds);
  ASSERT_NE(FindingWith(diagnosis, "op.fp32"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "op.fp32")->gain_max, 4 * kMs);
}

// 16 MB take 40 us, 400 bytes a ns; other 16 MB take 100 us.
TEST(RuleEffects, WhichTensorsShowTheBandwidth) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step)
    builder.Step()
        .Kernel("Mul", 40 * kUs, TimeCategory::kVector)
        .Kernel("Add", 100 * kUs, TimeCategory::kVector);
  for (const char* type : {"Mul", "Add"}) {
    builder.Kind(type).streams = true;
    builder.Kind(type).bytes = 16'000'000;
  }
  const auto use_of_add = [&](double cache_bytes) {
    Thresholds thresholds;
    SetRule("op.slow", "cache_bytes", cache_bytes, thresholds);
    const Diagnosis diagnosis = DiagnoseJob({builder.Build()}, thresholds);
    const Finding* found = FindingWith(diagnosis, "op.slow/Add");
    return found == nullptr ? -1 : MetricIn(*found, "use_of_chip");
  };
  EXPECT_DOUBLE_EQ(use_of_add(16'000'001), 0.2)
      << "half of what the rule says the memory moves: 800 bytes a ns";
  EXPECT_DOUBLE_EQ(use_of_add(16'000'000), 0.4) << "the faster one shows 400";
}

// 64 MB take 400 us, 160 bytes a ns: a tenth of what the memory of Ascend910B moves.
TEST(RuleEffects, UnknownChipsAreNotJudgedByTheLimitsOfKnownOnes) {
  const auto diagnose = [](std::string_view chip, double memory_gbs) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step)
      builder.Step().Kernel("Mul", 400 * kUs, TimeCategory::kVector);
    builder.Kind("Mul").streams = true;
    builder.Kind("Mul").bytes = 64'000'000;
    builder.Part().chip = chip;
    Thresholds thresholds;
    SetRule("op.slow", "memory_gbs", memory_gbs, thresholds);
    // Larger than the tensors, so that these do not show what the memory moves.
    SetRule("op.slow", "cache_bytes", 65'000'000, thresholds);
    return DiagnoseJob({builder.Build()}, thresholds);
  };
  const auto is_not_judged = [](const Diagnosis& diagnosis) {
    return std::any_of(diagnosis.not_judged.begin(), diagnosis.not_judged.end(),
                       [](const NotJudged& row) { return row.type == &kOpSlow; });
  };
  const Diagnosis known = diagnose("Ascend910B", 0);
  ASSERT_NE(FindingWith(known, "op.slow/Mul"), nullptr);
  EXPECT_DOUBLE_EQ(MetricIn(*FindingWith(known, "op.slow/Mul"), "use_of_chip"), 0.2)
      << "half of 1600 bytes a ns";
  EXPECT_FALSE(is_not_judged(known));
  for (const char* chip : {"", "Ascend310P"}) {
    EXPECT_EQ(FindingWith(diagnose(chip, 0), "op.slow/Mul"), nullptr) << chip;
    EXPECT_TRUE(is_not_judged(diagnose(chip, 0))) << chip;
    EXPECT_NE(FindingWith(diagnose(chip, 1600), "op.slow/Mul"), nullptr) << "the user says it";
    EXPECT_FALSE(is_not_judged(diagnose(chip, 1600)));
  }
}

TEST(RuleEffects, HowSmallMessagesAreCompared) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    for (const std::int64_t mib : {50, 50, 300, 300}) {
      builder.Collective(std::to_string(builder.Part().operations.size()),
                         mib == 50 ? 5 * kMs : 60 * kMs);
      builder.Part().operations.back().bytes = mib << 20;
    }
  }
  const auto is_found = [&](double reach) {
    Thresholds thresholds;
    SetRule("comm.buffer", "reach", reach, thresholds);
    const Diagnosis diagnosis = DiagnoseJob({builder.Build()}, thresholds);
    return FindingWith(diagnosis, "comm.buffer/allreduce/g") != nullptr;
  };
  EXPECT_TRUE(is_found(4)) << "50 of 200 MiB";
  EXPECT_FALSE(is_found(3.9));
}

// Tasks of odd sizes move 1 MB each, the others five times as much.
TEST(RuleEffects, HowLargeComparedTasksAre) {
  PartBuilder builder;
  for (std::uint32_t step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs).Collective(std::to_string(step), 5 * kMs);
    builder.Part().transfers.push_back({.operation = step,
                                        .peer = 1,
                                        .transport = builder.NameOf("SDMA"),
                                        .all = {12, 36'000'000, 4'200 * kUs},
                                        .odd = {6, 6'000'000, 1'200 * kUs}});
  }
  const auto is_found = [&](double sizes) {
    Thresholds thresholds;
    SetRule("comm", "alike_sizes", sizes, thresholds);
    const Diagnosis diagnosis = DiagnoseJob({builder.Build()}, thresholds);
    return FindingWith(diagnosis, "comm.unaligned/SDMA") != nullptr;
  };
  EXPECT_TRUE(is_found(5));
  EXPECT_FALSE(is_found(4.9));
}

// The others compile a fifth of what the first step does.
TEST(RuleEffects, HowMuchLaterStepsCompile) {
  PartBuilder builder;
  for (const TimeNs time : {kMs, 200 * kUs, 200 * kUs})
    builder.Step().Host(TimeCategory::kCompile, time).Kernel("MatMulV3", 10 * kMs);
  const auto dropped = [&](double rest) {
    Thresholds thresholds;
    SetRule("all", "warm_up_rest", rest, thresholds);
    return DiagnoseJob({builder.Build()}, thresholds).dropped_steps.size();
  };
  EXPECT_EQ(dropped(0.2), 1u);
  EXPECT_EQ(dropped(0.19), 0u);
}

// Ranks that meet at the end of each step. Of `extra` each host takes more than 1 ms, by step.
std::vector<RankDiagnosis> RanksWithMore(const std::vector<std::vector<TimeNs>>& extra) {
  std::vector<RankDiagnosis> parts;
  for (const std::vector<TimeNs>& of_rank : extra) {
    PartBuilder builder;
    for (std::size_t step = 0; step < of_rank.size(); ++step) {
      TimeNs last = 0;
      for (const auto& of_other : extra) last = std::max(last, of_other[step]);
      builder.Step()
          .Host(TimeCategory::kDispatchOp, kMs + of_rank[step])
          .Kernel("MatMulV3", 4 * kMs);
      builder.Collective(std::to_string(step), kMs + last - of_rank[step]);
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

TEST(RuleEffects, HowManyRanksJitter) {
  const TimeNs more = 2 * kMs;
  const auto parts = RanksWithMore({{more, 0, 0, more, 0, 0},
                                    {0, more, 0, 0, more, 0},
                                    {0, 0, more, 0, 0, more},
                                    {0, 0, 0, 0, 0, 0}});
  const auto is_found = [&](double ranks) {
    Thresholds thresholds;
    SetRule("rank.jitter", "ranks", ranks, thresholds);
    return FindingWith(DiagnoseJob(parts, thresholds), "rank.jitter/free.dispatch.op") != nullptr;
  };
  EXPECT_TRUE(is_found(3));
  EXPECT_FALSE(is_found(4));
}

// Without rank 1 the step is 2 ms shorter, and so it is without rank 2 behind that.
TEST(RuleEffects, HowMuchAFindingHides) {
  const auto parts =
      RanksWithMore({{0, 0, 0}, {4 * kMs, 4 * kMs, 4 * kMs}, {2 * kMs, 2 * kMs, 2 * kMs}});
  const auto hidden_by = [&](double share) {
    Thresholds thresholds;
    SetRule("all", "hidden_share", share, thresholds);
    const Diagnosis diagnosis = DiagnoseJob(parts, thresholds);
    const Finding* found = FindingWith(diagnosis, "rank.late_host/r2");
    return found == nullptr ? std::vector<std::string>{"no finding"} : found->after;
  };
  EXPECT_EQ(hidden_by(0.2), std::vector<std::string>{"rank.late_host/r1"});
  EXPECT_TRUE(hidden_by(1).empty());
  Diagnosis diagnosis;
  diagnosis.step = 100 * kMs;
  Finding finding;
  finding.gain = finding.gain_max = 10 * kMs;
  finding.alone = 7 * kMs;
  EXPECT_EQ(GainText(diagnosis, finding), "saves 10.0 ms (alone 7.0 ms)");
  SetRule("all", "hidden_share", 0.3, diagnosis.thresholds);
  EXPECT_EQ(GainText(diagnosis, finding), "saves 10.0 ms (10 %)");
}

// Behind a kernel the host works for 20 us, then an operation of 5 ms and another kernel follow;
// twice in each step.
PartBuilder OperationsBetweenKernels() {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 10 * kMs);
    for (const char* name : {"a_", "b_"}) {
      builder.Host(TimeCategory::kPython, 20 * kUs)
          .Collective(name + std::to_string(step), 5 * kMs)
          .Kernel("MatMulV3", 10 * kMs);
    }
  }
  return builder;
}

bool IsNotOverlapped(const RankDiagnosis& part, const Thresholds& thresholds) {
  return FindingWith(DiagnoseJob({part}, thresholds), "comm.not_overlapped/g") != nullptr;
}

TEST(RuleEffects, WhichOperationsStandBetweenKernels) {
  Thresholds thresholds;
  SetRule("comm.not_overlapped", "beside_ns", 20'000, thresholds);
  EXPECT_FALSE(IsNotOverlapped(OperationsBetweenKernels().Build(), thresholds))
      << "what is computed needs it";
  SetRule("comm.not_overlapped", "beside_ns", 19'999, thresholds);
  EXPECT_TRUE(IsNotOverlapped(OperationsBetweenKernels().Build(), thresholds));
}

// For 1 of its 5 ms a kernel of another stream runs.
TEST(RuleEffects, WhichOperationsStandAlone) {
  RankDiagnosis part = OperationsBetweenKernels().Build();
  for (const RankCollective& collective : part.graph.collectives) {
    GraphNode beside = part.graph.nodes[collective.arrive];
    beside.start += 2 * kMs;
    beside.dur = kMs;
    beside.kind = NodeKind::kKernel;
    beside.category = TimeCategory::kVector;
    beside.row = 0;
    part.graph.nodes.push_back(beside);
  }
  Thresholds thresholds;
  SetRule("comm.not_overlapped", "alone_share", 0.8, thresholds);
  EXPECT_FALSE(IsNotOverlapped(part, thresholds));
  SetRule("comm.not_overlapped", "alone_share", 0.81, thresholds);
  EXPECT_TRUE(IsNotOverlapped(part, thresholds));
}

}  // namespace
}  // namespace mpa
