// SPDX-License-Identifier: Apache-2.0
// What only looks guilty, what was not judged, and what was looked at and is fine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "diagnosis/diagnosed.h"
#include "diagnosis/made_diagnosis.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "diagnosis/waiting_host.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

TEST(NotCauses, AWaitThatCostsNothingIsExplainedByNoFinding) {
  const Diagnosis diagnosis = DiagnoseJob({WaitingHost(TimeCategory::kExplicitSync, true)});
  ASSERT_EQ(diagnosis.innocent_calls.size(), 1u);
  EXPECT_EQ(diagnosis.innocent_calls[0].name, "aten::waits");
  EXPECT_EQ(diagnosis.innocent_calls[0].cost, 10 * kMs);
  EXPECT_EQ(diagnosis.innocent_calls[0].explained_by, "");
}

TEST(NotCauses, TheFindingThatShortensTheWaitExplainsIt) {
  // Half of the kernel goes, and so 5 of 10.01 ms of the wait.
  Thresholds thresholds;
  SetRule("all", "explained_share", 0.49, thresholds);
  const Diagnosis diagnosis =
      DiagnoseJob({WaitingHost(TimeCategory::kExplicitSync, true, true)}, thresholds);
  ASSERT_NE(FindingWith(diagnosis, "op.fp32"), nullptr);
  ASSERT_EQ(diagnosis.innocent_calls.size(), 1u);
  EXPECT_EQ(diagnosis.innocent_calls[0].explained_by, "op.fp32");
  SetRule("all", "explained_share", 0.51, thresholds);
  const Diagnosis strict =
      DiagnoseJob({WaitingHost(TimeCategory::kExplicitSync, true, true)}, thresholds);
  ASSERT_EQ(strict.innocent_calls.size(), 1u);
  EXPECT_EQ(strict.innocent_calls[0].explained_by, "");
}

// Nobody asks to record what the trace has.
TEST(NotJudged, ShapesOfAGpuThatAreRecordedAreNotMissed) {
  const auto needs_of = [](std::string_view shapes, std::string_view id) -> std::string {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) builder.Step().Kernel("gemm", kMs);
    builder.Part().source = kGpuSource;
    builder.Kind("gemm").shapes = builder.NameOf(shapes);
    for (const NotJudged& row : DiagnoseJob({builder.Build()}).not_judged) {
      if (row.type->id == id) return fmt::format("{}; {}", row.needs, row.hint);
    }
    return "";
  };
  EXPECT_EQ(needs_of("", "op.variance"), "shapes of kernels; record_shapes=True");
  EXPECT_EQ(needs_of("32,3;3,8", "op.variance"), "");
  EXPECT_EQ(needs_of("32,3;3,8", "op.slow"), "tensors of kernels; traces of GPUs do not hold it");
}

TEST(NotCauses, WhatAFindingIsAboutIsNone) {
  const Diagnosis diagnosis = DiagnoseJob({WaitingHost(TimeCategory::kMemory, false)});
  ASSERT_NE(FindingWith(diagnosis, "host.memory"), nullptr);
  EXPECT_TRUE(diagnosis.innocent_calls.empty());
}

TEST(NotCauses, AWaitThatHoldsTheDeviceUpIsNone) {
  // No finding is about it: the last calls of a step are usual. But the step is shorter without it.
  const Diagnosis diagnosis = DiagnoseJob({WaitingHost(TimeCategory::kExplicitSync, false)});
  EXPECT_EQ(FindingWith(diagnosis, "host.sync"), nullptr);
  EXPECT_TRUE(diagnosis.innocent_calls.empty());
}

// What the host waits for in WaitingHost(), as work of another kind.
RankDiagnosis WaitingFor(TimeCategory awaited, TimeCategory category,
                         std::string_view place = "aten::waits") {
  RankDiagnosis part = WaitingHost(category, false);
  part.names.emplace_back(place);
  for (BlockedPart& call : part.blocked) {
    call.place = static_cast<NameId>(part.names.size() - 1);
    part.graph.nodes[part.graph.edges[call.edge].on].category = awaited;
  }
  return part;
}

