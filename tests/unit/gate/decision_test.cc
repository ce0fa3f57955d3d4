// SPDX-License-Identifier: Apache-2.0
#include "gate/decision.h"

#include <gtest/gtest.h>

#include "gate/levels.h"
#include "support/failures.h"

namespace mpa::gate {
namespace {

constexpr std::int64_t kMs = 1'000'000;

Rule StepTime(double percent) { return {{MetricKind::kStepTime, ""}, {percent, {}}, {}, {}}; }

Runs InMs(std::vector<std::vector<std::int64_t>> runs) {
  for (auto& samples : runs) {
    for (std::int64_t& sample : samples) sample *= kMs;
  }
  return runs;
}

TEST(GateStatistics, OneOutlierDoesNotSpread) {
  // Distances from 101: 1, 0, 2, 1, 899; their median is 1.
  EXPECT_DOUBLE_EQ(SpreadAround({100, 101, 99, 102, 1000}, 101), 1.4826);
  EXPECT_EQ(SpreadAround({5}, 5), 0);
}

TEST(GateStatistics, DistancesOfLargeTimesAreExact) {
  // Around the mean 2 of 1, 2, 3: 1 + 0 + 1, wherever the times begin.
  EXPECT_DOUBLE_EQ(
      SquaredDistances({1'000'000'000'000'001, 1'000'000'000'000'002, 1'000'000'000'000'003}), 2);
}

TEST(GateStatistics, RankSumCountsDivisions) {
  // 20 ways to choose three of six; one has the three highest ranks.
  EXPECT_DOUBLE_EQ(RankSumProbability({1, 2, 3}, {4, 5, 6}), 1.0 / 20);
  EXPECT_DOUBLE_EQ(RankSumProbability({4, 5, 6}, {1, 2, 3}), 1);
  // Ranks 3, 5, 6 add up to 14: beside {3,5,6} only {4,5,6} reaches that.
  EXPECT_DOUBLE_EQ(RankSumProbability({1, 2, 4}, {3, 5, 6}), 2.0 / 20);
  // All equal: every division is as high.
  EXPECT_DOUBLE_EQ(RankSumProbability({5, 5, 5}, {5, 5, 5}), 1);
  // 1 2 2 3 with ranks 1, 2.5, 2.5, 4: of six pairs {2.5,4} twice add up to 6.5.
  EXPECT_DOUBLE_EQ(RankSumProbability({1, 2}, {2, 3}), 2.0 / 6);
  EXPECT_EQ(RankSumProbability({}, {1}), 1);
}

TEST(GateDecision, GrowthBeyondLimitFloorsAndNoiseIsARegression) {
  // Medians 400 and 420 ms: +5 %. Of three steps two are 1 ms away: a side's steps spread by
  // sqrt(2 / (3 - 1)) = 1 ms, the change by sqrt(1 / sqrt(3) + 1 / sqrt(3)).
  const GateMetric judged =
      Decide(StepTime(3), {}, InMs({{399, 400, 401}}), InMs({{419, 420, 421}}));
  EXPECT_EQ(judged.verdict, GateVerdict::kRegression);
  EXPECT_EQ(judged.base, 400 * kMs);
  EXPECT_EQ(judged.comparison, 420 * kMs);
  EXPECT_DOUBLE_EQ(*judged.ChangePercent(), 5);
  EXPECT_NEAR(judged.noise, 1.074570e6, 1);
  EXPECT_TRUE(judged.low_confidence);
  EXPECT_FALSE(judged.probability);
  EXPECT_EQ(judged.limit, "3 %");
}

TEST(GateDecision, TheLimitItselfIsAllowed) {
  const Runs base = InMs({{100, 100, 100}});
  EXPECT_EQ(Decide(StepTime(3), {}, base, InMs({{103, 103, 103}})).verdict, GateVerdict::kOk);
  EXPECT_EQ(Decide(StepTime(3), {}, base, InMs({{104, 104, 104}})).verdict,
            GateVerdict::kRegression);
}

TEST(GateDecision, BothHalvesOfALimitHaveToBeExceeded) {
  const Rule rule{{MetricKind::kCommExposed, ""}, {5.0, 200'000}, {}, {}};
  const Runs base = {{1'000'000}};
  EXPECT_EQ(Decide(rule, {}, base, {{1'200'000}}).verdict, GateVerdict::kOk);  // 200 us
  EXPECT_EQ(Decide(rule, {}, base, {{1'200'001}}).verdict, GateVerdict::kRegression);
  EXPECT_EQ(Decide(rule, {}, {{10'000'000}}, {{10'400'000}}).verdict, GateVerdict::kOk);  // 4 %
}

TEST(GateDecision, FloorsHoldBackWhatIsSmall) {
  const Runs base = {{100'000}}, comparison = {{150'000}};
  EXPECT_EQ(Decide(StepTime(3), {.min_abs = 49'999}, base, comparison).verdict,
            GateVerdict::kRegression);
  const GateMetric small = Decide(StepTime(3), {.min_abs = 50'000}, base, comparison);
  // Growth of 50 %, where 3 % are allowed: not OK, and the reason says what decides.
  EXPECT_EQ(small.verdict, GateVerdict::kUndecided);
  EXPECT_EQ(small.reason, "not above the floor of 50.00 us; a smaller --min_abs decides");
  const GateMetric share = Decide(StepTime(3), {.min_share = 50'000}, base, comparison);
  EXPECT_EQ(share.verdict, GateVerdict::kUndecided);
  EXPECT_EQ(share.reason,
            "not above the smallest share of the step that counts, 50.00 us; a smaller --min_share"
            " decides");
}

TEST(GateDecision, ThreeTimesTheNoiseIsNoRegression) {
  // The steps of the base spread by sqrt(8 / 2) = 2 ms, the change by 2 / sqrt(sqrt(3)) = 1.5197
  // ms.
  const Runs base = InMs({{98, 100, 102}});
  const GateMetric within = Decide(StepTime(3), {}, base, InMs({{104, 104, 104}}));
  EXPECT_EQ(within.verdict, GateVerdict::kUndecided);
  EXPECT_EQ(within.reason,
            "not above three times the noise, 4.559 ms; three runs a side decide (-d and -bp three"
            " times each), or learned noise (--noise)");
  EXPECT_EQ(Decide(StepTime(3), {}, base, InMs({{105, 105, 105}})).verdict,
            GateVerdict::kRegression);
}

TEST(GateDecision, WithFewRunsGrowthIsAboveTheLimitByAThirdOfTheNoise) {
  // Steps that spread by 1 ms on one side: 1 / sqrt(sqrt(3)) = 0.7598 ms of noise, and 0.2533 ms
  // above the limit of 3 ms.
  const Runs base = InMs({{99, 100, 101}});
  const auto slower = [](std::int64_t us) {
    return Runs{{100 * kMs + us * 1000, 100 * kMs + us * 1000, 100 * kMs + us * 1000}};
  };
  const GateMetric within = Decide(StepTime(3), {}, base, slower(3250));
  EXPECT_EQ(within.verdict, GateVerdict::kUndecided);
  EXPECT_HAS_TEXT(within.reason, "above the limit by less than a third of the noise, 253.3 us");
  EXPECT_EQ(Decide(StepTime(3), {}, base, slower(3260)).verdict, GateVerdict::kRegression);
  // Four runs show how runs differ.
  EXPECT_EQ(Decide(StepTime(3), {}, {base[0], base[0]}, {slower(3010)[0], slower(3010)[0]}).verdict,
            GateVerdict::kRegression);
}

TEST(GateDecision, WhatRunsUsuallyDifferByAddsToTheNoiseOfFewRuns) {
  // 98, 98, 102, 102 spread by sqrt(16 / 3), over sqrt(sqrt(4)) is
  // sqrt(16 / 6) = 1.63299 ms; with 2 % of 100 ms sqrt(16 / 6 + 4) = 2.58199 ms.
  const Runs base = InMs({{98, 102, 102, 98}}), comparison = InMs({{100, 100, 100, 100}});
  EXPECT_NEAR(Decide(StepTime(3), {}, base, comparison).noise, 1.63299e6, 10);
  EXPECT_NEAR(Decide(StepTime(3), {.usual_noise = 0.02}, base, comparison).noise, 2.58199e6, 10);
  // What is learned holds the noise of steps, too.
  EXPECT_DOUBLE_EQ(Decide(StepTime(3), {.learned_noise = 0.02}, base, comparison).noise, 2e6);
}

TEST(GateDecision, NoiseOfARunIsThatOfSeveralWhereThereAre) {
  // Around 101 and 107: 1 + 0 + 1 on either side, 4 over 6 - 2 runs: 1 ms. Steps do not matter.
  const GateMetric judged =
      Decide(StepTime(3), {}, InMs({{50, 100, 150}, {101}, {102}}), InMs({{106}, {107}, {108}}));
  EXPECT_DOUBLE_EQ(judged.noise, kMs);
  EXPECT_EQ(judged.verdict, GateVerdict::kRegression);
  EXPECT_DOUBLE_EQ(*judged.probability, 0.05);
  EXPECT_FALSE(judged.low_confidence);
}

TEST(GateDecision, RunsThatOverlapAreNoRegression) {
  // Means 101.67 and 108; 16.67 + 24 over 4: noise 3.19 ms, and 10 ms is more than three times
  // that. But 104 lies below 105: of the 20 divisions two are as high.
  const GateMetric judged =
      Decide(StepTime(3), {}, InMs({{100}, {100}, {105}}), InMs({{110}, {110}, {104}}));
  EXPECT_EQ(judged.verdict, GateVerdict::kUndecided);
  EXPECT_EQ(judged.reason,
            "the runs of both sides overlap; more runs decide (-d and -bp given more often)");
  EXPECT_DOUBLE_EQ(*judged.probability, 0.1);
  EXPECT_EQ(
      Decide(StepTime(3), {}, InMs({{100}, {100}, {105}}), InMs({{110}, {110}, {106}})).verdict,
      GateVerdict::kRegression);
}

TEST(GateDecision, KnownNoiseRaisesWhatIsMeasured) {
  const Runs base = InMs({{100, 100, 100}}), comparison = InMs({{104, 104, 104}});
  EXPECT_EQ(Decide(StepTime(3), {.usual_noise = 0.013}, base, comparison).verdict,
            GateVerdict::kRegression);  // 3.9 ms
  EXPECT_EQ(Decide(StepTime(3), {.usual_noise = 0.014}, base, comparison).verdict,
            GateVerdict::kUndecided);  // 4.2 ms
  const Runs three = InMs({{100}, {100}, {100}}), slower = InMs({{104}, {104}, {104}});
  EXPECT_EQ(Decide(StepTime(3), {.usual_noise = 0.014}, three, slower).verdict,
            GateVerdict::kRegression);
  const GateMetric learned = Decide(StepTime(3), {.learned_noise = 0.014}, three, slower);
  EXPECT_EQ(learned.verdict, GateVerdict::kUndecided);
  EXPECT_HAS_TEXT(learned.reason, "only a limit above it decides");
}

TEST(GateDecision, TooFewOrNoSamplesAreInconclusive) {
  const Runs three = InMs({{1, 1, 1}});
  const GateMetric few = Decide(StepTime(3), {.min_samples = 3}, three, InMs({{1, 1}}));
  EXPECT_EQ(few.verdict, GateVerdict::kInconclusive);
  EXPECT_EQ(few.reason, "a run of the comparison has 2 steps, 3 are needed (--min_steps)");
  EXPECT_TRUE(few.IsMeasured()) << "what was measured is said, though it decides nothing";
  EXPECT_EQ(few.base, 1'000'000);
  EXPECT_EQ(Decide(StepTime(3), {}, {{}}, three).reason, "the base has no values for it");
  const GateMetric none = Decide(StepTime(3), {}, {}, three);
  EXPECT_EQ(none.verdict, GateVerdict::kInconclusive);
  EXPECT_FALSE(none.IsMeasured());
  EXPECT_EQ(Decide(StepTime(3), {.min_samples = 3}, InMs({{1, 1, 1}, {1}}), three).verdict,
            GateVerdict::kInconclusive);
}

TEST(GateDecision, ImprovementsNeedNoLimitButClarity) {
  const Runs base = InMs({{100, 100, 100}});
  EXPECT_EQ(Decide(StepTime(3), {}, base, InMs({{99, 99, 99}})).verdict, GateVerdict::kImproved);
  EXPECT_EQ(Decide(StepTime(3), {.min_abs = kMs}, base, InMs({{99, 99, 99}})).verdict,
            GateVerdict::kOk);
  EXPECT_EQ(Decide(StepTime(3), {}, base, InMs({{98, 99, 100}})).verdict, GateVerdict::kOk);
}

TEST(GateDecision, SomethingFromNothingExceedsEveryShare) {
  const GateMetric judged = Decide(StepTime(3), {}, {{0}}, {{5}});
  EXPECT_EQ(judged.verdict, GateVerdict::kRegression);
  EXPECT_FALSE(judged.ChangePercent());
}

TEST(GateDecision, WhatGrowsWithinItsLimitIsOkWhateverTheNoise) {
  const Runs base = InMs({{80, 100, 120}}), comparison = InMs({{82, 102, 122}});
  const GateMetric judged = Decide(StepTime(3), {.min_abs = 5 * kMs}, base, comparison);
  EXPECT_EQ(judged.verdict, GateVerdict::kOk);
  EXPECT_EQ(judged.reason, "");
}

TEST(GateDecision, LuckIsFiveTimesTheNoiseAndOfFewRunsMore) {
  // Five runs a side: 0.3 % of 100 ms is what identical runs usually differ by; five times that.
  const Runs five(5, {100 * kMs}), three(3, {100 * kMs});
  const Floors usual{.usual_noise = 0.003};
  EXPECT_DOUBLE_EQ(Decide(StepTime(3), usual, five, five).luck, 1.5 * kMs);
  // Three may hide twice as much, one three times as much. Learned noise hides nothing.
  EXPECT_DOUBLE_EQ(Decide(StepTime(3), usual, three, three).luck, 3.0 * kMs);
  const Runs one = InMs({{100, 100, 100}});
  EXPECT_DOUBLE_EQ(Decide(StepTime(3), usual, one, one).luck, 4.5 * kMs);
  EXPECT_DOUBLE_EQ(Decide(StepTime(3), {.learned_noise = 0.002}, one, one).luck, 1.0 * kMs);
  // Runs that lie 1 ms apart, as a standard deviation.
  const Runs wide = InMs({{99}, {100}, {101}});
  EXPECT_DOUBLE_EQ(Decide(StepTime(3), usual, wide, wide).luck, 5.0 * kMs);
}

TEST(GateDecision, WithoutALimitNothingFails) {
  EXPECT_EQ(Decide({{MetricKind::kFree, ""}, {}, {}, {}}, {}, {{1}}, {{1000}}).verdict,
            GateVerdict::kOk);
}

}  // namespace
}  // namespace mpa::gate
