// SPDX-License-Identifier: Apache-2.0
// How often the decision is wrong, on simulated runs with the noise that identical runs on one card
// showed: step times of runs differ by 0.3 %, and the steps of one run depend on each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>
#include <string>
#include <utility>

#include "gate/decision.h"
#include "gate/levels.h"
#include "mpa/gate/comparable.h"
#include "mpa/gate/judge.h"

namespace mpa::gate {
namespace {

struct Program {
  double step_ns = 400e6;
  double run_noise = 0.003;   // of the step, the same for all steps of a run
  double step_noise = 0.006;  // of the step, of single steps
  double memory = 0.7;        // how much of it a step leaves to the next one
  double first = 1;           // the first step takes so many times as long
  double middle = 1;          // and one in the middle
  double drift = 0;           // growth from the first to the last step, as a part of the step
};

// std::normal_distribution differs between libraries; the sum of twelve uniform numbers does not.
double Normal(std::mt19937_64& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += std::ldexp(static_cast<double>(random() >> 11), -53);
  return sum;
}

Runs Simulate(const Program& program, int runs, int steps, std::mt19937_64& random) {
  Runs samples;
  for (int run = 0; run < runs; ++run) {
    const double of_run = program.run_noise * Normal(random);
    double of_step = program.step_noise * Normal(random);
    auto& values = samples.emplace_back();
    for (int step = 0; step < steps; ++step) {
      const double drift = program.drift * (step / (steps - 1.0) - 0.5);
      const double slow = step == 0 ? program.first : step == steps / 2 ? program.middle : 1;
      values.push_back(std::llround(program.step_ns * (1 + of_run + of_step) * (1 + drift) * slow));
      of_step = program.memory * of_step + std::sqrt(1 - program.memory * program.memory) *
                                               program.step_noise * Normal(random);
    }
  }
  return samples;
}

struct Scenario {
  int runs = 3, steps = 10;
  double limit_percent = 3;
  double slower = 0;  // 0.05: the comparison takes 5 % more
  Program program{};
};

std::vector<RunSummary> AsRuns(Runs samples) {
  std::vector<RunSummary> runs;
  for (auto& values : samples) {
    RunSummary& run = runs.emplace_back();
    run.steps.resize(values.size());
    run.samples[{MetricKind::kStepTime, ""}] = std::move(values);
  }
  return runs;
}

// As Judge() does it.
bool IsAlarm(const Rule& rule, const Floors& floors, Runs base, Runs comparison) {
  std::vector<RunSummary> before = AsRuns(std::move(base)), after = AsRuns(std::move(comparison));
  (void)LeaveOutWarmup(floors.min_samples, before, after);
  return Decide(rule, floors, SamplesOf(before, rule.metric), SamplesOf(after, rule.metric))
             .verdict == GateVerdict::kRegression;
}

// The part of `trials` comparisons that end as a regression.
double Alarms(const Scenario& scenario, int trials, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Program slower = scenario.program;
  slower.step_ns *= 1 + scenario.slower;
  const Rule rule{{MetricKind::kStepTime, ""}, {scenario.limit_percent, {}}, {}, {}};
  const Floors floors{.min_abs = 20'000, .min_samples = 3, .usual_noise = 0.003};
  int alarms = 0;
  for (int i = 0; i < trials; ++i) {
    Runs base = Simulate(scenario.program, scenario.runs, scenario.steps, random);
    Runs comparison = Simulate(slower, scenario.runs, scenario.steps, random);
    alarms += IsAlarm(rule, floors, std::move(base), std::move(comparison)) ? 1 : 0;
  }
  return static_cast<double>(alarms) / trials;
}

constexpr int kTrials = 5000;

TEST(GateSimulation, NoFalseAlarmsAtTheUsualLimit) { EXPECT_LE(Alarms({}, kTrials, 1), 0.001); }

TEST(GateSimulation, FewFalseAlarmsEvenWithoutALimit) {
  // Noise and test alone have to hold: no limit helps.
  EXPECT_LE(Alarms({.limit_percent = 0}, kTrials, 2), 0.02);
}

TEST(GateSimulation, MoreStepsDoNotRaiseFalseAlarms) {
  for (const auto& [steps, trials] :
       {std::pair(5, kTrials), std::pair(20, kTrials), std::pair(50, kTrials / 5)}) {
    EXPECT_LE(Alarms({.steps = steps, .limit_percent = 0}, trials, 3), 0.02) << steps;
  }
}

TEST(GateSimulation, MoreRunsDoNotRaiseFalseAlarms) {
  for (const int runs : {4, 6}) {
    EXPECT_LE(Alarms({.runs = runs, .limit_percent = 0}, kTrials, 4), 0.02) << runs;
  }
}

TEST(GateSimulation, NoiseOfSmallKernelsRaisesNoAlarm) {
  Scenario scenario{.limit_percent = 3};
  scenario.program = {.step_ns = 400e3, .run_noise = 0.11, .step_noise = 0.11};
  EXPECT_LE(Alarms(scenario, kTrials, 5), 0.02);
}

TEST(GateSimulation, FreeTimeRaisesNoAlarm) {
  Scenario scenario{.limit_percent = 3};
  scenario.program = {.step_ns = 20e6, .run_noise = 2.19, .step_noise = 0.5};
  EXPECT_LE(Alarms(scenario, kTrials, 6), 0.02);
}

TEST(GateSimulation, FivePercentIsDetected) {
  EXPECT_GE(Alarms({.slower = 0.05}, kTrials, 7), 0.90);
}

TEST(GateSimulation, OneRunASideIsCarefulToo) {
  EXPECT_LE(Alarms({.runs = 1}, kTrials, 8), 0.02);
  EXPECT_GE(Alarms({.runs = 1, .slower = 0.05}, kTrials, 9), 0.90);
}

// --- What --update_baseline saves ---

// How far the baseline is from what the program takes after so many updates with runs of the same
// program, as a part of it, and how often it moved.
struct Creep {
  double distance = 0;
  int moves = 0;
};

Creep UpdateWithEqualRuns(const Scenario& scenario, int updates, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Rule rule{{MetricKind::kStepTime, ""}, {scenario.limit_percent, {}}, {}, {}};
  const Floors floors{.min_abs = 20'000, .min_samples = 3, .usual_noise = 0.003};
  // The first baseline is neither lucky nor not: its runs are those of a program without noise.
  Program calm = scenario.program;
  calm.run_noise = calm.step_noise = 0;
  Runs base = Simulate(calm, scenario.runs, scenario.steps, random);
  Creep creep;
  for (int i = 0; i < updates; ++i) {
    Runs comparison = Simulate(scenario.program, scenario.runs, scenario.steps, random);
    GateReport report;
    report.metrics = {Decide(rule, floors, base, comparison)};
    report.verdict = report.metrics.front().verdict;
    if (!WhyBaselineStays(report).empty()) continue;
    base = std::move(comparison);
    ++creep.moves;
  }
  const auto level = static_cast<double>(LevelsOf(base, base).base);
  creep.distance = std::abs(level / scenario.program.step_ns - 1);
  return creep;
}

TEST(GateSimulation, LuckMovesNoBaseline) {
  // Runs that differ by 0.3 %, as identical ones did, and by three times as much.
  for (const int runs : {1, 3}) {
    for (const double run_noise : {0.003, 0.009}) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Scenario scenario{.runs = runs, .program = {.run_noise = run_noise}};
        const Creep creep = UpdateWithEqualRuns(scenario, 200, seed);
        SCOPED_TRACE(fmt::format("{} runs, {}, seed {}: {} moves, {:.2f} %", runs, run_noise, seed,
                                 creep.moves, 100 * creep.distance));
        EXPECT_EQ(creep.moves, 0);
      }
    }
  }
}

// Updates of a baseline that two metrics judge: steps that differ by 0.3 % from run to run, and
// their communication, a tenth of them, which differs by 5 %. What is usual for it nobody knows.
struct Updated {
  Runs steps, communication;
};

class TwoMetrics {
 public:
  explicit TwoMetrics(std::uint64_t seed) : random_(seed) { base_ = Measure(); }