std::string AdviceOn(const RankDiagnosis& part, std::string_view key) {
  Thresholds thresholds;
  SetRule("host.sync", "usual_calls", 0, thresholds);
  const Diagnosis diagnosis = DiagnoseJob({part}, thresholds);
  const Finding* found = FindingWith(diagnosis, key);
  return found == nullptr ? "no finding" : AdviceOf(*found);
}

TEST(Advice, OnCopiesFitsTheirDirection) {
  EXPECT_EQ(AdviceOn(WaitingFor(TimeCategory::kCopyIn, TimeCategory::kHostCopy), "host.h2d"),
            "pin_memory=True; .to(device, non_blocking=True)");
  EXPECT_EQ(AdviceOn(WaitingFor(TimeCategory::kCopyOut, TimeCategory::kHostCopy), "host.h2d"),
            "copy to the host every n steps; copy without blocking into pinned tensors, and wait"
            " before they are read");
}

TEST(Advice, OnSynchronisationsFitsWhoAsksForThem) {
  const std::string of_reads =
      "log every n steps; no .item(), nonzero or printing of tensors in the loop";
  EXPECT_EQ(AdviceOn(WaitingFor(TimeCategory::kMatmul, TimeCategory::kScalarSync), "host.sync"),
            of_reads);
  EXPECT_EQ(AdviceOn(WaitingFor(TimeCategory::kMatmul, TimeCategory::kExplicitSync), "host.sync"),
            of_reads)
      << "an operator that synchronises to read a size";
  EXPECT_EQ(
      AdviceOn(WaitingFor(TimeCategory::kMatmul, TimeCategory::kExplicitSync, ""), "host.sync"),
      "no torch.npu.synchronize() or the like in the loop; measure times with events, and"
      " read them after the step");
  RankDiagnosis gpu = WaitingFor(TimeCategory::kMatmul, TimeCategory::kExplicitSync, "");
  gpu.source = kGpuSource;
  EXPECT_EQ(AdviceOn(gpu, "host.sync"),
            "no torch.cuda.synchronize() or the like in the loop; measure times with events, and"
            " read them after the step");
}

TEST(Advice, IsNotToRecordWhatTheLevelRecords) {
  RankDiagnosis part = WaitingHost(TimeCategory::kHostCopy, false);
  part.level = "Level0";
  part.has_calls = false;
  const auto hints = [&] {
    std::set<std::string> found;
    for (const NotJudged& row : DiagnoseJob({part}).not_judged) found.emplace(row.hint);
    return found;
  };
  EXPECT_TRUE(hints().contains("profiler_level=Level1"));
  part.level = "Level1";
  EXPECT_FALSE(hints().contains("profiler_level=Level1"));
  EXPECT_TRUE(hints().contains("all files of the capture"));
}

TEST(Advice, IsNotToCaptureWhatGpusDoNotHave) {
  RankDiagnosis part = WaitingHost(TimeCategory::kHostCopy, false);
  part.source = kGpuSource;
  part.knows_garbage = false;
  part.has_stacks = true;
  for (int i = 0; i < 3; ++i) part.steps[static_cast<std::size_t>(i)].mhz = 0;
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* missing = FindingWith(diagnosis, "capture.missing");
  std::int64_t capturable = 0;
  for (const NotJudged& row : diagnosis.not_judged)
    capturable += row.hint == "traces of GPUs do not hold it" ? 0 : 1;
  EXPECT_LT(capturable, static_cast<std::int64_t>(diagnosis.not_judged.size()));
  if (capturable == 0) {
    EXPECT_EQ(missing, nullptr);
  } else {
    ASSERT_NE(missing, nullptr);
    EXPECT_EQ(MetricIn(*missing, "causes_not_judged"), capturable);
  }
}

TEST(HostMetrics, BlockedTimeOfCopiesCounts) {
  const Diagnosis diagnosis = DiagnoseJob({WaitingHost(TimeCategory::kHostCopy, false)});
  const Finding* found = FindingWith(diagnosis, "host.h2d");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 10 * kMs);
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 1);
}

RankDiagnosis CollectingHost(TimeNs garbage) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step();
    if (garbage > 0) builder.Host(TimeCategory::kGarbage, garbage);
    builder.Kernel("MatMulV3", 10 * kMs);
  }
  return builder.Build();
}

