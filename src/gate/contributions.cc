// SPDX-License-Identifier: Apache-2.0
// Where the difference of the step comes from.
#include "contributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "account_names.h"
#include "levels.h"
#include "run_medians.h"

namespace mpa::gate {
namespace {

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

// The parts of a component, and the rest that they do not explain.
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

bool Has(const std::vector<RunSummary>& runs, MetricKind kind) {
  return !SamplesOf(runs, {kind, ""}).empty();
}

bool HaveSteps(const std::vector<RunSummary>& base, const std::vector<RunSummary>& comparison) {
  return Has(base, MetricKind::kStepTime) || Has(comparison, MetricKind::kStepTime);
}

// The values that are judged. Empty where a side has none.
std::optional<std::pair<std::int64_t, std::int64_t>> Both(const std::vector<RunSummary>& base,
                                                          const std::vector<RunSummary>& comparison,
                                                          MetricKind kind) {
  const Runs before = SamplesOf(base, {kind, ""}), after = SamplesOf(comparison, {kind, ""});
  if (before.empty() || after.empty()) return std::nullopt;
  const Levels levels = LevelsOf(before, after);
  return std::pair{levels.base, levels.comparison};
}

// What a side does not have takes no time.
std::pair<std::int64_t, std::int64_t> BothOrNone(const std::vector<RunSummary>& base,
                                                 const std::vector<RunSummary>& comparison,
                                                 MetricKind kind) {
  const auto of = [&](const std::vector<RunSummary>& runs) {
    const Runs samples = SamplesOf(runs, {kind, ""});
    return samples.empty() ? Runs{{0}} : samples;
  };
  const Levels levels = LevelsOf(of(base), of(comparison));
  return {levels.base, levels.comparison};
}

// Names that only `of` has.
void AddMissing(const TimesByName& from, const TimesByName& of, std::vector<std::string>& names) {
  if (from.empty() || of.empty()) return;  // not recorded is not removed
  for (const auto& [name, time] : of) {
    if (!from.contains(name)) names.push_back(name);
  }
}

std::vector<GatePart> KernelParts(const Breakdown& base, const Breakdown& comparison) {
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

// Parts of the account that `wanted` says yes to, with the kernels' calls.
template <typename Wanted>
std::vector<GatePart> AccountParts(const Breakdown& base, const Breakdown& comparison,
                                   Wanted wanted) {
  std::vector<GatePart> parts;
  for (GatePart& part : Join(base.account, comparison.account, "")) {
    const AccountName name = ReadAccountKey(part.name);
    if (!wanted(name)) continue;
    part.kind = name.Kind();
    part.name = name.Title();
    part.base_count = part.comparison_count = 0;
    if (name.IsCompute()) {
      const auto count = [&](const Breakdown& of) {
        for (const TimesByName* table : {&of.op_types, &of.kernels}) {
          const auto found = table->find(name.what);
          if (found != table->end()) return found->second.calls;
        }
        return std::int64_t{0};
      };
      part.base_count = count(base);
      part.comparison_count = count(comparison);
    } else {
      part.leaf = name.leaf;
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// The parts of one of the metrics that the account explains; empty for others, and where a side has
// no account.
std::vector<GatePart> AccountPartsOf(MetricKind kind, const Breakdown& base,
                                     const Breakdown& comparison) {
  if (base.account.empty() || comparison.account.empty()) return {};
  return AccountParts(base, comparison, [&](const AccountName& name) {
    switch (kind) {
      case MetricKind::kStepTime:
      case MetricKind::kE2e:
        return true;
      case MetricKind::kComputing:
        return name.IsCompute();
      case MetricKind::kCommExposed:
        return name.IsCommunication();
      case MetricKind::kFree:
        return name.IsFree();
      default:
        return false;
    }
  });
}

// The same of runs without an account, from the medians of their tables.
std::vector<GatePart> TablePartsOf(MetricKind kind, const std::vector<RunSummary>& base,
                                   const std::vector<RunSummary>& comparison,
                                   const Breakdown& base_times, const Breakdown& times) {
  using Times = std::pair<std::int64_t, std::int64_t>;
  std::vector<GatePart> parts;
  const auto add_computing = [&](const Times& computing) {
    AddComponent(KernelParts(base_times, times),
                 {"component", "computing", computing.first, computing.second, 0, 0},
                 "kernels that ran at the same time", parts);
  };
  const auto add_exposed = [&](const Times& exposed) {
    AddComponent(Collectives(base_times, times),
                 {"component", "exposed communication", exposed.first, exposed.second, 0, 0},
                 "other exposed communication", parts);
  };
  const auto add = [&](const char* name, const Times& time) {
    parts.push_back({"component", name, time.first, time.second, 0, 0});
  };
  const auto whole = Both(base, comparison, kind);
  switch (kind) {
    case MetricKind::kE2e:
      if (HaveSteps(base, comparison)) {
        if (base_times.capture.empty() || times.capture.empty()) return {};
        return Join(base_times.capture, times.capture, "component");
      }
      [[fallthrough]];
    case MetricKind::kStepTime: {
      const auto computing = Both(base, comparison, MetricKind::kComputing);
      const auto exposed = Both(base, comparison, MetricKind::kCommExposed);
      const auto free = Both(base, comparison, MetricKind::kFree);
      if (!computing || !exposed || !free) return {};
      add_computing(*computing);
      add_exposed(*exposed);
      add("LCCL", BothOrNone(base, comparison, MetricKind::kLccl));
      add(kFreeTime, *free);
      break;
    }
    case MetricKind::kComputing:
      add_computing(*whole);
      break;
    case MetricKind::kCommExposed:
      add_exposed(*whole);
      break;
    case MetricKind::kLccl:
      add("LCCL", *whole);
      break;
    case MetricKind::kFree:
      add(kFreeTime, *whole);
      break;
    default:
      break;
  }
  return parts;
}

}  // namespace

std::vector<GatePart> PartsOf(const Metric& metric, const std::vector<RunSummary>& base,
                              const std::vector<RunSummary>& comparison) {
  const auto whole = Both(base, comparison, metric.kind);
  if (!whole) return {};
  const Breakdown base_times = MedianBreakdown(base), times = MedianBreakdown(comparison);
  std::vector<GatePart> parts;
  if (metric.kind != MetricKind::kE2e || !HaveSteps(base, comparison)) {
    parts = AccountPartsOf(metric.kind, base_times, times);
  }
  if (parts.empty()) parts = TablePartsOf(metric.kind, base, comparison, base_times, times);
  if (parts.empty()) return {};
  // Medians of parts need not add up to the median of the whole.
  GatePart remainder{"remainder", "other", whole->first, whole->second, 0, 0};
  for (const GatePart& part : parts) {
    remainder.base -= part.base;
    remainder.comparison -= part.comparison;
  }
  LargestFirst(parts);
  parts.push_back(std::move(remainder));
  return parts;
}

std::vector<GatePart> PartsFitting(const Metric& metric, const std::vector<RunSummary>& base,
                                   const std::vector<RunSummary>& comparison) {
  const auto section =
      metric.kind == MetricKind::kKernel ? &Breakdown::kernels : &Breakdown::op_types;
  std::vector<GatePart> parts =
      Join(MedianBreakdown(base).*section, MedianBreakdown(comparison).*section, "kernel");
  std::erase_if(parts,
                [&](const GatePart& part) { return !FitsPattern(metric.pattern, part.name); });
  LargestFirst(parts);
  return parts;
}

std::vector<GatePart> OperatorsOf(const std::vector<RunSummary>& base,
                                  const std::vector<RunSummary>& comparison) {
  std::vector<GatePart> operators =
      Join(MedianBreakdown(base).operators, MedianBreakdown(comparison).operators, "operator");
  LargestFirst(operators);
  return operators;
}

std::vector<GatePart> HostCallsThatGrew(const std::vector<RunSummary>& base,
                                        const std::vector<RunSummary>& comparison) {
  const Breakdown before = MedianBreakdown(base), after = MedianBreakdown(comparison);
  std::vector<GatePart> calls;
  if (!before.account.empty() && !after.account.empty()) {
    calls = Join(before.places, after.places, "host");
    for (GatePart& call : calls) {
      AccountName name = ReadAccountKey(call.name);
      call.leaf = std::move(name.leaf);
      call.name = std::move(name.what);
      call.base_count = call.comparison_count = 0;
    }
  } else if (!before.apis.empty() && !after.apis.empty()) {  // not recorded has not grown
    calls = Join(before.apis, after.apis, "host");
  }
  std::erase_if(calls, [](const GatePart& call) { return call.Change() <= 0; });
  LargestFirst(calls);
  return calls;
}

std::vector<std::string> NewNames(const std::vector<RunSummary>& runs,
                                  const std::vector<RunSummary>& others) {
  const Breakdown times = MedianBreakdown(runs), without = MedianBreakdown(others);
  std::vector<std::string> names;
  AddMissing(without.op_types, times.op_types, names);
  AddMissing(without.operators, times.operators, names);
  return names;
}

}  // namespace mpa::gate
