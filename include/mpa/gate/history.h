// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/gate/baseline.h"
#include "mpa/gate/judge.h"
#include "mpa/report/gate_report.h"
#include "mpa/report/report.h"

/// What metrics came to over many runs of a gate.
namespace mpa::gate {

/// A run of a history: what one gate measured, of all of its captures together.
struct HistoryRun {
  struct Value {
    std::string metric;
    Quantity quantity{};
    std::int64_t median = 0, noise = 0;  ///< of GateMetric: the value, and its standard deviation
    std::string verdict, limit;          ///< empty: it was not judged
  };
  std::int64_t id = 0;  ///< from 1, in the order in which runs were added
  TimeNs time = 0;      ///< since the epoch, UTC
  std::string label;    ///< such as a commit; empty: none was given
  std::string verdict;  ///< VerdictName(); empty: nothing was judged
  std::string tool_version;
  std::int64_t exit_code = 0;
  std::vector<Value> values{};
};

/// What these runs are in a history: every metric that they have, with the verdicts of `report`
/// where it judged.
HistoryRun AsHistoryRun(const GateSettings& settings, std::vector<RunSummary> runs,
                        const GateReport* report);

/// Values between two step changes.
struct Stretch {
  std::size_t begin = 0, end = 0;  ///< positions of values
  std::int64_t median = 0, noise = 0;
  /// That chance alone makes a step as clear as the one that this begins with; empty: the first.
  std::optional<double> probability;
};

/// A level takes so many runs: those on either side of a step change.
inline constexpr std::size_t kLeastRunsOfLevel = 4;

/// Finds where the level of a metric changed: see docs/history.md. One stretch at least, where
/// there are values.
std::vector<Stretch> FindStretches(const std::vector<std::int64_t>& values);

/// The runs as one report: the newest ones of `metric` on the screen (empty: the step), the step
/// changes of all metrics.
Report HistoryReport(const std::vector<HistoryRun>& runs, const std::string& metric);

/// The newest run beside the level that it belongs to, in the form that gates have for dashboards.
GateReport NewestOfHistory(const std::vector<HistoryRun>& runs);

}  // namespace mpa::gate
