// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/gate/run_summary.h"
#include "support/rank_builder.h"

namespace mpa::gate {
namespace {

using test::RankBuilder;

std::vector<std::int64_t> Of(const Samples& samples, const char* metric) {
  const auto found = samples.find(ParseMetric(metric));
  return found == samples.end() ? std::vector<std::int64_t>{-1} : found->second;
}

// Two steps on the host, 0 to 100 and 100 to 200. The work of the first ends at 120: the second
// begins there on the device.
//   step 1: MatMul 10-60, allReduce 50-90, Add 110-120; launched by aten::mm and aten::add
//   step 2: MatMul 130-170, allReduce 180-195
class GateSummarise : public testing::Test {
 protected:
  GateSummarise() {
    const std::int32_t main = builder_.Thread(1);
    builder_.Op("ProfilerStep#1", 0, 100, main);
    builder_.Op("ProfilerStep#2", 101, 200, main);
    builder_.Step(1, 0, 100);
    builder_.Step(2, 101, 200);
    builder_.Op("aten::linear", 4, 20, main);
    builder_.Op("aten::mm", 5, 15, main);
    builder_.Op("aten::add", 30, 40, main);
    builder_.Op("aten::mm", 105, 109, main);
    Kernel(1, 6, 10, 60, "mm_kernel", "MatMul");
    Kernel(2, 35, 110, 120, "add_kernel", "Add");
    Kernel(3, 106, 130, 170, "mm_kernel", "MatMul");
    const std::int32_t group = builder_.Group("dp");
    builder_.Collective(group, 50, 90);
    builder_.Collective(group, 180, 195);
  }

  void Kernel(std::int64_t link, TimeNs launched, TimeNs start, TimeNs end, const char* name,
              const char* type) {
    builder_.Launch(link, launched, 0);
    builder_.trace.kernels.Append({.start = start,
                                   .dur = end - start,
                                   .name = builder_.Text(name),
                                   .op_type = builder_.Text(type),
                                   .shapes = builder_.Text("8,8"),
                                   .link = link});
  }

