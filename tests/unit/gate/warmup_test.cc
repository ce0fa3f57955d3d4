// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/change/account_names.h"
#include "mpa/gate/comparable.h"
#include "mpa/gate/judge.h"
#include "support/failures.h"

namespace mpa::gate {
namespace {

constexpr std::int64_t kWarmupMs = 1'000'000;
const Metric kStepTime = {MetricKind::kStepTime, ""};
const Metric kFree = {MetricKind::kFree, ""};

// Steps in ms; what is beyond 40 ms of them is free time.
RunSummary RunOf(std::vector<std::int64_t> times) {
  RunSummary run;
  for (std::int64_t& time : times) {
    run.steps.push_back(static_cast<std::int32_t>(run.steps.size()) + 1);
    run.samples[kStepTime].push_back(time * kWarmupMs);
    run.samples[kFree].push_back((time - 40) * kWarmupMs);
    run.samples[ParseMetric("computing")].push_back(40 * kWarmupMs);
    run.samples[ParseMetric("comm_exposed")].push_back(0);
  }
  run.samples[ParseMetric("e2e")] = {1000 * kWarmupMs};
  return run;
}

TEST(GateWarmup, FirstStepsFarAboveTheOthersAreWarmup) {
  EXPECT_EQ(CountWarmup({150, 100, 101, 99, 100}, 3), 1u);
  EXPECT_EQ(CountWarmup({150, 130, 100, 101, 99}, 3), 2u);
  EXPECT_EQ(CountWarmup({100, 150, 100, 101, 99}, 3), 0u);  // not a first step
  EXPECT_EQ(CountWarmup({100, 100, 101, 99, 100}, 3), 0u);
  EXPECT_EQ(CountWarmup({110, 100, 101, 99, 100}, 3), 0u);  // no more than a tenth above
  EXPECT_EQ(CountWarmup({60, 100, 101, 99, 100}, 3), 0u);   // fast
}

TEST(GateWarmup, WhatIsUsualAmongTheOthersIsNoWarmup) {
  // Half of the later steps are 40 away from 100: five times 1.4826 * 20 is more than 50.
  EXPECT_EQ(CountWarmup({150, 100, 140, 60, 100}, 3), 0u);
}

TEST(GateWarmup, EnoughStepsStay) {
  EXPECT_EQ(CountWarmup({150, 100, 100}, 3), 0u);
  EXPECT_EQ(CountWarmup({150, 100, 100, 100}, 3), 1u);
  EXPECT_EQ(CountWarmup({150, 100, 100, 100}, 4), 0u);
  EXPECT_EQ(CountWarmup({150, 100, 100, 100}, 1), 1u);
  // A quarter of 16 steps at most, for the fifth is not like the first four.
  std::vector<std::int64_t> times(16, 100);
  for (std::size_t i = 0; i < 5; ++i) times[i] = 200;
  EXPECT_EQ(CountWarmup(times, 3), 4u);
}

TEST(GateWarmup, ASlowFirstStepThatStaysIsPointedOut) {
  // 180 is 1.8 times the median of 100 and 100; of three steps none is left out without being told.
  const std::string hint = WarmupHint(3, {RunOf({100, 100, 100})}, {RunOf({180, 100, 100})});
  EXPECT_HAS_TEXT(hint, "1.80 times");
  EXPECT_HAS_TEXT(hint, "--warmup 1 --min_steps 2");
  // With four steps three remain, which is enough.
  const std::vector<RunSummary> four = {RunOf({180, 100, 140, 60})};
  EXPECT_TRUE(WarmupHint(3, four, four).ends_with("--warmup 1"));
  EXPECT_EQ(WarmupHint(3, {RunOf({119, 100, 100})}, {RunOf({100, 100, 100})}), "");
  EXPECT_EQ(WarmupHint(3, {RunOf({180})}, {RunOf({180})}), "");
  GateSettings settings;
  settings.rules.push_back(ParseRule("step_time>+3%"));
  EXPECT_NE(Judge(settings, {RunOf({100, 100, 100})}, {RunOf({180, 100, 100})}, {}).hint, "");
  settings.warmup = 0;  // the user has decided
  EXPECT_EQ(Judge(settings, {RunOf({100, 100, 100})}, {RunOf({180, 100, 100})}, {}).hint, "");
}

TEST(GateWarmup, BothSidesLoseTheSameSteps) {
  std::vector<RunSummary> base = {RunOf({100, 101, 99, 100, 102})};
  std::vector<RunSummary> comparison = {RunOf({250, 100, 100, 101, 99})};
  const auto warmup = LeaveOutWarmup(3, base, comparison);
  EXPECT_EQ(warmup, (GateWarmup{1, 100.0 / 100.5, 2.5, false, true}));
  for (const RunSummary& run : {base.front(), comparison.front()}) {
    EXPECT_EQ(run.steps, (std::vector<std::int32_t>{2, 3, 4, 5}));
    EXPECT_EQ(run.samples.at(kStepTime).size(), 4u);
    EXPECT_EQ(run.samples.at(kFree).size(), 4u);
    EXPECT_EQ(run.samples.at(ParseMetric("e2e")).size(), 1u);
  }
  EXPECT_EQ(base.front().samples.at(kStepTime).front(), 101 * kWarmupMs);
  EXPECT_HAS_TEXT(WarmupText(*warmup), "first step left out as warm-up: 1.00 times the later ones");
  EXPECT_HAS_TEXT(WarmupText(*warmup),
                  "2.50 times in the comparison; only the comparison was slow");
}

TEST(GateWarmup, AShortRunLosesNoMoreThanItCanSpare) {
  std::vector<RunSummary> base = {RunOf({100, 101, 99})};
  std::vector<RunSummary> comparison = {RunOf({250, 100, 100, 101, 99})};
  EXPECT_FALSE(LeaveOutWarmup(3, base, comparison));
  EXPECT_EQ(comparison.front().steps.size(), 5u);
}

TEST(GateWarmup, ABaselineOfOtherNumbersOfStepsLosesNone) {
  RunSummary run = RunOf({250, 100, 100, 101, 99});
  run.steps.pop_back();
  std::vector<RunSummary> base = {run}, comparison = {run};
  EXPECT_FALSE(LeaveOutWarmup(3, base, comparison));
}

TEST(GateWarmup, WithoutStepsThereIsNone) {
  RunSummary run;
  run.samples[ParseMetric("e2e")] = {5};
  std::vector<RunSummary> base = {run}, comparison = {run};
  EXPECT_FALSE(LeaveOutWarmup(3, base, comparison));
}

GateReport Judged(std::optional<std::size_t> warmup, const RunSummary& base,
                  const RunSummary& comparison) {
  GateSettings settings;
  settings.rules = {ParseRule("step_time>+3%")};
  settings.warmup = warmup;
  return Judge(settings, {base}, {comparison}, std::nullopt);
}

TEST(GateWarmup, TheNumberThatTheUserGivesWins) {
  const RunSummary base = RunOf({200, 150, 100, 100, 102}), slow = RunOf({200, 150, 106, 106, 108});
  const GateReport recognised = Judged(std::nullopt, base, slow);
  EXPECT_EQ(recognised.warmup->steps, 2u);
  EXPECT_EQ(recognised.metrics.front().base, 100 * kWarmupMs);
  EXPECT_EQ(recognised.metrics.front().comparison, 106 * kWarmupMs);
  EXPECT_EQ(recognised.verdict, GateVerdict::kRegression);
  for (const std::size_t given : {0, 1}) {
    const GateReport report = Judged(given, base, slow);
    EXPECT_FALSE(report.warmup);
    EXPECT_EQ(report.metrics.front().base, 102 * kWarmupMs);  // the middle one of all five
  }
}

TEST(GateWarmup, PartsAddUpToWhatIsJudgedAlsoWithoutWarmupAndDrift) {
  // From 96 on the base grows by 2 ms a step, but for one step of 103, which makes 102 the median
  // of the five; the comparison is 8 ms slower. All of it is free time.
  const GateReport report = Judged(std::nullopt, RunOf({150, 96, 98, 103, 102, 104}),
                                   RunOf({150, 104, 106, 108, 110, 112}));
  const GateMetric& step = report.metrics.front();
  EXPECT_EQ(report.warmup->steps, 1u);
  ASSERT_TRUE(step.drift);
  EXPECT_EQ(step.base, 100 * kWarmupMs);
  EXPECT_EQ(step.comparison, 108 * kWarmupMs);
  std::int64_t sum = 0;
  const std::vector<ChangeNode> parts = CategoriesOf(report.change);
  for (const ChangeNode& part : parts) sum += part.Change();
  EXPECT_EQ(sum, step.Change());
  EXPECT_EQ(parts.front().name, kFreeTime);
  EXPECT_EQ(parts.front().Change(), 8 * kWarmupMs);
}

}  // namespace
}  // namespace mpa::gate
