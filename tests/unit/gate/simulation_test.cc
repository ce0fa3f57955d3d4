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