TEST(HostMetrics, AreThoseOfTheNamedRanks) {
  const Diagnosis diagnosis =
      DiagnoseJob({CollectingHost(0), CollectingHost(0), CollectingHost(6 * kMs)});
  const Finding* found = FindingWith(diagnosis, "host.gc");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks, (std::vector<RankId>{2}));
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 6 * kMs) << "not the mean of three ranks";
}

// A rank of a job that works for a while in each step, in `silence` of it without a record of its
// host.
RankDiagnosis OneOfThree(TimeNs silence) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step();
    if (silence > 0) {
      builder.Host(TimeCategory::kHostIdle, silence);
      builder.Part().gaps.push_back(
          {static_cast<std::uint32_t>(builder.Part().graph.edges.size() - 1),
           builder.Now() - silence, silence});
    }
    builder.Kernel("MatMulV3", 40 * kMs)
        .Collective("hcom_allReduce__1_" + std::to_string(step), 31 * kMs - silence);
  }
  builder.Part().knows_garbage = false;
  return builder.Build();
}

// The host records nothing for a while in each step, `moves`: at another place in each.
RankDiagnosis SilentHost(TimeNs gap, bool moves = true) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step();
    for (int i = 0; i < (moves ? step : 0); ++i) builder.Host(TimeCategory::kDispatchOp, kUs);
    builder.Host(TimeCategory::kHostIdle, gap);
    builder.Part().gaps.push_back(
        {static_cast<std::uint32_t>(builder.Part().graph.edges.size() - 1), builder.Now() - gap,
         gap});
    builder.Kernel("MatMulV3", 40 * kMs);
  }
  builder.Part().knows_garbage = false;
  return builder.Build();
}

TEST(SilentGaps, MayBeGarbageCollections) {
  const Diagnosis diagnosis = DiagnoseJob({SilentHost(20 * kMs)});
  const Finding* found = FindingWith(diagnosis, "host.gc");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 20 * kMs);
  EXPECT_EQ(found->confidence, Certainty::kLow);
  EXPECT_EQ(MetricIn(*found, "silent_gaps_per_step"), 1);
  EXPECT_EQ(FindingWith(diagnosis, "host.python"), nullptr) << "a gap is not sold twice";
}

// Memory fills up at any place. What stands still at the same place of each step, or once, is what
// the program does there, whatever that is.
TEST(SilentGaps, AtOnePlaceAreNotRecorded) {
  const Diagnosis diagnosis = DiagnoseJob({SilentHost(20 * kMs, false)});
  EXPECT_EQ(FindingWith(diagnosis, "host.gc"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "host.python"), nullptr);
  const Finding* found = FindingWith(diagnosis, "host.unrecorded");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 20 * kMs);
}

TEST(SilentGaps, OfMostOfTheTimeMeanThatNothingWasRecorded) {
  EXPECT_EQ(FindingWith(DiagnoseJob({SilentHost(41 * kMs)}), "host.gc"), nullptr)
      << "more than the 40 ms of the kernel";
}

TEST(SilentGaps, ShortOnesAreIdleTime) {
  const Diagnosis diagnosis = DiagnoseJob({SilentHost(19 * kMs)});
  EXPECT_EQ(FindingWith(diagnosis, "host.gc"), nullptr);
  EXPECT_NE(FindingWith(diagnosis, "host.unrecorded"), nullptr);
}

TEST(SilentGaps, OfARankThatIsLateBelongToTheRank) {
  const Diagnosis diagnosis = DiagnoseJob({OneOfThree(0), OneOfThree(0), OneOfThree(30 * kMs)});
  EXPECT_NE(FindingWith(diagnosis, "rank.late_host/r2"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "host.gc"), nullptr);
}

