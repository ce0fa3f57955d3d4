// SPDX-License-Identifier: Apache-2.0
// Were both sides collected alike?
#include "mpa/gate/comparable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "levels.h"
#include "mpa/base/language.h"
#include "mpa/measure/quantiles.h"

namespace mpa::gate {
namespace {

double Total(const ShapeCounts& counts) {
  double total = 0;
  for (const auto& [shape, count] : counts) total += static_cast<double>(count);
  return total;
}

// Hashes that are the same on every machine: they are kept in files.
std::string HashOf(std::string_view type, std::string_view shapes) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto mix = [&](std::string_view text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
  };
  mix(type);
  mix("|");
  mix(shapes);
  return fmt::format("{:016x}", hash);
}

// What "Ascend910B or 910C" may be: a capture need not tell chips of one family apart.
std::set<std::string> Alternatives(std::string_view value) {
  constexpr std::string_view kOr = " or ";
  const std::string_view family = value.substr(0, value.find_first_of("0123456789"));
  std::set<std::string> all;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(kOr), value.size());
    const std::string_view one = value.substr(0, end);
    all.insert(one.starts_with(family) ? std::string(one) : fmt::format("{}{}", family, one));
    value.remove_prefix(std::min(end + kOr.size(), value.size()));
  }
  return all;
}

// Values of a fact that cannot be true at once.
bool Contradict(const std::string& a, const std::string& b) {
  if (a == b) return false;
  const std::set<std::string> of_a = Alternatives(a), of_b = Alternatives(b);
  return std::ranges::none_of(of_a, [&](const std::string& one) { return of_b.contains(one); });
}

}  // namespace

std::span<const std::string_view> MismatchFields() {
  static constexpr std::string_view kFields[] = {"device",
                                                 "chip",
                                                 "soc",
                                                 "framework",
                                                 "profiler_level",
                                                 "activities",
                                                 "aic_metrics",
                                                 "record_shapes",
                                                 "profile_memory",
                                                 "with_stack",
                                                 "with_modules",
                                                 "world_size",
                                                 "torch_npu_version",
                                                 "cann_version",
                                                 "warmup",
                                                 "rank_stat",
                                                 "shapes"};
  return kFields;
}

std::string ShapeOf(const RankTrace& trace, std::size_t kernel) {
  const std::string_view shapes = trace.strings.View(trace.kernels.shapes[kernel]);
  if (shapes.empty()) return "";
  return HashOf(trace.strings.View(trace.kernels.op_type[kernel]), shapes);
}

ShapeCounts CountShapes(const RankTrace& trace) {
  ShapeCounts counts;
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    std::string shape = ShapeOf(trace, i);
    if (!shape.empty()) ++counts[std::move(shape)];
  }
  return counts;
}

double ShapesInCommon(const ShapeCounts& base, const ShapeCounts& comparison) {
  const double base_total = Total(base), comparison_total = Total(comparison);
  if (base_total <= 0 || comparison_total <= 0) return 0;
  double common = 0;
  for (const auto& [shape, count] : base) {
    const auto found = comparison.find(shape);
    if (found == comparison.end()) continue;
    common += std::min(static_cast<double>(count) / base_total,
                       static_cast<double>(found->second) / comparison_total);
  }
  return common;
}

std::vector<GateMismatch> FindMismatches(const std::vector<RunSummary>& base,
                                         const std::vector<RunSummary>& comparison,
                                         const std::set<std::string>& allowed) {
  const RunSummary& first = base.front();
  std::map<std::string, GateMismatch> mismatches;
  const auto add = [&](const std::string& field, std::string before, std::string after) {
    mismatches.try_emplace(
        field, GateMismatch{field, std::move(before), std::move(after), allowed.contains(field)});
  };
  constexpr double kMaxAlike = 0.5;
  const auto check = [&](const RunSummary& run) {
    for (const auto& [field, value] : run.facts) {
      if (field == kAllocators) continue;
      const auto found = first.facts.find(field);
      if (found != first.facts.end() && Contradict(found->second, value)) {
        add(field, found->second, value);
      }
    }
    if (first.shapes.empty() || run.shapes.empty()) return;
    const double common = ShapesInCommon(first.shapes, run.shapes);
    if (common < kMaxAlike) {
      add("shapes", Say("100 % of the kernels"),
          Say("{:.0f} % with the same type and shapes", 100 * common));
    }
  };
  for (const RunSummary& run : base) check(run);
  for (const RunSummary& run : comparison) check(run);
  std::vector<GateMismatch> list;
  list.reserve(mismatches.size());
  for (auto& [field, mismatch] : mismatches) list.push_back(std::move(mismatch));
  return list;
}

std::string MismatchText(const std::vector<GateMismatch>& mismatches) {
  std::string text;
  for (const GateMismatch& mismatch : mismatches) {
    if (mismatch.allowed) continue;
    text += fmt::format("{}{} ({} / {})", text.empty() ? "" : ", ", mismatch.field, mismatch.base,
                        mismatch.comparison);
  }
  return text;
}

// First steps (warm-up) that are not representative of the others.

namespace {

constexpr std::size_t kMinLeft = 3;

// One for each step; empty where the run has no steps, or a file has other numbers of them.
std::vector<std::int64_t> StepTimes(const RunSummary& run) {
  const auto found = run.samples.find({MetricKind::kStepTime, ""});
  const bool whole = found != run.samples.end() && found->second.size() == run.steps.size();
  return whole ? found->second : std::vector<std::int64_t>();
}

std::size_t MostLeftOut(std::size_t steps, std::size_t min_steps) {
  constexpr std::size_t kMax = 2, kOneOf = 4;
  const std::size_t kept = std::max(min_steps, kMinLeft);
  return steps <= kept ? 0 : std::min(steps - kept, std::max(kMax, steps / kOneOf));
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
  constexpr double kFarAway = 5, kMinPart = 0.1;
  for (std::size_t count = MostLeftOut(step_times.size(), min_steps); count > 0; --count) {
    const std::vector<std::int64_t> later = Later(step_times, count);
    const std::int64_t middle = Median(later);
    const double least =
        std::max(kFarAway * SpreadAround(later, middle), kMinPart * static_cast<double>(middle));
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
  return Say(
      "the first step takes up to {:.2f} times as long as the later ones; if it is warm-up, leave"
      " it out with --warmup 1{}",
      slowest, fewer);
}

}  // namespace mpa::gate
