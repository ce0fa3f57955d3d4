// SPDX-License-Identifier: Apache-2.0
// Where the difference of the step comes from.
#include "contributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "run_medians.h"

namespace mpa::gate {
namespace {

using Medians = std::map<Metric, std::int64_t>;

// A row for each name of either side.
std::vector<GatePart> Join(const TimesByName& base, const TimesByName& comparison,
                           const char* kind) {
  std::map<std::string, GatePart> joined;
  for (const auto& [name, time] : base) {
    joined[name] = {kind, name, time.ns, 0, time.calls, 0};
  }
  for (const auto& [name, time] : comparison) {
    GatePart& part = joined.try_emplace(name, GatePart{kind, name, 0, 0, 0, 0}).first->second;
    part.comparison = time.ns;
    part.comparison_count = time.calls;
  }
  std::vector<GatePart> parts;
  parts.reserve(joined.size());
  for (auto& [name, part] : joined) parts.push_back(std::move(part));
  return parts;
}

void LargestFirst(std::vector<GatePart>& parts) {
  std::erase_if(parts, [](const GatePart& part) { return part.Change() == 0; });
  std::stable_sort(parts.begin(), parts.end(), [](const GatePart& a, const GatePart& b) {
    return std::abs(a.Change()) > std::abs(b.Change());
  });
}

// The parts of a component, and what of it they do not tell.
void AddComponent(std::vector<GatePart> parts, const GatePart& whole, const char* rest,
                  std::vector<GatePart>& all) {
  GatePart left = whole;
  left.name = parts.empty() ? whole.name : rest;
  for (GatePart& part : parts) {
    left.base -= part.base;
    left.comparison -= part.comparison;
    all.push_back(std::move(part));
  }
  all.push_back(std::move(left));
}

std::optional<std::pair<std::int64_t, std::int64_t>> Both(const Medians& base,
                                                          const Medians& comparison,
                                                          MetricKind kind) {
  const auto before = base.find({kind, ""});
  const auto after = comparison.find({kind, ""});
  if (before == base.end() || after == comparison.end()) return std::nullopt;
  return std::pair{before->second, after->second};
}

// Names that only `of` has.
void AddMissing(const TimesByName& from, const TimesByName& of, std::vector<std::string>& names) {
  if (from.empty() || of.empty()) return;  // not recorded is not removed
  for (const auto& [name, time] : of) {
    if (!from.contains(name)) names.push_back(name);
  }
}

std::vector<GatePart> Kernels(const Breakdown& base, const Breakdown& comparison) {
  if (!base.op_types.empty() && !comparison.op_types.empty()) {
    return Join(base.op_types, comparison.op_types, "kernel");
  }
  if (!base.kernels.empty() && !comparison.kernels.empty()) {
    return Join(base.kernels, comparison.kernels, "kernel");
  }
  return {};
}

// Collectives are told by what they did to the step.
std::vector<GatePart> Collectives(const Breakdown& base, const Breakdown& comparison) {
  std::vector<GatePart> parts = Join(base.collectives, comparison.collectives, "collective");
  for (GatePart& part : parts) part.name = "exposed " + part.name;
  return parts;
}

}  // namespace

Contributions Explain(const std::vector<RunSummary>& base,
                      const std::vector<RunSummary>& comparison) {
  const Medians before = MediansOf(base), after = MediansOf(comparison);
  const Breakdown base_times = MedianBreakdown(base), times = MedianBreakdown(comparison);
  Contributions contributions;
  AddMissing(base_times.op_types, times.op_types, contributions.added);
  AddMissing(base_times.operators, times.operators, contributions.added);
  AddMissing(times.op_types, base_times.op_types, contributions.removed);
  AddMissing(times.operators, base_times.operators, contributions.removed);
  contributions.operators = Join(base_times.operators, times.operators, "operator");
  LargestFirst(contributions.operators);

  auto whole = Both(before, after, MetricKind::kStepTime);
  if (!whole) whole = Both(before, after, MetricKind::kE2e);
  const auto computing = Both(before, after, MetricKind::kComputing);
  const auto exposed = Both(before, after, MetricKind::kCommExposed);
  const auto free = Both(before, after, MetricKind::kFree);
  if (!whole || !computing || !exposed || !free) return contributions;
  std::vector<GatePart>& parts = contributions.parts;
  AddComponent(Kernels(base_times, times),
               {"component", "computing", computing->first, computing->second, 0, 0},
               "kernels that ran at the same time", parts);
  AddComponent(Collectives(base_times, times),
               {"component", "exposed communication", exposed->first, exposed->second, 0, 0},
               "other exposed communication", parts);
  parts.push_back({"component", "free time", free->first, free->second, 0, 0});
  // Medians of parts need not add up to the median of the whole.
  GatePart remainder{"remainder", "other", whole->first, whole->second, 0, 0};
  for (const GatePart& part : parts) {
    remainder.base -= part.base;
    remainder.comparison -= part.comparison;
  }
  LargestFirst(parts);
  parts.push_back(std::move(remainder));
  return contributions;
}

std::vector<GatePart> PartsOf(const Metric& metric, const Contributions& contributions,
                              const std::vector<RunSummary>& base,
                              const std::vector<RunSummary>& comparison) {
  std::vector<GatePart> parts;
  const auto take = [&](std::string_view kind) {
    std::copy_if(contributions.parts.begin(), contributions.parts.end(), std::back_inserter(parts),
                 [&](const GatePart& part) { return part.kind == kind; });
  };
  const auto take_fitting = [&](TimesByName Breakdown::*section) {
    parts = Join(MedianBreakdown(base).*section, MedianBreakdown(comparison).*section, "kernel");
    std::erase_if(parts,
                  [&](const GatePart& part) { return !FitsPattern(metric.pattern, part.name); });
    LargestFirst(parts);
  };
  switch (metric.kind) {
    case MetricKind::kE2e:
      if (base.front().samples.contains({MetricKind::kStepTime, ""})) break;
      [[fallthrough]];
    case MetricKind::kStepTime:
      parts = contributions.parts;
      break;
    case MetricKind::kComputing:
      take("kernel");
      break;
    case MetricKind::kCommExposed:
      take("collective");
      break;
    case MetricKind::kKernel:
      take_fitting(&Breakdown::kernels);
      break;
    case MetricKind::kOp:
      if (!IsFrameworkOp(metric)) take_fitting(&Breakdown::op_types);
      break;
    default:
      break;
  }
  return parts;
}

}  // namespace mpa::gate