  void Update() {
    Updated now = Measure();
    GateReport report;
    report.metrics = {Decide(kStep, kStepFloors, base_.steps, now.steps),
                      Decide(kCommunication, kFloors, base_.communication, now.communication)};
    report.verdict = GateVerdict::kOk;
    for (const GateVerdict verdict :
         {GateVerdict::kImproved, GateVerdict::kUndecided, GateVerdict::kRegression}) {
      for (const GateMetric& metric : report.metrics)
        if (metric.verdict == verdict) report.verdict = verdict;
    }
    if (WhyBaselineStays(report).empty()) {
      base_ = std::move(now);
      ++moves_;
    } else if (FillsBaseline(report, AsRuns(base_.steps), AsRuns(now.steps))) {
      base_.steps.push_back(now.steps.front());
      base_.communication.push_back(now.communication.front());
    }
  }
  bool IsAlarm() {
    return Decide(kStep, kStepFloors, base_.steps, Measure().steps).verdict ==
           GateVerdict::kRegression;
  }
  double Distance() const {
    return static_cast<double>(LevelsOf(base_.steps, base_.steps).base) / 400e6 - 1;
  }
  int moves() const { return moves_; }
  std::size_t runs() const { return base_.steps.size(); }

 private:
  Updated Measure() {
    const double of_communication = 0.05 * Normal(random_), of_step = 0.003 * Normal(random_);
    Updated measured{Runs(1), Runs(1)};
    for (int step = 0; step < 10; ++step) {
      measured.communication[0].push_back(
          std::llround(40e6 * (1 + of_communication + 0.01 * Normal(random_))));
      measured.steps[0].push_back(
          std::llround(400e6 * (1 + of_step + 0.1 * of_communication + 0.006 * Normal(random_))));
    }
    return measured;
  }

