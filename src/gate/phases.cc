// SPDX-License-Identifier: Apache-2.0
#include "phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/serving_steps.h"

namespace mpa::gate {
namespace {

std::optional<MetricKind> KindOf(ServingPhase phase) {
  if (phase == ServingPhase::kPrefill) return MetricKind::kPrefill;
  if (phase == ServingPhase::kDecode) return MetricKind::kDecode;
  return std::nullopt;
}

// "decode:time_per_token@32: attention"
std::string PartKey(const Metric& metric, ServingPart part) {
  return fmt::format("{}: {}", NameOf(metric), TitleOf(part));
}

std::int64_t PerToken(TimeNs part, const ServingAccount& step) {
  return std::llround(static_cast<double>(part) * static_cast<double>(step.TimePerToken()) /
                      static_cast<double>(step.Length()));
}

using SamplesOfSize = std::vector<std::pair<std::size_t, std::int64_t>>;  // with their run

// By pattern.
std::map<std::string, SamplesOfSize> BySize(const std::vector<RunSummary>& runs, MetricKind kind) {
  std::map<std::string, SamplesOfSize> sizes;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [metric, samples] : runs[run].samples) {
      if (metric.kind != kind) continue;
      for (const std::int64_t sample : samples) sizes[metric.pattern].emplace_back(run, sample);
    }
  }
  return sizes;
}

double UsualOf(const SamplesOfSize& samples) {
  std::vector<std::int64_t> values;
  for (const auto& [run, value] : samples) values.push_back(value);
  return static_cast<double>(Median(std::move(values)));
}

}  // namespace

void AddPhases(const RankTrace& trace, std::size_t first, RankSummary& summary) {
  if (trace.serving_marks.Empty()) return;
  const std::vector<ServingAccount> steps = AccountServing(trace);
  for (std::size_t i = first; i < steps.size(); ++i) {
    const ServingAccount& step = steps[i];
    const auto kind = KindOf(step.batch.phase);
    if (!kind || step.is_warm_up || step.TimePerToken() <= 0) continue;
    const Metric metric{*kind, fmt::format("@{}", SizeOf(step.batch))};
    summary.samples[metric].push_back(step.TimePerToken());
    for (std::size_t part = 0; part < kServingParts; ++part) {
      summary.breakdown.phases[PartKey(metric, static_cast<ServingPart>(part))].Add(
          PerToken(step.times[part], step));
    }
  }
  // Of one step, as in all tables of a breakdown.
  for (auto& [name, sum] : summary.breakdown.phases) {
    sum.time = std::llround(static_cast<double>(sum.time) / static_cast<double>(sum.count));
  }
}

PairedSizes PairSizes(const std::vector<RunSummary>& base,
                      const std::vector<RunSummary>& comparison, MetricKind kind) {
  PairedSizes paired{Runs(base.size()), Runs(comparison.size()), ""};
  const auto before = BySize(base, kind), after = BySize(comparison, kind);
  const auto name_alone = [&](const auto& sizes, const auto& others, bool in_base) {
    for (const auto& [size, samples] : sizes) {
      if (others.contains(size)) continue;
      if (!paired.alone.empty()) paired.alone += ", ";
      paired.alone += in_base ? Say("size {} only in the base", size.substr(1))
                              : Say("size {} only in the comparison", size.substr(1));
    }
  };
  name_alone(before, after, true);
  name_alone(after, before, false);
  double whole = 0, count = 0;
  for (const auto& [size, samples] : before) {
    if (!after.contains(size)) continue;
    whole += UsualOf(samples) * static_cast<double>(samples.size());
    count += static_cast<double>(samples.size());
  }
  for (const auto& [size, samples] : before) {
    const auto found = after.find(size);
    if (found == after.end()) continue;
    const double factor = whole / count / UsualOf(samples);
    const auto add = [&](const SamplesOfSize& from, Runs& to) {
      for (const auto& [run, value] : from) {
        to[run].push_back(std::llround(static_cast<double>(value) * factor));
      }
    };
    add(samples, paired.base);
    add(found->second, paired.comparison);
  }
  return paired;
}

ChangeNode ChangeOfPhase(const Metric& metric, const Breakdown& base, const Breakdown& comparison) {
  const std::string prefix = NameOf({metric.kind, ""}) + "@";
  struct Sums {
    double base = 0, comparison = 0;
  };
  std::map<std::string, Sums> parts;
  double count = 0;
  for (const auto& [key, mean] : base.phases) {
    const auto found = comparison.phases.find(key);
    const std::size_t colon = key.rfind(": ");
    if (!key.starts_with(prefix) || found == comparison.phases.end() || colon == std::string::npos)
      continue;
    if (!metric.pattern.empty() && key.substr(0, colon) != NameOf(metric)) continue;
    const std::string part = key.substr(colon + 2);
    const auto weight = static_cast<double>(mean.count);
    parts[part].base += weight * static_cast<double>(mean.time);
    parts[part].comparison += weight * static_cast<double>(found->second.time);
    if (part == TitleOf(ServingPart::kHost)) count += weight;
  }
  ChangeNode whole{"component", NameOf(metric)};
  if (count == 0) return whole;
  for (const auto& [part, sums] : parts) {
    ChangeNode child{"component", part};
    child.base = std::llround(sums.base / count);
    child.comparison = std::llround(sums.comparison / count);
    AddChild(std::move(child), whole);
  }
  return whole;
}

}  // namespace mpa::gate