  RankBuilder builder_;
};

TEST_F(GateSummarise, StepsAreToldApartByWhatTheyLaunched) {
  const RankSummary summary = Summarise(builder_.trace, {});
  EXPECT_EQ(summary.steps, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(Of(summary.samples, "step_time"), (std::vector<std::int64_t>{120, 80}));
  EXPECT_EQ(Of(summary.samples, "computing"), (std::vector<std::int64_t>{60, 40}));
  EXPECT_EQ(Of(summary.samples, "comm_total"), (std::vector<std::int64_t>{40, 15}));
  EXPECT_EQ(Of(summary.samples, "comm_exposed"), (std::vector<std::int64_t>{30, 15}));
  EXPECT_EQ(Of(summary.samples, "free"), (std::vector<std::int64_t>{30, 25}));
  EXPECT_EQ(Of(summary.samples, "e2e"), (std::vector<std::int64_t>{185}));  // 10 to 195
  EXPECT_EQ(Of(summary.samples, "peak_memory"), (std::vector<std::int64_t>{-1}));
}

TEST_F(GateSummarise, PartsAddUpToTheStep) {
  const Samples samples = Summarise(builder_.trace, {}).samples;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Of(samples, "computing")[i] + Of(samples, "comm_exposed")[i] + Of(samples, "free")[i],
              Of(samples, "step_time")[i]);
  }
}

// Where it runs apart from everything, LCCL is neither communication nor free time.
TEST_F(GateSummarise, LcclIsAPartOfItsOwn) {
  builder_.trace.communications.Append(
      {.start = 92, .dur = 8, .name = builder_.Text("kernel_aivec")});
  const RankSummary summary = Summarise(builder_.trace, {});
  const Samples& samples = summary.samples;
  EXPECT_EQ(Of(samples, "lccl"), (std::vector<std::int64_t>{8, 0}));
  EXPECT_EQ(Of(samples, "comm_total"), (std::vector<std::int64_t>{40, 15}));
  EXPECT_EQ(Of(samples, "comm_exposed"), (std::vector<std::int64_t>{30, 15}));
  EXPECT_EQ(Of(samples, "free"), (std::vector<std::int64_t>{22, 25}));
  EXPECT_EQ(summary.breakdown.collectives, (TimesByName{{"allreduce", {23, 0}}}));
}

// As the tables of some chips list it: among the kernels, on the host beside them.
TEST_F(GateSummarise, LcclIsNoComputingWhereItIsListedAsAKernel) {
  Kernel(4, 36, 92, 100, "kernel_aivec", "LcalAllReduce");
  builder_.trace.communications.Append(
      {.start = 92, .dur = 8, .name = builder_.Text("kernel_aivec")});
  const Samples samples = Summarise(builder_.trace, {}).samples;
  EXPECT_EQ(Of(samples, "computing"), (std::vector<std::int64_t>{60, 40}));
  EXPECT_EQ(Of(samples, "lccl"), (std::vector<std::int64_t>{8, 0}));
  EXPECT_EQ(Of(samples, "free"), (std::vector<std::int64_t>{22, 25}));
}

// What copies is no kernel, whatever its name.
TEST_F(GateSummarise, CopiesOfAGpuAreNoComputing) {
  builder_.trace.device = DeviceKind::kGpu;
  builder_.Task("gpu_memcpy", 92, 100, 7, "CopyDeviceToDevice");
  EXPECT_EQ(Of(Summarise(builder_.trace, {}).samples, "computing"),
            (std::vector<std::int64_t>{60, 40}));
}

// As in the overall comparison: from the first to the last work of the device.
TEST_F(GateSummarise, PartsOfTheCaptureAddUpToItsTime) {
  builder_.trace.communications.Append(
      {.start = 92, .dur = 8, .name = builder_.Text("kernel_aivec")});
  const RankSummary summary = Summarise(builder_.trace, {});
  EXPECT_EQ(summary.breakdown.capture, (TimesByName{{"computing", {100, 0}},
                                                    {"exposed allreduce", {45, 0}},
                                                    {"LCCL", {8, 0}},
                                                    {"free between tasks", {32, 0}}}));
  EXPECT_EQ(Of(summary.samples, "e2e"), (std::vector<std::int64_t>{100 + 45 + 8 + 32}));
}

// Of the second step's free time, 170-180 and 195-200, the copy takes 172-178.
TEST_F(GateSummarise, FreeTimeHoldsNoCopies) {
  builder_.trace.device = DeviceKind::kGpu;
  builder_.Task("gpu_memcpy", 172, 178, 7, "Memcpy DtoH (Device -> Pinned)");
  const Samples samples = Summarise(builder_.trace, {}).samples;
  const std::vector<std::int64_t> copies = Of(samples, "copies"), free = Of(samples, "free");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies, (std::vector<std::int64_t>{0, 6}));
  EXPECT_EQ(free, (std::vector<std::int64_t>{30, 25 - 6}));
}

TEST_F(GateSummarise, WithoutStepsFreeTimeIsThatOfTheComparison) {
  builder_.trace.steps = {};
  const Samples samples = Summarise(builder_.trace, {}).samples;
  EXPECT_EQ(Of(samples, "e2e"), (std::vector<std::int64_t>{185}));
  EXPECT_EQ(Of(samples, "free"), (std::vector<std::int64_t>{185 - 100 - 45}));
}

TEST_F(GateSummarise, OverlapsWithoutWorkOfTheDeviceHaveNoAccount) {
  builder_.trace.steps = {};
  builder_.trace.kernels = {};
  builder_.trace.device_tasks = {};
  builder_.trace.communications = {};
  builder_.Overlap(Activity::kComputing, 10, 60);
  const Samples samples = Summarise(builder_.trace, {}).samples;
  EXPECT_EQ(Of(samples, "copies"), (std::vector<std::int64_t>{-1}));
  EXPECT_EQ(Of(samples, "free"), (std::vector<std::int64_t>{-1}));
}

TEST_F(GateSummarise, TheProfilersOwnOverlapsAreNotAskedWhereThereIsWork) {
  builder_.Overlap(Activity::kComputing, 10, 40);
  builder_.Overlap(Activity::kCommunication, 30, 50);
  builder_.Overlap(Activity::kExposedCommunication, 40, 50);
  const Samples samples = Summarise(builder_.trace, {}).samples;
  EXPECT_EQ(Of(samples, "computing"), (std::vector<std::int64_t>{60, 40}));
  EXPECT_EQ(Of(samples, "comm_exposed"), (std::vector<std::int64_t>{30, 15}));
  EXPECT_EQ(Of(samples, "comm_total"), (std::vector<std::int64_t>{40, 15}));
}

