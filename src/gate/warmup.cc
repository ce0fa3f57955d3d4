// SPDX-License-Identifier: Apache-2.0
// First steps that say nothing of the others.
#include "warmup.h"

#include <fmt/format.h>

#include <algorithm>

#include "levels.h"
#include "mpa/measure/quantiles.h"

namespace mpa::gate {
namespace {

constexpr std::size_t kFewestLeft = 3;

// One for each step; empty where the run has no steps, or a file has other numbers of them.
std::vector<std::int64_t> StepTimes(const RunSummary& run) {
  const auto found = run.samples.find({MetricKind::kStepTime, ""});
  const bool whole = found != run.samples.end() && found->second.size() == run.steps.size();
  return whole ? found->second : std::vector<std::int64_t>();
}

std::size_t MostLeftOut(std::size_t steps, std::size_t min_steps) {
  constexpr std::size_t kMost = 2, kOneOf = 4;
  const std::size_t kept = std::max(min_steps, kFewestLeft);
  return steps <= kept ? 0 : std::min(steps - kept, std::max(kMost, steps / kOneOf));
}

std::vector<std::int64_t> Later(const std::vector<std::int64_t>& times, std::size_t leading) {
  return {times.begin() + static_cast<std::ptrdiff_t>(leading), times.end()};
}

// The first steps as a multiple of the later ones, of the run that was slowest there.
double Slowness(const std::vector<RunSummary>& runs, std::size_t leading) {
  double slowest = 0;
  for (const RunSummary& run : runs) {
    const std::vector<std::int64_t> times = StepTimes(run);
    const std::int64_t later = Median(Later(times, leading));
    if (later <= 0) continue;
    const std::int64_t first =
        *std::max_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(leading));
    slowest = std::max(slowest, static_cast<double>(first) / static_cast<double>(later));
  }
  return slowest;
}

void Drop(std::size_t leading, RunSummary& run) {
  const std::size_t steps = run.steps.size();
  for (auto& [metric, values] : run.samples) {
    if (IsPerStep(metric.kind) && values.size() == steps) values = Later(values, leading);
  }
  run.steps.erase(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(leading));
}

}  // namespace

std::size_t CountWarmup(const std::vector<std::int64_t>& step_times, std::size_t min_steps) {
  constexpr double kFarAway = 5, kLeastPart = 0.1;
  for (std::size_t count = MostLeftOut(step_times.size(), min_steps); count > 0; --count) {
    const std::vector<std::int64_t> later = Later(step_times, count);
    const std::int64_t middle = Median(later);
    const double least =
        std::max(kFarAway * SpreadAround(later, middle), kLeastPart * static_cast<double>(middle));
    const bool all_far =
        std::all_of(step_times.begin(), step_times.begin() + static_cast<std::ptrdiff_t>(count),
                    [&](std::int64_t time) { return static_cast<double>(time - middle) > least; });
    if (all_far) return count;
  }
  return 0;
}

std::optional<GateWarmup> LeaveOutWarmup(std::size_t min_steps, std::vector<RunSummary>& base,
                                         std::vector<RunSummary>& comparison) {
  GateWarmup warmup;
  std::size_t most = SIZE_MAX;
  const auto count = [&](const std::vector<RunSummary>& runs) {
    std::size_t of_side = 0;
    for (const RunSummary& run : runs) {
      const std::vector<std::int64_t> times = StepTimes(run);
      of_side = std::max(of_side, CountWarmup(times, min_steps));
      most = std::min(most, MostLeftOut(times.size(), min_steps));
    }
    return of_side;
  };
  const std::size_t of_base = count(base), of_comparison = count(comparison);
  warmup.steps = std::min(std::max(of_base, of_comparison), most);
  if (warmup.steps == 0) return std::nullopt;
  warmup.base = Slowness(base, warmup.steps);
  warmup.comparison = Slowness(comparison, warmup.steps);
  warmup.in_base = of_base > 0;
  warmup.in_comparison = of_comparison > 0;
  for (std::vector<RunSummary>* side : {&base, &comparison}) {
    for (RunSummary& run : *side) Drop(warmup.steps, run);
  }
  return warmup;
}

std::string WarmupHint(std::size_t min_steps, const std::vector<RunSummary>& base,
                       const std::vector<RunSummary>& comparison) {
  constexpr double kSlow = 1.2;
  std::size_t fewest = SIZE_MAX;
  for (const std::vector<RunSummary>* side : {&base, &comparison}) {
    for (const RunSummary& run : *side) fewest = std::min(fewest, StepTimes(run).size());
  }
  if (fewest < 2) return {};
  const double slowest = std::max(Slowness(base, 1), Slowness(comparison, 1));
  if (slowest < kSlow) return {};
  const std::string fewer =
      fewest > min_steps ? ""
                         : fmt::format(" --min_steps {}", std::max<std::size_t>(fewest - 1, 1));
  return fmt::format(
      "the first step takes up to {:.2f} times as long as the later ones; if it is warm-up, leave "
      "it out with --warmup 1{}",
      slowest, fewer);
}

}  // namespace mpa::gate