  const Rule kStep{{MetricKind::kStepTime, ""}, {1, {}}, {}, {}};
  const Rule kCommunication{{MetricKind::kCommExposed, ""}, {5, {}}, {}, {}};
  const Floors kStepFloors{.min_abs = 20'000, .min_samples = 3, .usual_noise = 0.003};
  const Floors kFloors{.min_abs = 20'000, .min_samples = 3};
  std::mt19937_64 random_;
  Updated base_;
  int moves_ = 0;
};

TEST(GateSimulation, LuckOfOneMetricDoesNotMoveTheOthers) {
  constexpr int kSeeds = 20, kUpdates = 47, kRuns = 48;
  double distance = 0;
  int moves = 0, alarms = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    TwoMetrics program(seed);
    for (int i = 0; i < kUpdates; ++i) program.Update();
    EXPECT_LE(program.runs(), 10u);
    for (int i = 0; i < kRuns; ++i) alarms += program.IsAlarm() ? 1 : 0;
    distance += program.Distance() / kSeeds;
    moves += program.moves();
  }
  // When every update could replace the baseline, 28 of them did, it fell by 0.83 %, and 16 % of
  // the runs failed.
  EXPECT_LE(moves, 4);
  EXPECT_GT(distance, -0.004);
  EXPECT_LE(alarms, kSeeds * kRuns / 10);
}

TEST(GateSimulation, ABaselineHasTenRunsAtMost) {
  GateReport report;
  GateMetric& metric = report.metrics.emplace_back();
  metric.name = "step_time";
  metric.base = 100;
  metric.comparison = 101;
  metric.luck = 2;
  const std::vector<RunSummary> nine = AsRuns({{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}});
  const std::vector<RunSummary> ten = AsRuns({{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}});
  const std::vector<RunSummary> other = AsRuns({{11}}), known = AsRuns({{3}});
  EXPECT_TRUE(FillsBaseline(report, nine, other));
  EXPECT_FALSE(FillsBaseline(report, ten, other));
  EXPECT_FALSE(FillsBaseline(report, nine, known));  // the same capture again
  metric.comparison = 103;                           // more than luck
  EXPECT_FALSE(FillsBaseline(report, nine, other));
  report.metrics[0].comparison = 100;
  report.verdict = GateVerdict::kUndecided;
  EXPECT_FALSE(FillsBaseline(report, nine, other));
}

TEST(GateSimulation, WhatIsClearlyFasterMovesTheBaseline) {
  const Rule rule{{MetricKind::kStepTime, ""}, {3, {}}, {}, {}};
  const Floors floors{.min_abs = 20'000, .min_samples = 3, .usual_noise = 0.003};
  std::mt19937_64 random(11);
  Program faster;
  faster.step_ns *= 0.93;
  int moves = 0;
  constexpr int kUpdates = 200;
  for (int i = 0; i < kUpdates; ++i) {
    const Runs base = Simulate({}, 3, 10, random), comparison = Simulate(faster, 3, 10, random);
    GateReport report;
    report.metrics = {Decide(rule, floors, base, comparison)};
    report.verdict = report.metrics.front().verdict;
    moves += WhyBaselineStays(report).empty() ? 1 : 0;
  }
  EXPECT_GE(moves, kUpdates * 95 / 100);
}

// --- One run a side ---

struct Shape {
  const char* name;
  Program program;
  bool dependent = false;  // the steps depend on each other, which five of them cannot show
};

const Shape kShapes[] = {
    {"white", {.memory = 0}},
    {"first step x 1.5", {.memory = 0, .first = 1.5}},
    {"first step x 3", {.memory = 0, .first = 3}},
    {"drift of 1 %", {.memory = 0, .drift = 0.01}},
    {"drift of 3 %", {.memory = 0, .drift = 0.03}},
    {"drift of 5 %", {.memory = 0, .drift = 0.05}},
    {"step in the middle x 1.5", {.memory = 0, .middle = 1.5}},
    {"dependent steps, 0.5", {.memory = 0.5}, true},
};

Scenario OneRun(const Shape& shape, int steps, double step_noise, double run_noise, double slower) {
  Scenario scenario{.runs = 1, .steps = steps, .slower = slower, .program = shape.program};
  scenario.program.step_noise = step_noise;
  scenario.program.run_noise = run_noise;
  return scenario;
}

// Prints, in percent: false alarms, what is found of +5 %, and false alarms where runs differ by 1
// %.
TEST(GateSimulation, OneRunASideKeepsItsRatesWhateverTheShapeOfTheNoise) {
  std::uint64_t seed = 100;
  for (const Shape& shape : kShapes) {
    for (const int steps : {5, 10, 20}) {
      for (const double noise : {0.005, 0.01, 0.02}) {
        SCOPED_TRACE(fmt::format("{}, {} steps, noise {}", shape.name, steps, noise));
        std::string row = fmt::format("{:25}{:3} steps {:.1f} %", shape.name, steps, 100 * noise);
        const int trials = steps == 5 ? 4000 : 1000;  // five steps come closest to the bounds
        const auto alarms = [&](double run_noise, double slower) {
          const double rate =
              Alarms(OneRun(shape, steps, noise, run_noise, slower), trials, ++seed);
          row += fmt::format(" {:6.2f}", 100 * rate);
          return rate;
        };
        // How steps depend on each other cannot be seen in five of them.
        const double times = shape.dependent ? 2.5 : 1;
        EXPECT_LT(alarms(0, 0), 0.01 * times);
        const double found = alarms(0, 0.05);
        if (noise <= 0.01) {
          EXPECT_GE(found, shape.program.middle > 1 ? 0.88 : 0.93);
        }
        EXPECT_LT(alarms(0.01, 0), 0.025 * times);
        std::cout << row << '\n';
      }
    }
  }
}

TEST(GateSimulation, OneRunASideFindsFivePercentInFiveSteps) {
  for (const Shape& shape : kShapes) {
    if (shape.program.middle > 1) continue;
    EXPECT_GE(Alarms(OneRun(shape, 5, 0.01, 0, 0.05), 4 * kTrials, 50), 0.935) << shape.name;
  }
}

}  // namespace
}  // namespace mpa::gate
