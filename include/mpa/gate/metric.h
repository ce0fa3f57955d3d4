// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mpa/measure/request_times.h"
#include "mpa/report/amount.h"

/// The gate: did the model get slower? Values and functions only; files are read by the pipeline.
namespace mpa::gate {

enum class MetricKind : std::uint8_t {
  kStepTime,      ///< from the end of the device's work for the step before to the end of its own
  kE2e,           ///< from the first to the last device work of the whole capture
  kComputing,     ///< part of the step in which kernels ran
  kCommExposed,   ///< part in which only communication ran
  kCommTotal,     ///< part in which communication ran
  kLccl,          ///< time of LCCL kernels, which are neither of these
  kCopies,        ///< part in which nothing but copies ran, by the account
  kFree,          ///< part in which the device had nothing to do, by the account
  kPeakMemory,    ///< the most memory that the allocators reserved, in the whole capture
  kStepTimeMax,   ///< the longest of the steps
  kStepTimeP99,   ///< what 99 % of the steps do not exceed
  kMemoryGrowth,  ///< by which the allocated memory usually grows from step to step
  kPrefill,       ///< of steps of a server that read prompts, by token of these
  kDecode,        ///< of steps of a server that decode: how long a request waits for a token
  kRequest,       ///< of requests to a server: a percentile of one of their times
  kOp,            ///< by operator: type of the kernels, with "::" operators of the framework
  kKernel,        ///< by name of the kernels
  kModule,        ///< device work that was launched within modules
  kApi,           ///< host time of operators of the framework
};

/// Something that a gate judges: "step_time", "op:MatMul*".
struct Metric {
  MetricKind kind{};
  /// Of kOp, kKernel, kModule and kApi: '*' any text, '?' any character. Of kPrefill and kDecode
  /// the size of the steps, "@32" (see SizeOf()); empty: all sizes that both sides have. Of
  /// kRequest the time and the percentile, "ttft_p99".
  std::string pattern;

  friend auto operator<=>(const Metric&, const Metric&) = default;
};

/// Throws Error (kUsage) that names the text and what is known.
Metric ParseMetric(std::string_view text);
std::string NameOf(const Metric& metric);

bool HasPattern(MetricKind kind);
/// True for what a token takes in steps of a server.
constexpr bool IsPhase(MetricKind kind) {
  return kind == MetricKind::kPrefill || kind == MetricKind::kDecode;
}
/// True for times of requests.
constexpr bool IsRequest(MetricKind kind) { return kind == MetricKind::kRequest; }
/// A percentile (50, 90 or 99) of such a time. The samples of all of them are the times of all
/// requests, which a run has once, under the median.
Metric RequestMetric(RequestTime time, int percent);
/// The same time with another percentile.
Metric WithPercentile(const Metric& metric, int percent);
/// 99 of "ttft_p99".
int PercentileOf(const Metric& metric);
/// True for what is computed from the samples of kStepTime, one value for each run.
constexpr bool OfAllSteps(MetricKind kind) {
  return kind == MetricKind::kStepTimeMax || kind == MetricKind::kStepTimeP99;
}
/// True for metrics with a sample for each step; the others have one for each capture.
bool IsPerStep(MetricKind kind);
Quantity QuantityOf(MetricKind kind);
/// True when operators of the framework are meant: "op:aten::mm".
bool IsFrameworkOp(const Metric& metric);

/// True when all of `name` fits the pattern.
bool FitsPattern(std::string_view pattern, std::string_view name);

/// How much a metric may grow. With both a share and an amount, growth has to exceed both to count.
struct Limit {
  std::optional<double> percent;       ///< of the base
  std::optional<std::int64_t> amount;  ///< ns or bytes

  friend bool operator==(const Limit&, const Limit&) = default;
};

/// What has to hold of one metric.
struct Rule {
  Metric metric;
  Limit limit;
  /// Growth below these never counts; what is empty is taken from the settings of the gate.
  std::optional<std::int64_t> min_abs;  ///< ns or bytes
  std::optional<double> min_share;      ///< percent of the step

  friend bool operator==(const Rule&, const Rule&) = default;
};

/// "step_time>+3%", "comm_exposed>+5%&+200us", "peak_memory>+256MB". Throws Error (kUsage) that
/// names the place.
Rule ParseRule(std::string_view text);

/// The part behind '>': "+5%&+200us". Throws Error (kUsage).
Limit ParseLimit(std::string_view text, Quantity quantity);

/// "5 % and 200.0 us", as reports show it.
std::string LimitText(const Limit& limit, Quantity quantity);

/// "200us" in ns (ns, us, ms, s) or "256MB" in bytes (B, kB, MB, GB by powers of 1000, KiB,
/// MiB, GiB by powers of 1024), with or without '+'. Empty for anything else.
std::optional<std::int64_t> ParseAmount(std::string_view text, Quantity quantity);

/// "0.5%" or "0.5"; empty for anything but a number of at least 0.
std::optional<double> ParsePercent(std::string_view text);

}  // namespace mpa::gate