TEST_F(GateSummarise, WarmupDropsLeadingSteps) {
  const RankSummary summary = Summarise(builder_.trace, {.patterns = {}, .warmup = 1});
  EXPECT_EQ(summary.steps, (std::vector<std::int32_t>{2}));
  EXPECT_EQ(Of(summary.samples, "step_time"), (std::vector<std::int64_t>{80}));
  EXPECT_EQ(summary.breakdown.op_types, (TimesByName{{"MatMul", {40, 1}}}));
  EXPECT_TRUE(
      Of(Summarise(builder_.trace, {.patterns = {}, .warmup = 5}).samples, "step_time").empty());
}

TEST_F(GateSummarise, PatternsHaveASampleForEachStep) {
  const RankSummary summary =
      Summarise(builder_.trace,
                {{ParseMetric("op:Mat*"), ParseMetric("kernel:add*"), ParseMetric("op:aten::*"),
                  ParseMetric("op:aten::linear"), ParseMetric("api:aten::linear"),
                  ParseMetric("api:aten::*"), ParseMetric("op:None")}});
  const Samples& samples = summary.samples;
  EXPECT_EQ(Of(samples, "op:Mat*"), (std::vector<std::int64_t>{50, 40}));
  EXPECT_EQ(Of(samples, "kernel:add*"), (std::vector<std::int64_t>{10, 0}));
  EXPECT_EQ(Of(samples, "op:aten::*"), (std::vector<std::int64_t>{60, 40}));
  // With what the operators within launched.
  EXPECT_EQ(Of(samples, "op:aten::linear"), (std::vector<std::int64_t>{50, 0}));
  EXPECT_EQ(Of(samples, "api:aten::linear"), (std::vector<std::int64_t>{16, 0}));
  // aten::mm within aten::linear counts once: 16 + 10.
  EXPECT_EQ(Of(samples, "api:aten::*"), (std::vector<std::int64_t>{26, 4}));
  EXPECT_EQ(Of(samples, "op:None"), (std::vector<std::int64_t>{0, 0}));
}

// Medians of two steps lie between them, halves up: a call in one of two steps is one call.
TEST_F(GateSummarise, BreakdownIsOfTheMedianStep) {
  const Breakdown breakdown = Summarise(builder_.trace, {}).breakdown;
  EXPECT_EQ(breakdown.op_types, (TimesByName{{"Add", {5, 1}}, {"MatMul", {45, 1}}}));
  EXPECT_EQ(breakdown.kernels, (TimesByName{{"add_kernel", {5, 1}}, {"mm_kernel", {45, 1}}}));
  // aten::linear launched nothing itself; on the host 16 - 10 ns are its own.
  EXPECT_EQ(breakdown.operators, (TimesByName{{"aten::add", {5, 1}}, {"aten::mm", {45, 1}}}));
  EXPECT_EQ(breakdown.apis.at("aten::linear"), (TimeAndCount{3, 1}));
  EXPECT_EQ(breakdown.collectives, (TimesByName{{"allreduce", {23, 0}}}));  // 30 and 15
}

// Step 2 is 120 to 200 on the device: MatMul, a collective without tasks, and free time.
TEST_F(GateSummarise, TheAccountAddsUpToTheStep) {
  const Breakdown breakdown = Summarise(builder_.trace, {.patterns = {}, .warmup = 1}).breakdown;
  TimesByName occupied = breakdown.account;
  TimeNs free = 0;
  for (const auto& [name, amount] : breakdown.account) {
    if (!name.starts_with("free.")) continue;
    free += amount.time;
    occupied.erase(name);
  }
  EXPECT_EQ(occupied,
            (TimesByName{{"comm.unsplit: allreduce", {15, 1}}, {"comp: MatMul", {40, 1}}}));
  EXPECT_EQ(free, 25);
}

TEST_F(GateSummarise, FreeTimeHasThePlacesOfTheHost) {
  builder_.Op("aten::nonzero", 171, 178, 0);
  builder_.Call("train.py(7): f", 165, 199, 0);
  builder_.trace.host_calls.Append({.start = 172,
                                    .dur = 4,
                                    .name = builder_.Text("AscendCL@aclrtSynchronizeStream"),
                                    .track = 0});
  builder_.Launch(9, 179, 0);
  builder_.trace.communications.link.back() = 9;  // 180 to 195
  const Breakdown breakdown = Summarise(builder_.trace, {.patterns = {}, .warmup = 1}).breakdown;
  EXPECT_EQ(breakdown.account.at("free.sync.scalar").time, 7);
  EXPECT_EQ(breakdown.places.at("free.sync.scalar: aten::nonzero at train.py:7").time, 7);
}

