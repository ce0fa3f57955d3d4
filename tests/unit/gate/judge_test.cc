// SPDX-License-Identifier: Apache-2.0
#include "mpa/gate/judge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gate/contributions.h"
#include "mpa/change/account_names.h"
#include "mpa/gate/comparable.h"
#include "support/failures.h"

namespace mpa::gate {
namespace {

using test::ErrorOf;

constexpr std::int64_t kGateMs = 1'000'000;

// Three steps of the same length, in ms.
RunSummary OneRun(std::int64_t step, std::int64_t computing, std::int64_t exposed) {
  RunSummary run;
  run.source = "run";
  run.steps = {1, 2, 3};
  const auto add = [&](const char* metric, std::int64_t ms) {
    run.samples[ParseMetric(metric)] = std::vector<std::int64_t>(3, ms * kGateMs);
  };
  add("step_time", step);
  add("computing", computing);
  add("comm_exposed", exposed);
  add("free", step - computing - exposed);
  return run;
}

RunSummary WithKernels(RunSummary run, TimesByName op_types) {
  for (auto& [name, amount] : op_types) amount.time *= kGateMs;
  run.breakdown.op_types = std::move(op_types);
  return run;
}

GateSettings Settings(const std::vector<const char*>& rules) {
  GateSettings settings;
  for (const char* rule : rules) settings.rules.push_back(ParseRule(rule));
  return settings;
}

std::vector<std::string> PartTexts(const std::vector<ChangeNode>& parts) {
  std::vector<std::string> texts;
  texts.reserve(parts.size());
  for (const ChangeNode& part : parts) {
    texts.push_back(fmt::format("{} {} {}", part.kind, part.name, part.Change() / kGateMs));
  }
  return texts;
}

RunSummary WithAccount(RunSummary run, TimesByName account, TimesByName places) {
  for (TimesByName* table : {&account, &places}) {
    for (auto& [name, amount] : *table) amount.time *= kGateMs;
  }
  run.breakdown.account = std::move(account);
  run.breakdown.places = std::move(places);
  return run;
}

// --- Contributions ---

std::vector<ChangeNode> PartsOf(const Metric& metric, const std::vector<RunSummary>& base,
                                const std::vector<RunSummary>& comparison) {
  return CategoriesOf(ChangeOf(metric, base, comparison, 0));
}

const Metric kStep = {MetricKind::kStepTime, ""};

std::int64_t Sum(const std::vector<ChangeNode>& parts) {
  std::int64_t sum = 0;
  for (const ChangeNode& part : parts) sum += part.Change();
  return sum;
}

TEST(GateContributions, PartsAndRemainderAddUpToTheStep) {
  // Kernels grow by 12 ms, computing by 10: 2 ms more at the same time as others.
  const RunSummary base = WithKernels(OneRun(100, 50, 20), {{"MatMul", {40, 1}}, {"Old", {12, 2}}});
  RunSummary slow = WithKernels(OneRun(120, 60, 25), {{"MatMul", {58, 2}}, {"New", {6, 1}}});
  slow.samples[ParseMetric("step_time")] = {118 * kGateMs, 121 * kGateMs, 121 * kGateMs};
  const std::vector<ChangeNode> parts = PartsOf(kStep, {base}, {slow});
  EXPECT_EQ(PartTexts(parts),
            (std::vector<std::string>{"kernel MatMul 18", "kernel Old -12", "kernel New 6",
                                      "component exposed communication 5", "component free time 5",
                                      "component kernels that ran at the same time -2",
                                      "remainder other 1"}));
  EXPECT_EQ(parts[0].base_count, 1);
  EXPECT_EQ(parts[0].comparison_count, 2);
  EXPECT_EQ(Sum(parts), 21 * kGateMs);
  EXPECT_EQ(NewNames({slow}, {base}), std::vector<std::string>{"New"});
  EXPECT_EQ(NewNames({base}, {slow}), std::vector<std::string>{"Old"});
}

TEST(GateContributions, WhatOneSideDoesNotRecordIsNeitherNewNorGone) {
  const RunSummary base = OneRun(100, 50, 20);
  const RunSummary slow = WithKernels(OneRun(110, 60, 20), {{"A", {60, 1}}});
  EXPECT_EQ(PartTexts(PartsOf(kStep, {base}, {slow})),
            (std::vector<std::string>{"component computing 10", "remainder other 0"}));
  EXPECT_TRUE(NewNames({slow}, {base}).empty());
}

TEST(GateContributions, RunsAreTakenByTheirMedian) {
  const auto run = [](std::int64_t matmul) {
    return WithKernels(OneRun(100, 50, 20), {{"MatMul", {matmul, 1}}});
  };
  const std::vector<ChangeNode> parts =
      PartsOf(kStep, {run(40), run(41), run(90)}, {run(45), run(46), run(46)});
  EXPECT_EQ(parts.front().name, "MatMul");
  EXPECT_EQ(parts.front().Change(), 5 * kGateMs);
}

// A run of three steps of which the whole capture takes `e2e` ms.
RunSummary WithCapture(RunSummary run, std::int64_t e2e, TimesByName parts) {
  run.samples[ParseMetric("e2e")] = {e2e * kGateMs};
  for (auto& [name, amount] : parts) amount.time *= kGateMs;
  run.breakdown.capture = std::move(parts);
  return run;
}

TEST(GateContributions, PartsOfTheWholeCaptureAddUpToIt) {
  const RunSummary step = OneRun(100, 50, 20);
  const RunSummary base =
      WithCapture(step, 330, {{"computing", {150, 0}}, {"LCCL", {20, 0}}, {"free time", {160, 0}}});
  const RunSummary slow = WithCapture(OneRun(101, 51, 20), 345,
                                      {{"computing", {151, 0}},
                                       {"exposed allreduce", {4, 0}},
                                       {"LCCL", {22, 0}},
                                       {"free time", {168, 0}}});
  const std::vector<ChangeNode> parts = PartsOf(ParseMetric("e2e"), {base}, {slow});
  EXPECT_EQ(
      PartTexts(parts),
      (std::vector<std::string>{"component free time 8", "component exposed allreduce 4",
                                "component LCCL 2", "component computing 1", "remainder other 0"}));
  EXPECT_EQ(Sum(parts), 15 * kGateMs);
  const RunSummary old = WithCapture(step, 330, {});
  EXPECT_TRUE(PartsOf(ParseMetric("e2e"), {old}, {slow}).empty()) << "an old baseline tells none";
}

TEST(GateContributions, WithoutStepsThePartsOfTheCaptureAreThoseOfTheMetrics) {
  const auto run = [](std::int64_t e2e, std::int64_t computing) {
    RunSummary whole = WithKernels(OneRun(e2e, computing, 20), {{"MatMul", {computing, 1}}});
    whole.steps.clear();
    whole.samples[ParseMetric("e2e")] = whole.samples[ParseMetric("step_time")];
    whole.samples.erase(ParseMetric("step_time"));
    return whole;
  };
  EXPECT_EQ(
      PartTexts(PartsOf(ParseMetric("e2e"), {run(100, 50)}, {run(107, 54)})),
      (std::vector<std::string>{"kernel MatMul 4", "component free time 3", "remainder other 0"}));
}

TEST(GateContributions, ComponentsAreExplainedByTheirOwnParts) {
  RunSummary base = WithKernels(OneRun(100, 50, 20), {{"MatMul", {50, 1}}});
  RunSummary slow = WithKernels(OneRun(120, 58, 26), {{"MatMul", {57, 1}}});
  base.breakdown.collectives = {{"allreduce", {20 * kGateMs, 0}}};
  slow.breakdown.collectives = {{"allreduce", {25 * kGateMs, 0}}};
  const auto parts = [&](const char* metric) {
    return PartTexts(PartsOf(ParseMetric(metric), {base}, {slow}));
  };
  EXPECT_EQ(
      parts("computing"),
      (std::vector<std::string>{"kernel MatMul 7", "component kernels that ran at the same time 1",
                                "remainder other 0"}));
  EXPECT_EQ(
      parts("comm_exposed"),
      (std::vector<std::string>{"collective exposed allreduce 5",
                                "component other exposed communication 1", "remainder other 0"}));
  EXPECT_EQ(parts("free"),
            (std::vector<std::string>{"component free time 6", "remainder other 0"}));
  EXPECT_EQ(parts("comm_total"), (std::vector<std::string>()));
}

// --- Comparable ---

TEST(GateComparable, FieldsThatBothKnowHaveToAgree) {
  RunSummary base = OneRun(100, 50, 20), other = base;
  base.facts = {{"profiler_level", "Level1"}, {"world_size", "8"}, {"soc", "A"}};
  other.facts = {{"profiler_level", "Level0"}, {"world_size", "8"}, {"cann_version", "8.0"}};
  const auto found = FindMismatches({base}, {other}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].field, "profiler_level");
  EXPECT_EQ(found[0].base + found[0].comparison, "Level1Level0");
  EXPECT_FALSE(found[0].allowed);
  EXPECT_TRUE(FindMismatches({base}, {other}, {"profiler_level"})[0].allowed);
  EXPECT_EQ(FindMismatches({base, other}, {base}, {}).size(), 1u) << "runs of one side, too";
}

TEST(GateComparable, ChipsThatMayBeTheSameAgree) {
  const auto mismatches = [](const char* before, const char* after) {
    RunSummary base = OneRun(100, 50, 20), other = base;
    base.facts = {{"soc", before}};
    other.facts = {{"soc", after}};
    return FindMismatches({base}, {other}, {}).size();
  };
  EXPECT_EQ(mismatches("Ascend910B", "Ascend910B or 910C"), 0u);
  EXPECT_EQ(mismatches("Ascend910B or 910C", "Ascend910C"), 0u);
  EXPECT_EQ(mismatches("Ascend910B or 910C", "Ascend910A"), 1u);
  EXPECT_EQ(mismatches("Ascend910B", "Ascend910C"), 1u);
}

TEST(GateComparable, AnotherWarmUpThanThatOfTheBaselineIsNamed) {
  RunSummary base = OneRun(100, 50, 20), other = base;
  base.facts = {{"warmup", "1"}};
  other.facts = {{"warmup", "2"}};
  GateSettings settings = Settings({"step_time>+3%"});
  settings.warmup = 2;
  EXPECT_EQ(Judge(settings, {base}, {other}, {}).headline,
            "NOT COMPARABLE warmup (1 / 2): give --warmup 1");
  EXPECT_EQ(Judge(settings, {other}, {base}, {}).headline,
            "NOT COMPARABLE warmup (2 / 1): give --warmup 1");
  base.facts["soc"] = "Ascend910A";
  other.facts["soc"] = "Ascend910B";
  const GateReport both = Judge(settings, {base}, {other}, {});
  EXPECT_TRUE(both.headline.ends_with(
      ": give --warmup 1; collect both sides alike, or allow the difference with --allow_mismatch"
      " soc"))
      << both.headline;
  EXPECT_EQ(both.short_headline,
            "NOT COMPARABLE soc (Ascend910A / Ascend910B), warmup (1 / 2): give --warmup 1");
}

TEST(GateComparable, HalfOfTheKernelsHaveToBeAlike) {
  // Shares: a 0.5 and 0.25, b 0.5 and 0, c 0 and 0.75.
  EXPECT_DOUBLE_EQ(ShapesInCommon({{"a", 2}, {"b", 2}}, {{"a", 1}, {"c", 3}}), 0.25);
  EXPECT_DOUBLE_EQ(ShapesInCommon({{"a", 1}, {"b", 1}}, {{"a", 10}, {"b", 10}}), 1);
  RunSummary base = OneRun(100, 50, 20), other = base, unknown = base;
  base.shapes = {{"a", 2}, {"b", 2}};
  other.shapes = {{"a", 1}, {"c", 3}};
  EXPECT_EQ(FindMismatches({base}, {other}, {}).at(0).field, "shapes");
  EXPECT_TRUE(FindMismatches({base}, {unknown}, {}).empty());
}

// --- Judge ---

TEST(GateJudge, TheHeadlineNamesTheCausesAndAddsUp) {
  const RunSummary base = WithKernels(OneRun(400, 300, 20),
                                      {{"MatMul", {290, 9}}, {"FlashAttentionScoreGrad", {10, 1}}});
  const RunSummary slow = WithKernels(OneRun(419, 303, 35),
                                      {{"MatMul", {290, 9}}, {"FlashAttentionScoreGrad", {13, 1}}});
  const GateReport report = Judge(Settings({"step_time>+3%"}), {base}, {slow}, {});
  EXPECT_EQ(report.headline,
            "REGRESSION step_time 400.0 -> 419.0 ms (+4.8 %, limit 3 %, noise 0.3 %): +15.0 ms"
            " exposed communication, +3.0 ms FlashAttentionScoreGrad, +1.0 ms other");
  EXPECT_EQ(report.verdict, GateVerdict::kRegression);
}

RunSummary WithCalls(RunSummary run, TimesByName apis) {
  for (auto& [name, amount] : apis) amount.time *= kGateMs;
  run.breakdown.apis = std::move(apis);
  return run;
}

TEST(GateJudge, GrowthOfFreeTimeNamesTheCallsThatGrew) {
  const RunSummary base =
      WithCalls(OneRun(400, 300, 20), {{"aten::item", {2, 1}}, {"aten::mm", {9, 9}}});
  const RunSummary slow = WithCalls(
      OneRun(430, 300, 20), {{"aten::item", {20, 1}}, {"aten::mm", {4, 9}}, {"load", {7, 1}}});
  const GateReport report = Judge(Settings({"step_time>+3%"}), {base}, {slow}, {});
  EXPECT_EQ(PartTexts(report.host_calls),
            (std::vector<std::string>{"host aten::item 18", "host load 7"}));
  EXPECT_HAS_TEXT(report.headline,
                  ": +30.0 ms free time (on the host aten::item +18.00 ms, load +7.000 ms)");
  // The usual noise of free time is 219 %: 80 ms have to grow by 526 ms.
  const RunSummary stalled = WithCalls(OneRun(1000, 300, 20), {{"aten::item", {500, 1}}});
  EXPECT_HAS_TEXT(Judge(Settings({"free>+3%"}), {base}, {stalled}, {}).headline,
                  "): on the host aten::item +498.0 ms");
  EXPECT_TRUE(Judge(Settings({"step_time>+3%"}), {slow}, {base}, {}).host_calls.empty())
      << "free time fell";
  EXPECT_TRUE(
      Judge(Settings({"step_time>+3%"}), {OneRun(400, 300, 20)}, {slow}, {}).host_calls.empty())
      << "what was not recorded has not grown";
}

TEST(GateJudge, TheShortHeadlineLeavesOutCausesBeforeNumbers) {
  const auto headline = [](const TimesByName& before, const TimesByName& after) {
    const RunSummary base = WithKernels(OneRun(400, 300, 20), before);
    const RunSummary slow = WithKernels(OneRun(440, 340, 20), after);
    return Judge(Settings({"step_time>+3%"}), {base}, {slow}, {}).short_headline;
  };
  const std::string numbers =  // 72 characters
      "REGRESSION step_time 400.0 -> 440.0 ms (+10.0 %, limit 3 %, noise 0.3 %)";
  EXPECT_EQ(headline({{"Add", {300, 9}}}, {{"Add", {340, 9}}}), numbers + ": +40.0 ms Add");
  // 12 + 2 + 16 characters beside a name leave it 16 or more; the second kernel has no room.
  EXPECT_EQ(headline({{"FlashAttentionScoreGrad", {270, 9}}, {"Add", {30, 9}}},
                     {{"FlashAttentionScoreGrad", {300, 9}}, {"Add", {40, 9}}}),
            numbers + ": +30.0 ms FlashAt...reGrad");
}

TEST(GateJudge, ASlowDownOfAllKernelsIsSpread) {
  // Ten kinds of 30 ms each grow by 10 %: 30 ms, of which the largest has a tenth.
  TimesByName before, after, account, slow_account;
  for (int i = 0; i < 10; ++i) {
    before["K" + std::to_string(i)] = {30, 1};
    after["K" + std::to_string(i)] = {33, 1};
    account["comp: K" + std::to_string(i)] = {30, 1};
    slow_account["comp: K" + std::to_string(i)] = {33, 1};
  }
  account["free.python"] = slow_account["free.python"] = {100, 1};
  const RunSummary base = WithAccount(WithKernels(OneRun(400, 300, 0), before), account, {});
  const RunSummary slow = WithAccount(WithKernels(OneRun(430, 330, 0), after), slow_account, {});
  const GateReport report = Judge(Settings({"step_time>+3%"}), {base}, {slow}, {});
  EXPECT_HAS_TEXT(report.headline,
                  "): +30.0 ms computing spread over 10 kinds of kernels (+10.0 %)");
  EXPECT_TRUE(report.short_headline.ends_with("): +30.0 ms computing")) << report.short_headline;
  const GateReport computing = Judge(Settings({"computing>+3%"}), {base}, {slow}, {});
  EXPECT_HAS_TEXT(computing.headline, "): +30.0 ms spread over 10 kinds of kernels (+10.0 %)");
}

TEST(GateJudge, TheAccountExplainsWhatItHas) {
  const RunSummary base = WithAccount(
      WithKernels(OneRun(400, 300, 20), {{"MatMul", {310, 9}}}),
      {{"comp: MatMul", {300, 1}}, {"comm.transfer: allreduce", {20, 1}}, {"free.python", {80, 1}}},
      {{"free.python: train.py(3): f", {80, 1}}});
  const RunSummary slow = WithAccount(WithKernels(OneRun(450, 304, 36), {{"MatMul", {314, 10}}}),
                                      {{"comp: MatMul", {304, 1}},
                                       {"comm.transfer: allreduce", {24, 1}},
                                       {"comm.wait_peer: allreduce, rank 5", {12, 1}},
                                       {"free.sync.scalar", {30, 1}},
                                       {"free.python", {80, 1}}},
                                      {{"free.python: train.py(3): f", {80, 1}},
                                       {"free.sync.scalar: aten::item at train.py:90", {29, 1}},
                                       {"free.sync.scalar: aten::equal", {1, 1}}});
  const GateReport report = Judge(Settings({"step_time>+3%"}), {base}, {slow}, {});
  EXPECT_EQ(
      PartTexts(CategoriesOf(report.change)),
      (std::vector<std::string>{"component free time (scalar reads) 30",
                                "collective waiting for rank 5 in allreduce 12", "kernel MatMul 4",
                                "collective transfer in allreduce 4", "remainder other 0"}));
  EXPECT_EQ(CategoriesOf(report.change)[0].category, "free.sync.scalar");
  EXPECT_EQ(CategoriesOf(report.change)[2].comparison_count, 10)
      << "of the kernels, not of the pieces";
  EXPECT_EQ(PartTexts(report.host_calls),
            (std::vector<std::string>{"host aten::item at train.py:90 29"}))
      << "1 ms is below the noise of the step";
  EXPECT_HAS_TEXT(report.headline,
                  ": +30.0 ms free time (scalar reads: aten::item at train.py:90 +29.00 ms),"
                  " +12.0 ms waiting for rank 5 in allreduce");
  const auto explains = [&](const char* rule) {
    return PartTexts(CategoriesOf(Judge(Settings({rule}), {base}, {slow}, {}).change));
  };
  EXPECT_EQ(explains("computing>+1%"),
            (std::vector<std::string>{"kernel MatMul 4", "remainder other 0"}));
  EXPECT_EQ(explains("comm_exposed>+1%"),
            (std::vector<std::string>{"collective waiting for rank 5 in allreduce 12",
                                      "collective transfer in allreduce 4", "remainder other 0"}));
  EXPECT_EQ(explains("free>+1%"), (std::vector<std::string>{"component free time (scalar reads) 30",
                                                            "remainder other 0"}));
}

TEST(GateJudge, ABaselineWithoutAnAccountIsExplainedByWhatItHas) {
  const RunSummary old = WithKernels(OneRun(400, 300, 20), {{"MatMul", {300, 9}}});
  const RunSummary slow = WithAccount(WithKernels(OneRun(450, 350, 20), {{"MatMul", {350, 9}}}),
                                      {{"comp: MatMul", {1, 1}}}, {});
  EXPECT_EQ(PartTexts(CategoriesOf(Judge(Settings({"step_time>+3%"}), {old}, {slow}, {}).change)),
            (std::vector<std::string>{"kernel MatMul 50", "remainder other 0"}));
}

TEST(GateJudge, PartsOfTheAccountHaveTitles) {
  const auto title = [](std::string_view key) { return ReadAccountKey(key).Title(); };
  EXPECT_EQ(title("comm.wait_peer: allreduce, rank 5"), "waiting for rank 5 in allreduce");
  EXPECT_EQ(title("comm.wait_peer: allreduce"), "waiting for other ranks in allreduce");
  EXPECT_EQ(title("comm.bubble: receive, group rank 0"),
            "bubble while waiting for group rank 0 in receive");
  EXPECT_EQ(title("comm.inner_wait: allreduce"), "waiting within allreduce");
  EXPECT_EQ(title("comm.unsplit: allreduce"), "exposed allreduce");
  EXPECT_EQ(title("copy.h2d"), "copy to device");
  EXPECT_EQ(title("free.gc"), "free time (garbage collection)");
  EXPECT_EQ(title("comp: a: b"), "a: b");
  EXPECT_EQ(title("free.of_tomorrow"), "free.of_tomorrow") << "of a later version";
}

TEST(GateJudge, ChangesUpToTheNoiseAreMarked) {
  // The usual noise is 0.3 % of the step: 1.2 ms.
  const auto base = WithKernels(OneRun(400, 300, 20), {{"MatMul", {290, 9}}, {"Relu", {10, 1}}});
  const auto marks = [&](const RunSummary& run) {
    std::string text;
    for (const ChangeNode& part :
         CategoriesOf(Judge(Settings({"step_time>+3%"}), {base}, {run}, {}).change)) {
      text += fmt::format("{}{} ", part.name, part.is_noise ? "-" : "+");
    }
    return text;
  };
  EXPECT_EQ(marks(WithKernels(OneRun(405, 304, 20), {{"MatMul", {293, 9}}, {"Relu", {11, 1}}})),
            "MatMul+ Relu- free time- other- ");
  EXPECT_EQ(marks(WithKernels(OneRun(402, 299, 20), {{"MatMul", {289, 9}}, {"Relu", {10, 1}}})),
            "free time- MatMul- other- ")
      << "the step did not change";
}

TEST(GateJudge, TheWorstMetricStandsForAll) {
  const RunSummary base = OneRun(100, 50, 20), slow = OneRun(90, 30, 40);
  const GateReport report = Judge(
      Settings({"step_time>+3%", "peak_memory>+1MB", "comm_exposed>+50%"}), {base}, {slow}, {});
  EXPECT_EQ(report.metrics[0].verdict, GateVerdict::kImproved);
  EXPECT_EQ(report.metrics[1].verdict, GateVerdict::kInconclusive);
  EXPECT_EQ(report.metrics[2].verdict, GateVerdict::kRegression);
  EXPECT_HAS_TEXT(report.headline, "REGRESSION comm_exposed 20.00 -> 40.00 ms (+100.0 %");
}

TEST(GateJudge, PatternsOfBaselinesComeFromTheirMedians) {
  RunSummary base =
      WithKernels(OneRun(100, 50, 20), {{"MatMulV2", {30, 1}}, {"MatMulV3", {10, 1}}});
  RunSummary slow = WithKernels(OneRun(100, 50, 20), {{"MatMulV2", {50, 1}}});
  slow.samples[ParseMetric("op:MatMul*")] = {1, 2, 3};  // must not be compared with medians
  const GateReport report = Judge(Settings({"op:MatMul*>+10%"}), {base}, {slow}, {});
  EXPECT_EQ(report.metrics[0].base, 40 * kGateMs);
  EXPECT_EQ(report.metrics[0].comparison, 50 * kGateMs);
  EXPECT_EQ(report.verdict, GateVerdict::kRegression);
  const GateReport nested = Judge(Settings({"module:Net*>+10%"}), {base}, {slow}, {});
  EXPECT_EQ(nested.verdict, GateVerdict::kInconclusive);
  EXPECT_HAS_TEXT(nested.headline, "--save_baseline");
}

TEST(GateJudge, TheShareOfTheStepIsThatOfTheBase) {
  // 0.1 % of 100 ms: 100 us do not count, 101 us do.
  RunSummary base = OneRun(100, 50, 20), slow = base;
  GateSettings settings = Settings({"kernel:x>+10%"});
  settings.min_share = 0.1;
  const Metric metric = ParseMetric("kernel:x");
  base.samples[metric] = {50'000, 50'000, 50'000};
  slow.samples[metric] = {150'000, 150'000, 150'000};
  EXPECT_EQ(Judge(settings, {base}, {slow}, {}).verdict, GateVerdict::kUndecided);
  slow.samples[metric] = {151'000, 151'000, 151'000};
  EXPECT_EQ(Judge(settings, {base}, {slow}, {}).verdict, GateVerdict::kRegression);
}

// A kernel of 153 us, which is 1.5 % of the step.
TEST(GateJudge, FloorsScaleWithTheMetric) {
  RunSummary base = OneRun(10, 5, 2), slow = base;
  const Metric metric = ParseMetric("op:MatMul*");
  const auto judge = [&](GateSettings settings, std::int64_t before, std::int64_t after) {
    base.samples[metric] = {before, before, before};
    slow.samples[metric] = {after, after, after};
    return Judge(settings, {base}, {slow}, {}).metrics[0];
  };
  const GateSettings usual = Settings({"op:MatMul*>+5%"}), low = Settings({"op:MatMul*>+0.1%"});
  EXPECT_EQ(judge(usual, 153'000, 165'240).verdict, GateVerdict::kRegression) << "+8 %, 12.24 us";
  EXPECT_EQ(judge(usual, 153'000, 160'650).verdict, GateVerdict::kOk) << "+5 %";
  // A hundredth of it is 1.53 us.
  const GateMetric small = judge(low, 153'000, 154'530);
  EXPECT_EQ(small.verdict, GateVerdict::kUndecided);
  EXPECT_HAS_TEXT(small.reason, "not above the floor of 1.530 us; a smaller --min_abs decides");
  EXPECT_EQ(judge(low, 153'000, 154'531).verdict, GateVerdict::kRegression);
  // No floor is below 1 us, and what is given is used as it is.
  GateSettings given = usual;
  given.min_abs_ns = 20'000;
  EXPECT_EQ(judge(given, 153'000, 165'240).verdict, GateVerdict::kUndecided);
  // From nothing there is no metric to scale with: the usual floors stay.
  EXPECT_HAS_TEXT(judge(usual, 0, 15'000).reason, "not above the floor of 20.00 us");
}

TEST(GateJudge, NoMetricAboveItsLimitIsOk) {
  RunSummary base = OneRun(100, 50, 20), slow = base;
  const Metric metric = ParseMetric("op:MatMul*");
  // 0.15 % of the step: such runs usually differ by 11 %, and three times that is 33 %.
  base.samples[metric] = {153'000, 153'000, 153'000};
  for (const std::int64_t percent : {6, 8, 25, 32}) {
    const std::int64_t now = 153'000 + 1'530 * percent;
    slow.samples[metric] = {now, now, now};
    const GateReport report = Judge(Settings({"op:MatMul*>+5%"}), {base}, {slow}, {});
    EXPECT_EQ(report.verdict, GateVerdict::kUndecided) << percent;
    EXPECT_HAS_TEXT(report.headline, "UNDECIDED op:MatMul* 153.0 -> ");
    EXPECT_HAS_TEXT(report.headline, "three times the noise, 50.49 us; three runs a side decide");
    EXPECT_EQ(report.headline, report.metrics[0].line);
  }
  slow.samples[metric] = {160'650, 160'650, 160'650};
  EXPECT_EQ(Judge(Settings({"op:MatMul*>+5%"}), {base}, {slow}, {}).verdict, GateVerdict::kOk);
}

TEST(GateJudge, PatternsThatMatchNothingNameWhatThereIs) {
  const RunSummary base = WithKernels(OneRun(100, 50, 20), {{"MatMulV2", {30, 1}}});
  RunSummary slow = base;
  slow.breakdown.kernels = {{"aclnnAdd_Add", {kGateMs, 1}},
                            {"aclnnMatmul_MatMulV2", {30 * kGateMs, 1}}};
  const auto reason = [&](const char* rule) {
    RunSummary before = base, after = slow;
    const Metric metric = ParseRule(rule).metric;
    before.samples[metric] = after.samples[metric] = {0, 0, 0};
    const GateMetric judged = Judge(Settings({rule}), {before}, {after}, {}).metrics[0];
    EXPECT_EQ(judged.verdict, GateVerdict::kInconclusive);
    return judged.reason;
  };
  EXPECT_EQ(reason("kernel:MatMul*>+5%"),
            "no name on either side matches; kernel: matches names of kernels"
            " (aclnnMatmul_MatMulV2); op: matches their types (MatMulV2)");
  EXPECT_HAS_TEXT(reason("op:aclnn*>+5%"), "op: matches types of kernels (MatMulV2)");
  EXPECT_HAS_TEXT(reason("module:x>+5%"), "module: matches names of modules (Linear_0)");
  EXPECT_HAS_TEXT(reason("api:x>+5%"), "api: matches the framework's operators (aten::mm)");
}

TEST(GateJudge, ABaselineMovesByMoreThanLuckAlone) {
  const auto why = [](const std::vector<const char*>& rules, const RunSummary& run) {
    return WhyBaselineStays(Judge(Settings(rules), {OneRun(100, 50, 20)}, {run}, {}));
  };
  // Of one run a side 4.5 % may be luck: 5 * 3 * 0.3 %.
  EXPECT_EQ(why({"step_time>+3%"}, OneRun(95, 45, 20)), "");
  EXPECT_EQ(
      why({"step_time>+3%"}, OneRun(96, 46, 20)),
      "step_time improved by 4.000 ms, of which up to 4.500 ms may be chance; three runs a side,"
      " or learned noise (--noise), lower that");
  EXPECT_EQ(why({"step_time>+3%"}, OneRun(100, 50, 20)), "nothing improved beyond noise");
  EXPECT_EQ(why({"step_time>+3%"}, OneRun(110, 60, 20)), "nothing improved beyond noise");
  // What another metric gains does not pay for growth that its own limit allows.
  EXPECT_EQ(why({"step_time>+3%", "comm_exposed>+50%"}, OneRun(90, 35, 25)),
            "comm_exposed grew beyond noise; --save_baseline saves the runs all the same");
}

TEST(GateJudge, LearnedNoiseTakesThePlaceOfTheUsual) {
  const RunSummary base = OneRun(100, 50, 20), slow = OneRun(104, 54, 20);
  GateSettings settings = Settings({"step_time>+0.5%"});
  const auto judge = [&](const RunSummary& comparison) {
    return Judge(settings, {base}, {comparison}, {}).metrics[0];
  };
  EXPECT_EQ(judge(slow).verdict, GateVerdict::kRegression);
  EXPECT_DOUBLE_EQ(judge(slow).noise, 0.3 * kGateMs);
  settings.learned_noise = {{"computing", 0.5}, {"step_time", 0.014}};
  EXPECT_EQ(judge(slow).verdict, GateVerdict::kUndecided);  // three times 1.4 ms are 4.2 ms
  EXPECT_DOUBLE_EQ(judge(slow).noise, 1.4 * kGateMs);
  settings.learned_noise = {{"step_time", 0.001}};  // smaller than usual
  EXPECT_DOUBLE_EQ(judge(slow).noise, 0.1 * kGateMs);
}

TEST(GateJudge, ExitCodes) {
  using Inconclusive = GatePolicy::Inconclusive;
  const GatePolicy strict, lenient{Inconclusive::kPass, true}, warns{Inconclusive::kWarn, false};
  EXPECT_EQ(GateExitCode(GateVerdict::kOk, false, strict), 0);
  EXPECT_EQ(GateExitCode(GateVerdict::kImproved, false, strict), 0);
  EXPECT_EQ(GateExitCode(GateVerdict::kRegression, false, strict), 1);
  EXPECT_EQ(GateExitCode(GateVerdict::kRegression, false, lenient), 0);
  EXPECT_EQ(GateExitCode(GateVerdict::kInconclusive, false, strict), 4);
  EXPECT_EQ(GateExitCode(GateVerdict::kInconclusive, false, lenient), 0);
  EXPECT_EQ(GateExitCode(GateVerdict::kInconclusive, false, warns), 0);
  EXPECT_EQ(GateExitCode(GateVerdict::kNotComparable, false, lenient), 4);
  EXPECT_EQ(GateExitCode(GateVerdict::kUndecided, false, strict), 4);
  EXPECT_EQ(GateExitCode(GateVerdict::kUndecided, false, lenient), 0);
  EXPECT_EQ(GateExitCode(GateVerdict::kUndecided, false, warns), 0);
  // --strict: as a regression.
  EXPECT_EQ(GateExitCode(GateVerdict::kUndecided, false, {.strict = true}), 1);
  EXPECT_EQ(GateExitCode(GateVerdict::kUndecided, false, {Inconclusive::kPass, false, true}), 1);
  EXPECT_EQ(GateExitCode(GateVerdict::kUndecided, false, {Inconclusive::kFail, true, true}), 0);
  EXPECT_EQ(GateExitCode(GateVerdict::kUndecided, true, {.strict = true}), 5);
  EXPECT_EQ(GateExitCode(GateVerdict::kInconclusive, false, {.strict = true}), 4);
}

TEST(GateJudge, PartialDataNeverPasses) {
  const GatePolicy strict, lenient{GatePolicy::Inconclusive::kPass, true};
  for (const GateVerdict verdict :
       {GateVerdict::kOk, GateVerdict::kImproved, GateVerdict::kRegression, GateVerdict::kUndecided,
        GateVerdict::kInconclusive, GateVerdict::kNotComparable}) {
    EXPECT_GE(GateExitCode(verdict, true, strict), 4);
    EXPECT_GE(GateExitCode(verdict, true, lenient), 4);
  }
  EXPECT_EQ(GateExitCode(GateVerdict::kRegression, true, strict), 5);
}

// --- Noise ---

TEST(GateNoise, IsTheSpreadOfRunsAsAPartOfTheirMedian) {
  // 98, 100 and 102 ms: 4 + 0 + 4 over 2 is 4, a standard deviation of 2 ms.
  const NoiseFloors noise = LearnNoise({OneRun(98, 50, 0), OneRun(100, 50, 0), OneRun(102, 50, 0)});
  EXPECT_DOUBLE_EQ(noise.at("step_time"), 0.02);
  EXPECT_DOUBLE_EQ(noise.at("computing"), 0);
  EXPECT_FALSE(noise.contains("comm_exposed")) << "nothing there has no noise";
  EXPECT_EQ(NoiseFromJson(NoiseToJson(noise, "1", 3)), noise);
}

TEST(GateNoise, IsNotNegative) {
  const std::string head = R"({"kind": "msprof-analyze-noise", "schema_version": 1, )";
  const auto read = [](std::string text) { return NoiseFromJson(nlohmann::json::parse(text)); };
  EXPECT_EQ(read(head + R"("relative_noise": {"step_time": 0}})").at("step_time"), 0);
  EXPECT_THROW(read(head + R"("relative_noise": {"step_time": -0.01}})"), Error);
}

TEST(GateNoise, SmallPatternsAreNoisy) {
  EXPECT_DOUBLE_EQ(UsualNoise(ParseMetric("op:x"), 0.009), 0.11);
  EXPECT_DOUBLE_EQ(UsualNoise(ParseMetric("op:x"), 0.01), 0);
  EXPECT_DOUBLE_EQ(UsualNoise(ParseMetric("step_time"), 1), 0.003);
}

// --- Baselines ---

TEST(GateBaseline, IsTheSameAfterItWasKept) {
  Baseline baseline{
      "20260101000000", "1.2.3", {WithKernels(OneRun(100, 50, 20), {{"MatMul", {40, 2}}})}, {}};
  RunSummary& run = baseline.runs[0];
  run.is_older = true;
  run.samples[ParseMetric("op:Mat*")] = {1, 2, 3};
  run.facts = {{"soc", "A"}};
  run.shapes = {{"00ff", 7}};
  run.breakdown.modules = {{"Net_0", {5, 1}}};
  baseline.anchor = Anchor{"20250101000000", "1.0.0", {{"step_time", 7}}};
  EXPECT_EQ(BaselineFromJson(BaselineToJson(baseline)), baseline);
}

TEST(GateBaseline, TheFirstOfARowIsTheAnchor) {
  Baseline baseline{"20260101000000", "1.2.3", {OneRun(100, 50, 20), OneRun(104, 50, 20)}, {}};
  const Anchor anchor = AnchorOf(baseline);
  EXPECT_EQ(anchor.created, "20260101000000");
  EXPECT_EQ(anchor.medians.at("step_time"), 102 * kGateMs);
  baseline.anchor = Anchor{"20250101000000", "1.0.0", {{"step_time", 7}}};
  EXPECT_EQ(AnchorOf(baseline), *baseline.anchor);
}

// Version 1 counted copies as free time.
TEST(GateBaseline, FreeTimeOfOlderOnesIsNotComparedWhereItHoldsCopies) {
  RunSummary run = OneRun(100, 50, 20);
  run.breakdown.account = {{"copy.h2d", {5 * kGateMs, 1}}, {"free.python", {25 * kGateMs, 1}}};
  run.breakdown.capture = {{"free time", {30 * kGateMs, 0}}};
  nlohmann::json document = BaselineToJson({"c", "v", {run}, {}});
  document["schema_version"] = 1;
  const Baseline old = BaselineFromJson(document);
  EXPECT_EQ(old.runs[0].samples.count(ParseMetric("free")), 0u);
  EXPECT_EQ(old.runs[0].samples.count(ParseMetric("step_time")), 1u);
  const GateReport report = Judge(Settings({"free>+3%"}), old.runs, {OneRun(100, 50, 20)}, {});
  EXPECT_EQ(report.verdict, GateVerdict::kInconclusive);
  EXPECT_HAS_TEXT(report.headline, "older baselines count copies as free time: save it anew");
  document["runs"][0]["medians"]["account"].erase("copy.h2d");
  EXPECT_EQ(BaselineFromJson(document).runs[0].samples.count(ParseMetric("free")), 1u)
      << "there were no copies";
}

// Up to version 2 the peak was of the process where a capture has that, and e2e may lack its ends.
TEST(GateBaseline, WhatOlderOnesMeasuredOtherwiseIsNotCompared) {
  RunSummary run = OneRun(100, 50, 20);
  run.samples[ParseMetric("peak_memory")] = {2'216'000'000};
  run.samples[ParseMetric("e2e")] = {100 * kGateMs};
  run.breakdown.capture = {{"free between tasks", {30 * kGateMs, 0}}};
  nlohmann::json document = BaselineToJson({"c", "v", {run}, {}});
  EXPECT_EQ(BaselineFromJson(document).runs[0], run);
  document["schema_version"] = 2;
  const Baseline old = BaselineFromJson(document);
  EXPECT_TRUE(old.runs[0].breakdown.capture.empty());
  for (const char* const rule : {"peak_memory>+3%", "e2e>+3%"}) {
    const GateReport report = Judge(Settings({rule}), old.runs, {run}, {});
    EXPECT_EQ(report.verdict, GateVerdict::kInconclusive);
    EXPECT_HAS_TEXT(report.metrics[0].reason, "older versions measured it otherwise");
  }
}

TEST(GateBaseline, PeaksOfOtherAllocatorsAreNotCompared) {
  RunSummary base = OneRun(100, 50, 20);
  base.samples[ParseMetric("peak_memory")] = {1000};
  RunSummary comparison = base;
  base.facts[kAllocators] = "GE, PTA";
  comparison.facts[kAllocators] = "PTA";
  const GateReport report = Judge(Settings({"peak_memory>+3%"}), {base}, {comparison}, {});
  EXPECT_EQ(report.verdict, GateVerdict::kInconclusive);
  EXPECT_HAS_TEXT(report.metrics[0].reason, "(GE, PTA / PTA)");
  EXPECT_TRUE(report.mismatches.empty());
}

TEST(GateBaseline, WrongDocumentsNameTheMember) {
  const nlohmann::json good = BaselineToJson({"c", "v", {OneRun(100, 50, 20)}, {}});
  const auto message = [&](auto change) {
    nlohmann::json document = good;
    change(document);
    const Error error = ErrorOf([&] { BaselineFromJson(document); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    return std::string(error.what());
  };
  EXPECT_HAS_TEXT(message([](auto& d) { d["kind"] = "x"; }), "kind is 'x'");
  EXPECT_HAS_TEXT(message([](auto& d) { d["schema_version"] = 4; }), "schema_version 4 is unknown");
  EXPECT_HAS_TEXT(message([](auto& d) { d.erase("runs"); }), "\"runs\"");
  EXPECT_HAS_TEXT(message([](auto& d) { d["runs"] = nlohmann::json::array(); }),
                  "runs: the list is empty");
  EXPECT_HAS_TEXT(message([](auto& d) { d["runs"][0]["samples"]["step_time"] = "x"; }),
                  "run 1: step_time: a list was expected");
  EXPECT_HAS_TEXT(message([](auto& d) { d["runs"][0]["samples"]["speed"] = {1}; }),
                  "run 1: samples: unknown metric 'speed'");
  EXPECT_HAS_TEXT(message([](auto& d) { d["runs"][0]["medians"]["kernels"]["k"] = {1}; }),
                  "two numbers");
  EXPECT_HAS_TEXT(message([](auto& d) { d["runs"][0]["steps"] = {-1}; }), "invalid step -1");
}

TEST(GateBaseline, NumbersThatNoRunHasAreRefused) {
  const nlohmann::json good = BaselineToJson({"c", "v", {OneRun(100, 50, 20)}, {}});
  const auto message = [&](auto change) {
    nlohmann::json document = good;
    change(document["runs"]);
    const Error error = ErrorOf([&] { BaselineFromJson(document); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    return std::string(error.what());
  };
  static constexpr std::int64_t kLargest = std::int64_t{1} << 50;
  EXPECT_HAS_TEXT(message([](auto& runs) { runs[0]["samples"]["step_time"] = {kLargest + 1}; }),
                  "run 1: step_time: 1125899906842625 is not a time");
  EXPECT_HAS_TEXT(message([](auto& runs) { runs[0]["samples"]["step_time"] = {-1}; }),
                  "run 1: step_time: -1 is not a time");
  EXPECT_HAS_TEXT(message([](auto& runs) { runs[0]["samples"]["step_time"] = {1e19}; }),
                  "a whole number was expected");
  EXPECT_HAS_TEXT(message([](auto& runs) {
                    runs[0]["shapes"]["1"] = std::numeric_limits<std::uint64_t>::max();
                  }),
                  "18446744073709551615 is too large");
  EXPECT_HAS_TEXT(message([](auto& runs) {
                    runs[0]["medians"]["kernels"] = {{"a", {kLargest, 1}}, {"b", {1, 1}}};
                  }),
                  "kernels: it is longer than the step");
  EXPECT_HAS_TEXT(message([](auto& runs) { runs = nlohmann::json(101, runs[0]); }),
                  "runs: 101 given; at most 100");
}

// --- The file of --gate ---

TEST(GateFile, HasRulesWithFloorsOfTheirOwn) {
  GateSettings settings;
  ApplyGateFile(nlohmann::json::parse(R"({"metrics": [
      {"metric": "peak_memory", "limit": "+1%&+256MB", "min_abs": "8MB"},
      {"metric": "op:Mat*", "limit": "+10%", "min_share": "0.5%"}],
      "min_abs": "50us,2MB", "min_share": "0.2%", "min_steps": 5, "warmup": 2})"),
                settings);
  ASSERT_EQ(settings.rules.size(), 2u);
  EXPECT_EQ(settings.rules[0].limit.amount, 256'000'000);
  EXPECT_EQ(settings.rules[0].min_abs, 8'000'000);
  EXPECT_EQ(settings.rules[1].min_share, 0.5);
  EXPECT_EQ(settings.min_abs_ns, 50'000);
  EXPECT_EQ(settings.min_abs_bytes, 2'000'000);
  EXPECT_EQ(settings.min_steps, 5u);
  EXPECT_EQ(settings.warmup, 2u);
}

TEST(GateFile, NamesAMetricThatIsNoObject) {
  GateSettings settings;
  try {
    ApplyGateFile(nlohmann::json::parse(R"({"metrics": ["step_time"]})"), settings);
    FAIL() << "a name is not a rule: it has no limit";
  } catch (const Error& error) {
    EXPECT_HAS_TEXT(error.what(), "a metric: an object was expected, not string");
  }
}

}  // namespace
}  // namespace mpa::gate