// Kernels of `dur`, one after the other, that the host launches every 30 us.
RankDiagnosis LaunchedKernels(int kernels, TimeNs dur) {
  PartBuilder builder;
  builder.Step().Kernel("MatMulV3", 1);
  RankDiagnosis& part = builder.Part();
  const TimeNs begin = builder.Now();
  const std::uint32_t first = builder.Last();
  std::uint32_t launch = first, before = first;
  TimeNs busy = begin;
  for (int i = 1; i <= kernels; ++i) {
    const TimeNs time = begin + i * 30 * kUs, start = std::max(busy, time);
    const auto node = static_cast<std::uint32_t>(part.graph.nodes.size());
    part.graph.nodes.push_back({.start = time, .kind = NodeKind::kLaunch, .step = 0});
    part.graph.nodes.push_back({.start = start,
                                .dur = dur,
                                .kind = NodeKind::kKernel,
                                .category = TimeCategory::kMatmul,
                                .step = 0,
                                .row = 0});
    part.shares.push_back({.edge = static_cast<std::uint32_t>(part.graph.edges.size()),
                           .category = TimeCategory::kDispatchOp,
                           .time = 30 * kUs});
    part.graph.edges.push_back({node, launch, WaitsFor::kStart, 30 * kUs});
    part.graph.edges.push_back({node + 1, node, WaitsFor::kStart, 0});
    part.graph.edges.push_back({node + 1, before, WaitsFor::kEnd, 0});
    launch = node;
    before = node + 1;
    busy = start + dur;
  }
  RankDiagnosis built = builder.Build();
  built.steps[0].end = busy;
  built.graph.last = {{before}};
  return built;
}

TEST(LaunchBound, IsMeasuredWhereTheDeviceWaitsForLaunches) {
  const Diagnosis diagnosis = DiagnoseJob({LaunchedKernels(40, 10 * kUs)});
  const Finding* found = FindingWith(diagnosis, "host.launch_bound");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "time_per_launch"), 30 * kUs);
  EXPECT_EQ(MetricIn(*found, "mean_kernel"), 10 * kUs);
  EXPECT_NEAR(static_cast<double>(found->gain), 0.2 * 40 * 30e3, 100)
      << "a fifth of the host's work";
}

MPA_REFUTES(LaunchBound, IsNoMatterOfAHostThatIsAhead, "host.launch_bound");
TEST(LaunchBound, IsNoMatterOfAHostThatIsAhead) {
  EXPECT_EQ(FindingWith(DiagnoseJob({LaunchedKernels(40, 40 * kUs)}), "host.launch_bound"),
            nullptr);
  EXPECT_EQ(FindingWith(DiagnoseJob({LaunchedKernels(9, 10 * kUs)}), "host.launch_bound"), nullptr)
      << "a short run";
  Thresholds thresholds;
  SetRule("host.launch_bound", "share", 0.7, thresholds);  // 39 gaps of 20 us in 1.21 ms are 64 %
  EXPECT_EQ(
      FindingWith(DiagnoseJob({LaunchedKernels(40, 10 * kUs)}, thresholds), "host.launch_bound"),
      nullptr);
}

TEST(World, CountsRanksThatWereOnlyMet) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step)
    builder.Step()
        .Kernel("MatMulV3", kMs)
        .Collective("hcom_allReduce__1_" + std::to_string(step), kMs);
  builder.Part().transfers.push_back(
      {.operation = 0, .peer = 5, .transport = builder.NameOf("SDMA"), .all = {1, 1, 1}});
  EXPECT_EQ(DiagnoseJob({builder.Build(), CollectingHost(0)}).world, 6);
}

// The second rank has no work of the device, and is left out of all else.
TEST(World, CountsTheMembersOfGroupsThatOnlyARankWithoutWorkNames) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) builder.Step().Kernel("MatMulV3", kMs);
  RankDiagnosis without_work;
  without_work.collectives.groups = {{"g", "", {0, 7, 3}}};
  const Diagnosis diagnosis = DiagnoseJob({builder.Build(), without_work});
  EXPECT_EQ(diagnosis.ranks_without_work, std::vector<RankId>{1});
  EXPECT_EQ(diagnosis.world, 8) << "ranks 0 to 7";
}

bool IsNotJudged(const Diagnosis& diagnosis, std::string_view id) {
  return std::any_of(diagnosis.not_judged.begin(), diagnosis.not_judged.end(),
                     [&](const NotJudged& row) { return row.type->id == id; });
}

bool IsFine(const Diagnosis& diagnosis, std::string_view id) {
  return std::any_of(diagnosis.passed_checks.begin(), diagnosis.passed_checks.end(),
                     [&](const FindingType* finding) { return finding->id == id; });
}

// 0.9 of 10 ms run on the AI CPU, and 90 % of it goes. Half of it would go with another type, but
// of the rest that is 0.045 ms, less than 1 %.
Diagnosis ProductsOnTheAiCpu(const Thresholds& thresholds = {}) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step)
    builder.Step()
        .Kernel("MatMulV3", 900 * kUs, TimeCategory::kAiCpu)
        .Kernel("Add", 9'100 * kUs, TimeCategory::kVector);
  builder.Kind("MatMulV3").multiplies_fp32 = true;
  return DiagnoseJob({builder.Build()}, thresholds);
}

