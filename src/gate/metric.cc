// SPDX-License-Identifier: Apache-2.0
// Names of what a gate judges.
#include "mpa/gate/metric.h"

#include <array>
#include <optional>

#include "mpa/base/error.h"
#include "mpa/base/text.h"

namespace mpa::gate {
namespace {

struct KnownMetric {
  std::string_view name;  // with ':' where a pattern follows
  MetricKind kind;
};

constexpr std::array<KnownMetric, 13> kKnown = {{
    {"step_time", MetricKind::kStepTime},
    {"e2e", MetricKind::kE2e},
    {"computing", MetricKind::kComputing},
    {"comm_exposed", MetricKind::kCommExposed},
    {"comm_total", MetricKind::kCommTotal},
    {"lccl", MetricKind::kLccl},
    {"copies", MetricKind::kCopies},
    {"free", MetricKind::kFree},
    {"peak_memory", MetricKind::kPeakMemory},
    {"op:", MetricKind::kOp},
    {"kernel:", MetricKind::kKernel},
    {"module:", MetricKind::kModule},
    {"api:", MetricKind::kApi},
}};

std::string AllNames() {
  std::string names;
  for (const KnownMetric& known : kKnown) {
    names += names.empty() ? "" : ", ";
    names += known.name;
    if (HasPattern(known.kind)) names += "<pattern>";
  }
  return names;
}

}  // namespace

Metric ParseMetric(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon == std::string_view::npos ? colon : colon + 1);
  for (const KnownMetric& known : kKnown) {
    if (known.name != name) continue;
    if (!HasPattern(known.kind)) return {known.kind, ""};
    if (colon + 1 == text.size()) {
      Fail(ErrorKind::kUsage, "'{}' needs a name after the colon, such as {}MatMul*", text, name);
    }
    return {known.kind, std::string(text.substr(colon + 1))};
  }
  std::vector<std::string> names;
  names.reserve(std::size(kKnown));
  for (const KnownMetric& known : kKnown) names.emplace_back(known.name);
  const std::optional<std::string> nearest = Closest(name, names);
  Fail(ErrorKind::kUsage, "unknown metric '{}'; {}available: {}", text,
       nearest ? fmt::format("did you mean '{}'? ", *nearest) : "", AllNames());
}

std::string NameOf(const Metric& metric) {
  std::string name;
  for (const KnownMetric& known : kKnown) {
    if (known.kind == metric.kind) name = known.name;
  }
  return name + metric.pattern;
}

bool HasPattern(MetricKind kind) { return kind >= MetricKind::kOp; }

bool IsPerStep(MetricKind kind) {
  return kind != MetricKind::kE2e && kind != MetricKind::kPeakMemory;
}

Quantity QuantityOf(MetricKind kind) {
  return kind == MetricKind::kPeakMemory ? Quantity::kBytes : Quantity::kTime;
}

bool IsFrameworkOp(const Metric& metric) {
  return metric.kind == MetricKind::kOp && metric.pattern.find("::") != std::string::npos;
}

bool FitsPattern(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  // Where to go on when the text behind the last '*' does not fit: the '*' takes one more.
  std::optional<std::size_t> star, retry;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star) {
      p = *star + 1;
      n = ++*retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace mpa::gate
