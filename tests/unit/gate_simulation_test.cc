// SPDX-License-Identifier: Apache-2.0
// How often the decision is wrong, on simulated runs with the noise that identical runs on one card
// showed: step times of runs differ by 0.3 %, and the steps of one run depend on each other.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>

#include "analysis/gate/decision.h"

namespace mpa::gate {
namespace {

struct Program {
  double step_ns = 400e6;
  double run_noise = 0.003;   // of the step, the same for all steps of a run
  double step_noise = 0.006;  // of the step, of single steps
  double memory = 0.7;        // how much of it a step leaves to the next one
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
      values.push_back(std::llround(program.step_ns * (1 + of_run + of_step)));
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

// The part of `trials` comparisons that end as a regression.
double Alarms(const Scenario& scenario, int trials, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Program slower = scenario.program;
  slower.step_ns *= 1 + scenario.slower;
  const Rule rule{{MetricKind::kStepTime, ""}, {scenario.limit_percent, {}}, {}, {}};
  const Floors floors{.min_abs = 20'000, .min_samples = 3, .usual_noise = 0.003};
  int alarms = 0;
  for (int i = 0; i < trials; ++i) {
    const Runs base = Simulate(scenario.program, scenario.runs, scenario.steps, random);
    const Runs comparison = Simulate(slower, scenario.runs, scenario.steps, random);
    alarms += Decide(rule, floors, base, comparison).verdict == GateVerdict::kRegression ? 1 : 0;
  }
  const double rate = static_cast<double>(alarms) / trials;
  std::cout << scenario.runs << " runs x " << scenario.steps << " steps, limit "
            << scenario.limit_percent << " %, slower by " << 100 * scenario.slower
            << " %: " << 100 * rate << " % alarms\n";
  return rate;
}

constexpr int kTrials = 5000;

TEST(GateSimulation, NoFalseAlarmsAtTheUsualLimit) { EXPECT_LE(Alarms({}, kTrials, 1), 0.001); }

TEST(GateSimulation, FewFalseAlarmsEvenWithoutALimit) {
  // Noise and test alone have to hold: no limit helps.
  EXPECT_LE(Alarms({.limit_percent = 0}, kTrials, 2), 0.02);
}

TEST(GateSimulation, MoreStepsDoNotRaiseFalseAlarms) {
  for (const int steps : {5, 20, 50}) {
    EXPECT_LE(Alarms({.steps = steps, .limit_percent = 0}, kTrials, 3), 0.02) << steps;
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

}  // namespace
}  // namespace mpa::gate
