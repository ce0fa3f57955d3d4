// SPDX-License-Identifier: Apache-2.0
// Names of what a gate judges.
#include "mpa/gate/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"

namespace mpa::gate {
namespace {

struct KnownMetric {
  std::string_view name;  // with ':' where a pattern follows
  MetricKind kind;
};

constexpr std::array<KnownMetric, 18> kKnown = {{
    {"step_time", MetricKind::kStepTime},
    {"e2e", MetricKind::kE2e},
    {"computing", MetricKind::kComputing},
    {"comm_exposed", MetricKind::kCommExposed},
    {"comm_total", MetricKind::kCommTotal},
    {"lccl", MetricKind::kLccl},
    {"copies", MetricKind::kCopies},
    {"free", MetricKind::kFree},
    {"peak_memory", MetricKind::kPeakMemory},
    {"step_time_max", MetricKind::kStepTimeMax},
    {"step_time_p99", MetricKind::kStepTimeP99},
    {"memory_growth", MetricKind::kMemoryGrowth},
    {"prefill:time_per_token", MetricKind::kPrefill},
    {"decode:time_per_token", MetricKind::kDecode},
    {"op:", MetricKind::kOp},
    {"kernel:", MetricKind::kKernel},
    {"module:", MetricKind::kModule},
    {"api:", MetricKind::kApi},
}};

constexpr std::array<int, 3> kPercentiles = {50, 90, 99};

// "ttft_p99"; empty for other names.
std::optional<Metric> ParseRequestMetric(std::string_view text) {
  for (std::size_t i = 0; i < kRequestTimes; ++i) {
    const auto time = static_cast<RequestTime>(i);
    for (const int percent : kPercentiles) {
      Metric metric = RequestMetric(time, percent);
      if (metric.pattern == text) return metric;
    }
    const std::string_view name = NameOf(time);
    const bool is_other = text == name && time != RequestTime::kEndToEnd;  // "e2e" is of a capture
    if (!is_other && !text.starts_with(fmt::format("{}_p", name))) continue;
    Fail(ErrorKind::kUsage, "'{}' is no percentile that is judged; give {}_p50, {}_p90 or {}_p99",
         text, name, name, name);
  }
  return std::nullopt;
}

std::string AllNames() {
  std::string names;
  for (const KnownMetric& known : kKnown) {
    names += names.empty() ? "" : ", ";
    names += known.name;
    if (HasPattern(known.kind)) names += "<pattern>";
  }
  names += ", ttft_p99 (tpot, e2e, queue; p50, p90)";
  return names;
}

}  // namespace

Metric ParseMetric(std::string_view text) {
  for (const KnownMetric& known : kKnown) {
    if (!IsPhase(known.kind) || !text.starts_with(known.name)) continue;
    const std::string_view size = text.substr(known.name.size());
    const bool is_size = size.size() > 1 && size.front() == '@' &&
                         size.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (size.empty() || is_size) return {known.kind, std::string(size)};
    Fail(ErrorKind::kUsage, "'{}' has an invalid size '{}'; give {}@32", text, size, known.name);
  }
  if (const auto of_requests = ParseRequestMetric(text)) return *of_requests;
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
  if (nearest) {
    Fail(ErrorKind::kUsage, "unknown metric '{}'; did you mean '{}'? available: {}", text, *nearest,
         AllNames());
  }
  Fail(ErrorKind::kUsage, "unknown metric '{}'; available: {}", text, AllNames());
}

std::string NameOf(const Metric& metric) {
  std::string name;
  for (const KnownMetric& known : kKnown) {
    if (known.kind == metric.kind) name = known.name;
  }
  return name + metric.pattern;
}

Metric RequestMetric(RequestTime time, int percent) {
  return {MetricKind::kRequest, fmt::format("{}_p{}", NameOf(time), percent)};
}

Metric WithPercentile(const Metric& metric, int percent) {
  const std::string time = metric.pattern.substr(0, metric.pattern.rfind("_p"));
  return {metric.kind, fmt::format("{}_p{}", time, percent)};
}

int PercentileOf(const Metric& metric) {
  for (const int percent : kPercentiles) {
    if (metric.pattern.ends_with(fmt::format("_p{}", percent))) return percent;
  }
  return 50;
}

bool HasPattern(MetricKind kind) { return kind >= MetricKind::kOp; }

bool IsPerStep(MetricKind kind) {
  return kind != MetricKind::kE2e && QuantityOf(kind) == Quantity::kTime && !OfAllSteps(kind) &&
         !IsPhase(kind) && !IsRequest(kind);
}

Quantity QuantityOf(MetricKind kind) {
  const bool bytes = kind == MetricKind::kPeakMemory || kind == MetricKind::kMemoryGrowth;
  return bytes ? Quantity::kBytes : Quantity::kTime;
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

// The expressions of --fail_on.

namespace {

struct Unit {
  std::string_view name;
  double size;
};

constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit kSizes[] = {{"B", 1},    {"kB", 1e3},      {"KB", 1e3},      {"MB", 1e6},
                           {"GB", 1e9}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

// A number of at least 0 and what follows it.
struct Number {
  double value = 0;
  std::string_view rest;
};

std::optional<Number> ParseNumber(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value,
                                            std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number.value) || number.value < 0) return std::nullopt;
  number.rest = Trim(text.substr(static_cast<std::size_t>(end - text.data())));
  return number;
}

}  // namespace

std::optional<std::int64_t> ParseAmount(std::string_view text, Quantity quantity) {
  const std::optional<Number> number = ParseNumber(text);
  if (!number) return std::nullopt;
  const auto units =
      quantity == Quantity::kTime ? std::span<const Unit>(kTimes) : std::span<const Unit>(kSizes);
  for (const Unit& unit : units) {
    if (unit.name != number->rest) continue;
    const double value = number->value * unit.size;
    constexpr double kLargest = 9e18;
    if (value > kLargest) return std::nullopt;
    return std::llround(value);
  }
  return std::nullopt;
}

std::optional<double> ParsePercent(std::string_view text) {
  const std::optional<Number> number = ParseNumber(text);
  if (!number || !(number->rest.empty() || number->rest == "%")) return std::nullopt;
  return number->value;
}

Limit ParseLimit(std::string_view text, Quantity quantity) {
  Limit limit;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('&', from), text.size());
    const std::string_view part = Trim(text.substr(from, end - from));
    const bool is_share = part.ends_with('%');
    const auto percent = is_share ? ParsePercent(part) : std::nullopt;
    const auto amount = is_share ? std::nullopt : ParseAmount(part, quantity);
    if (!percent && !amount) {
      Fail(ErrorKind::kUsage, "character {}: '{}' is not a limit; give {}", from + 1, part,
           quantity == Quantity::kTime ? "+3% or +200us (ns, us, ms, s)"
                                       : "+3% or +256MB (B, kB, MB, GB; KiB, MiB, GiB)");
    }
    if (is_share ? limit.percent.has_value() : limit.amount.has_value()) {
      if (is_share)
        Fail(ErrorKind::kUsage, "character {}: '{}' is the second share; give one", from + 1, part);
      Fail(ErrorKind::kUsage, "character {}: '{}' is the second amount; give one", from + 1, part);
    }
    if (is_share) {
      limit.percent = percent;
    } else {
      limit.amount = amount;
    }
    from = end + 1;
  }
  return limit;
}

Rule ParseRule(std::string_view text) {
  // The last one: names of kernels may hold '>', limits do not.
  const std::size_t above = text.rfind('>');
  if (above == std::string_view::npos) {
    Fail(ErrorKind::kUsage, "'{}' has no limit; give METRIC>LIMIT, such as step_time>+3%", text);
  }
  return InContext(fmt::format("'{}'", text), [&] {
    Rule rule;
    rule.metric = ParseMetric(Trim(text.substr(0, above)));
    const std::string_view limit = text.substr(above + 1);
    InContext(Say("behind '>' at character {}", above + 1),
              [&] { rule.limit = ParseLimit(limit, QuantityOf(rule.metric.kind)); });
    return rule;
  });
}

std::string LimitText(const Limit& limit, Quantity quantity) {
  std::string text;
  if (limit.percent) text = PlainNumber(*limit.percent) + " %";
  if (limit.amount) {
    const std::string amount = AmountText(quantity, *limit.amount);
    text = text.empty() ? amount : Say("{} and {}", text, amount);
  }
  return text;
}

}  // namespace mpa::gate