TEST(Hidden, CausesOfWhichFindingsSaveTheTimeAreNotFine) {
  const Diagnosis diagnosis = ProductsOnTheAiCpu();
  EXPECT_NE(FindingWith(diagnosis, "op.aicpu"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "op.fp32"), nullptr);
  ASSERT_EQ(diagnosis.hidden.size(), 1u);
  EXPECT_EQ(diagnosis.hidden[0].key, "op.fp32");
  EXPECT_EQ(diagnosis.hidden[0].alone, 450 * kUs);
  EXPECT_EQ(diagnosis.hidden[0].after, std::vector<std::string>{"op.aicpu"});
  EXPECT_FALSE(IsFine(diagnosis, "op.fp32"));
  EXPECT_TRUE(IsFine(diagnosis, "op.optimizer"));
}

TEST(Hidden, WhatSavesLittleAloneIsFine) {
  Thresholds thresholds;
  SetRule("all", "least_share", 0.046, thresholds);  // of 10 ms
  const Diagnosis diagnosis = ProductsOnTheAiCpu(thresholds);
  EXPECT_NE(FindingWith(diagnosis, "op.aicpu"), nullptr);
  EXPECT_TRUE(diagnosis.hidden.empty());
  EXPECT_TRUE(IsFine(diagnosis, "op.fp32"));
}

// The kernels of an optimizer on the AI CPU are 2 us, of which 0.6 would go: less than the
// products.
TEST(Hidden, TheLargestComesFirst) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step()
        .Kernel("MatMulV3", 900 * kUs, TimeCategory::kAiCpu)
        .Kernel("MatMulV2", 300 * kUs, TimeCategory::kAiCpu)
        .Kernel("Add", 8'800 * kUs, TimeCategory::kVector);
    for (int i = 0; i < 2; ++i) builder.Kernel("Mul", kUs, TimeCategory::kAiCpu, true);
  }
  builder.Kind("MatMulV3").multiplies_fp32 = builder.Kind("MatMulV2").multiplies_fp32 = true;
  Thresholds thresholds;
  SetRule("op.optimizer", "share", 0, thresholds);
  SetRule("op.optimizer", "launches", 1, thresholds);
  SetRule("all", "least_share", 0.0001, thresholds);
  SetRule("all", "least_ns", 1'000, thresholds);
  SetRule("all", "search_share", 0.1, thresholds);
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()}, thresholds);
  ASSERT_EQ(diagnosis.hidden.size(), 2u);
  EXPECT_EQ(diagnosis.hidden[0].key, "op.fp32");
  EXPECT_EQ(diagnosis.hidden[1].key, "op.optimizer");
}

// The device of a trace without operators and stacks waits for something that is not recorded.
TEST(Judged, AnUnknownHostIsNotPython) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step)
    builder.Step().Host(TimeCategory::kHostIdle, 50 * kMs).Kernel("MatMulV3", 50 * kMs);
  RankDiagnosis part = builder.Build();
  EXPECT_NE(FindingWith(DiagnoseJob({part}), "host.unrecorded"), nullptr);
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "host.python"), nullptr);
  part.has_host_ops = false;
  EXPECT_EQ(FindingWith(DiagnoseJob({part}), "host.unrecorded"), nullptr);
}

MPA_REFUTES(Judged, SaysWhatWasNotRecorded, "capture.missing");
TEST(Judged, SaysWhatWasNotRecorded) {
  RankDiagnosis part = CollectingHost(0);
  EXPECT_TRUE(IsFine(DiagnoseJob({part}), "host.gc"));
  EXPECT_TRUE(IsNotJudged(DiagnoseJob({part}), "dev.clock"));
  part.knows_garbage = part.has_stacks = part.has_calls = false;
  const Diagnosis diagnosis = DiagnoseJob({part});
  for (const char* id : {"host.gc", "host.python", "host.memory", "mem.pressure", "host.aclop"}) {
    EXPECT_TRUE(IsNotJudged(diagnosis, id)) << id;
    EXPECT_FALSE(IsFine(diagnosis, id)) << id;
  }
  EXPECT_FALSE(IsFine(diagnosis, "pp.bubble")) << "there is no pipeline";
  EXPECT_FALSE(IsFine(diagnosis, "comm.small")) << "nor communication";
}

