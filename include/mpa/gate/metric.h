// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/report/amount.h"

/// The gate: did the model get slower? Values and functions only; files are read by the pipeline.
namespace mpa::gate {

enum class MetricKind : std::uint8_t {
  kStepTime,     ///< from the end of the device's work for the step before to the end of its own
  kE2e,          ///< from the first to the last device work of the whole capture
  kComputing,    ///< part of the step in which kernels ran
  kCommExposed,  ///< part in which only communication ran
  kCommTotal,    ///< part in which communication ran
  kLccl,         ///< time of LCCL kernels, which are neither of these
  kCopies,       ///< part in which nothing but copies ran, by the account
  kFree,         ///< part in which the device had nothing to do, by the account
  kPeakMemory,   ///< the most memory that any allocator reserved in the whole capture
  kOp,           ///< by operator: type of the kernels, with "::" operators of the framework
  kKernel,       ///< by name of the kernels
  kModule,       ///< device work that was launched within modules
  kApi,          ///< host time of operators of the framework
};

/// Something that a gate judges: "step_time", "op:MatMul*".
struct Metric {
  MetricKind kind{};
  std::string pattern;  ///< of kOp, kKernel, kModule and kApi: '*' any text, '?' any character

  friend auto operator<=>(const Metric&, const Metric&) = default;
};

/// Throws Error (kUsage) that names the text and what is known.
Metric ParseMetric(std::string_view text);
std::string NameOf(const Metric& metric);

bool HasPattern(MetricKind kind);
/// True for metrics with a sample for each step; the others have one for each capture.
bool IsPerStep(MetricKind kind);
Quantity QuantityOf(MetricKind kind);
/// True when operators of the framework are meant: "op:aten::mm".
bool IsFrameworkOp(const Metric& metric);

/// True when all of `name` fits the pattern.
bool FitsPattern(std::string_view pattern, std::string_view name);

}  // namespace mpa::gate
