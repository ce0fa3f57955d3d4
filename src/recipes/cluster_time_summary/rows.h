// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "part.h"

namespace mpa::time_summary {

/// The table of cluster_time_summary, which a later comparison reads.
inline constexpr const char* kSummaryTable = "ClusterTimeSummary";

/// A quantity of a step.
struct Metric {
  const char* name;     ///< of its column
  const char* title;    ///< of its column for people
  const char* meaning;  ///< one sentence
};

enum MetricPlace : std::size_t {
  kStepTime,
  kComputation,
  kExposedCommunication,
  kOverlappedCommunication,
  kCommunication,
  kFree,
  kWait,
  kTransmit,
  kMemory,
  kExposedMemory,
};
extern const std::array<Metric, kMetrics> kMetricsOfStep;

/// A step of a rank. Times are ns; those of waits are empty where they are unknown.
struct StepRow {
  std::int64_t rank = -1;
  std::int32_t step = -1;
  std::array<std::optional<TimeNs>, kMetrics> times;
};

/// In order of rank and step. `notes` says what is unknown.
std::vector<StepRow> RowsOf(const Ranks& ranks, std::vector<std::string>& notes);

/// The step of the rows that is warm-up, where advisor leaves it out as well.
std::optional<std::int32_t> WarmUpOf(const Ranks& ranks, const std::vector<StepRow>& rows);

}  // namespace mpa::time_summary