// The tasks tell when the peer came: 5 ns behind the rank itself.
TEST_F(GateSummarise, AWaitNamesItsPeer) {
  builder_.trace.job.groups = {{.id = "dp", .name = "dp", .ranks = {8, 9}}};
  builder_.trace.communications.start.back() = 100'180;
  builder_.trace.communications.dur.back() = 50'000;
  builder_.trace.steps.end.back() = 200'101;
  builder_.trace.host_ops.dur[1] = 200'000;
  builder_.CommTask(0, 0, "Notify_Wait", 100'180, 130'180);
  builder_.trace.comm_tasks.peer.back() = 1;
  builder_.CommTask(0, 0, "Memcpy", 130'180, 150'180);
  builder_.trace.comm_tasks.bytes.back() = 1 << 20;
  const TimesByName account =
      Summarise(builder_.trace, {.patterns = {}, .warmup = 1}).breakdown.account;
  EXPECT_EQ(account.at("comm.wait_peer: allreduce, rank 9").time, 30'000);
  EXPECT_EQ(account.at("comm.transfer: allreduce").time, 20'000);
}

// Neither a step nor nothing is an operator.
TEST_F(GateSummarise, WorkThatNoOperatorLaunchedIsOfNone) {
  Kernel(4, 60, 92, 95, "kernel", "Other");     // within the step alone
  Kernel(5, 250, 171, 173, "kernel", "Other");  // behind all
  EXPECT_EQ(Summarise(builder_.trace, {}).breakdown.operators,
            (TimesByName{{"aten::add", {5, 1}}, {"aten::mm", {45, 1}}}));
}

TEST_F(GateSummarise, OfCollectivesAtOnceTheFirstCounts) {
  const std::int32_t group = builder_.Group("tp");
  builder_.Collective(group, 80, 105, "hcom_allGather__2_0_1");  // 90 to 105 alone
  // Medians of two steps, 7.5 and 22.5, halves up.
  EXPECT_EQ(Summarise(builder_.trace, {}).breakdown.collectives,
            (TimesByName{{"allgather", {8, 0}}, {"allreduce", {23, 0}}}));
}

TEST_F(GateSummarise, WithoutStepsTheCaptureIsOneSample) {
  builder_.trace.steps = {};
  const RankSummary summary = Summarise(builder_.trace, {{ParseMetric("op:MatMul")}, 1});
  EXPECT_TRUE(summary.steps.empty());
  EXPECT_EQ(Of(summary.samples, "step_time"), (std::vector<std::int64_t>{-1}));
  EXPECT_EQ(Of(summary.samples, "computing"), (std::vector<std::int64_t>{100}));
  EXPECT_EQ(Of(summary.samples, "op:MatMul"), (std::vector<std::int64_t>{90}));
}

TEST_F(GateSummarise, StepsInWhichNoKernelIsListed) {
  builder_.Overlap(Activity::kComputing, 10, 60);
  builder_.Overlap(Activity::kComputing, 130, 170);
  EXPECT_TRUE(Summarise(builder_.trace, {}).steps_without_kernels.empty());
  builder_.trace.kernels.Filter([](std::size_t row) { return row < 2; });
  EXPECT_EQ(Summarise(builder_.trace, {}).steps_without_kernels, (std::vector<std::int32_t>{2}));
}

TEST_F(GateSummarise, ShapesAreCountedByTypeAndShape) {
  const ShapeCounts shapes = Summarise(builder_.trace, {}).shapes;
  ASSERT_EQ(shapes.size(), 2u);  // of MatMul and of Add
  std::int64_t kernels = 0;
  for (const auto& [shape, count] : shapes) kernels += count;
  EXPECT_EQ(kernels, 3);
}

TEST_F(GateSummarise, TheChipIsThatOfTheRanksDevice) {
  builder_.trace.chips.Append(
      {.device = 0, .cube_cores = 24, .vector_cores = 48, .cube_mhz = 1800});
  builder_.trace.chips.Append(
      {.device = 1, .cube_cores = 20, .vector_cores = 40, .cube_mhz = 1650});
  EXPECT_EQ(Summarise(builder_.trace, {}).chip,
            "20 cube and 40 vector cores at 1650 MHz or 24 cube and 48 vector cores at 1800 MHz");
  builder_.trace.device_id = 1;
  EXPECT_EQ(Summarise(builder_.trace, {}).chip, "20 cube and 40 vector cores at 1650 MHz");
}

TEST_F(GateSummarise, NothingThereIsNoSample) {
  EXPECT_TRUE(Summarise(RankTrace(), {}).samples.empty());
}

// --- Modules ---

TEST(GateModules, CallsWithinOthersThatFitCountOnce) {
  RankBuilder builder;
  const std::int32_t main = builder.Thread(1);
  builder.Step(1, 0, 100);
  builder.Call("nn.Module: Net_0", 0, 90, main);
  builder.Call("nn.Module: Linear_0", 10, 40, main);
  builder.Call("nn.Module: Linear_1", 20, 30, main);
  builder.Op("aten::mm", 11, 35, main);
  builder.LaunchedKernel(12, main, 5);
  builder.LaunchedKernel(25, main, 7);
  builder.LaunchedKernel(50, main, 100);
  const RankSummary summary = Summarise(
      builder.trace, {{ParseMetric("module:Linear*"), ParseMetric("module:Net_0")}, 0, true});
  EXPECT_EQ(Of(summary.samples, "module:Linear*"), (std::vector<std::int64_t>{12}));
  EXPECT_EQ(Of(summary.samples, "module:Net_0"), (std::vector<std::int64_t>{112}));
  EXPECT_EQ(summary.breakdown.modules,
            (TimesByName{{"Linear_0", {5, 1}}, {"Linear_1", {7, 1}}, {"Net_0", {100, 1}}}));
}

// --- Ranks ---

RankSummary Rank(std::vector<std::int32_t> steps, std::vector<std::int64_t> times,
                 const char* kernel, std::int64_t memory = 0) {
  RankSummary rank;
  rank.steps = std::move(steps);
  rank.samples[ParseMetric("step_time")] = std::move(times);
  if (memory > 0) rank.samples[ParseMetric("peak_memory")] = {memory};
  rank.breakdown.kernels[kernel] = {1, 1};
  rank.shapes["x"] = 1;
  return rank;
}

TEST(GateRanks, EachStepIsReducedByItself) {
  const std::vector<RankSummary> ranks = {Rank({1, 2}, {10, 40}, "a", 5),
                                          Rank({1, 2}, {30, 20}, "b", 9),
                                          Rank({1, 2}, {20, 50}, "c", 7)};
  const RunSummary worst = ReduceRanks(ranks, RankStat::kWorst);
  EXPECT_EQ(Of(worst.samples, "step_time"), (std::vector<std::int64_t>{30, 50}));
  EXPECT_EQ(Of(worst.samples, "peak_memory"), (std::vector<std::int64_t>{9}));
  EXPECT_EQ(worst.shapes.at("x"), 3);
  // Medians of the ranks: 25, 25 and 35.
  EXPECT_TRUE(worst.breakdown.kernels.contains("c"));
  const RunSummary median = ReduceRanks(ranks, RankStat::kMedian);
  EXPECT_EQ(Of(median.samples, "step_time"), (std::vector<std::int64_t>{20, 40}));
  EXPECT_TRUE(median.breakdown.kernels.contains("b"));
}

TEST(GateRanks, OfHundredRanksFiveMayBeSlower) {
  std::vector<RankSummary> ranks;
  for (int i = 1; i <= 100; ++i) ranks.push_back(Rank({1}, {i}, "a"));
  EXPECT_EQ(Of(ReduceRanks(ranks, RankStat::kP95).samples, "step_time"),
            (std::vector<std::int64_t>{95}));
}

TEST(GateRanks, StepsThatOneRankLacksDoNotCount) {
  const RunSummary run = ReduceRanks(
      {Rank({1, 2, 3}, {10, 20, 30}, "a"), Rank({2, 3, 4}, {25, 5, 99}, "b")}, RankStat::kWorst);
  EXPECT_EQ(run.steps, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(Of(run.samples, "step_time"), (std::vector<std::int64_t>{25, 30}));
}

TEST(GateRanks, MetricsThatOneRankLacksAreMissing) {
  const RunSummary run =
      ReduceRanks({Rank({1}, {10}, "a", 5), Rank({1}, {10}, "b")}, RankStat::kWorst);
  EXPECT_FALSE(run.samples.contains(ParseMetric("peak_memory")));
}

}  // namespace
}  // namespace mpa::gate