TEST(Judged, OfGpusNamesNoOptionsOfNpus) {
  RankDiagnosis part = CollectingHost(0);
  part.source = kGpuSource;
  part.knows_garbage = part.has_stacks = part.has_calls = false;
  const Diagnosis diagnosis = DiagnoseJob({part});
  EXPECT_TRUE(IsNotJudged(diagnosis, "host.compile"));
  EXPECT_FALSE(IsNotJudged(diagnosis, "host.aclop"));
  for (const NotJudged& row : diagnosis.not_judged) {
    EXPECT_EQ(row.needs.find("CANN"), std::string::npos) << row.type->id;
    EXPECT_EQ(row.hint.find("Level1"), std::string::npos) << row.type->id;
  }
  part.has_calls = true;
  EXPECT_TRUE(IsFine(DiagnoseJob({part}), "host.memory"));
}

TEST(Judged, EveryNeedHasWordsInChinese) {
  RankDiagnosis part = CollectingHost(0);
  part.knows_garbage = part.has_stacks = part.has_calls = false;
  for (const char* source : {"text", kGpuSource}) {
    part.source = source;
    for (const NotJudged& row : DiagnoseJob({part}).not_judged)
      EXPECT_TRUE(HasChinese(row.needs)) << row.needs;
  }
}

TEST(ClockDoubts, AreNotes) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.notes = {"first"};
  diagnosis.lateness.doubts = {{0, 3, 12'340}};
  EXPECT_EQ(
      NotesOf(diagnosis),
      (std::vector<std::string>{"first",
                                "the clocks of ranks 0 and 3 contradict each other by 12.34 us: a"
                                " rank that is late by less cannot be identified"}));
  EXPECT_NE(InChinese([&] { return NotesOf(diagnosis); })[1].find("12.34 us"), std::string::npos);
}

TEST(ClockDoubts, AreOnTheScreen) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.lateness.doubts = {{0, 3, 12'340}, {1, 2, 5'000}};
  const std::vector<std::string> lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_EQ(
      std::count(lines.begin(), lines.end(),
                 "  the clocks of ranks 0 and 3 contradict each other by 12.34 us: a rank that is"),
      1);
}

TEST(LateRanks, AreNamedWhereNoFindingNamesThem) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings.clear();
  diagnosis.lateness.instances = {
      {.group = "g", .name = "allreduce", .members = {}, .of_group = {}}};
  diagnosis.lateness.of_instance = {
      {true, {{.ranks = {7}, .time = 2 * diagnosis.step, .before = diagnosis.step}}}};
  diagnosis.lateness.ranks = {{.ranks = {7},
                               .captured = true,
                               .times = 1,
                               .sum = diagnosis.step,
                               .as_last = diagnosis.step,
                               .most = diagnosis.step}};
  const std::string text = LateText(diagnosis);
  EXPECT_TRUE(text.starts_with("late: rank 7 arrived ")) << text;
  EXPECT_TRUE(text.ends_with(" after the second-to-last rank")) << text;
  diagnosis.lateness.ranks[0].as_last = 1;  // less than a finding has to cost
  EXPECT_EQ(LateText(diagnosis), "");
}

TEST(StepShares, WithoutCommunicationHaveNoWaits) {
  AccountRow row{0, 1, 10, {{"comp.matmul", 10}}};
  const auto shows_waits = [&] {
    const std::vector<StepShare> shares = SharesOf(row);
    return std::any_of(shares.begin(), shares.end(), [](const StepShare& share) {
      return share.always && share.name == "waiting for ranks";
    });
  };
  EXPECT_TRUE(shows_waits());
  row.communicates = false;
  EXPECT_FALSE(shows_waits());
}

TEST(StepShares, HaveColoursOfTheirOwn) {
  std::set<Tint> tints;
  for (const StepShare& share : SharesOf({0, 1, 10, {{"comp.matmul", 10}}}))
    EXPECT_TRUE(tints.insert(share.tint).second) << share.name;
}

}  // namespace
}  // namespace mpa
