// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "counter_records.h"
#include "metric_sets.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// A kernel and its counters.
struct CountedKernel {
  TaskAddress address;
  TimeNs start = 0, end = 0;
  std::size_t row = 0;                    ///< in Session.kernels
  const CounterRecord* record = nullptr;  ///< null: no counters
  /// Of a task on both kinds of cores: the sums of its blocks on the kind that `record` is not of.
  CounterValues other_cores;
  std::int64_t other_blocks = 0;
};

/// The columns of Counters for a device. Chips with separate cube and vector units have columns for
/// each of the two.
class CounterTable {
 public:
  /// `session.frequencies` are complete.
  CounterTable(const Session& session, const Device& device);

  /// Names and where they are shown; without values.
  const Counters& columns() const { return columns_; }
  /// Appends the row of a kernel that has a record.
  void AddRow(const CountedKernel& kernel, std::vector<double>& values) const;

 private:
  void AddNames(std::string_view time, std::string_view prefix, const CoreMetrics& metrics);
  std::optional<std::size_t> Find(std::string_view name) const;
  std::int64_t ClockAt(TimeNs time) const;
  void AddCore(const CoreMetrics& metrics, const CounterValues& counted, CoreLoad load,
               std::vector<double>& values) const;
  double MemoryBound(const double* row) const;
  double CubeUtilization(double cycles, double dur) const;

  const Session& session_;
  const Device& device_;
  bool apart_;
  CoreMetrics cube_, vector_;
  Counters columns_;
  std::optional<std::size_t> vec_ratio_, mac_ratio_, mte2_ratio_;
  std::vector<std::pair<TimeNs, std::int64_t>> clock_;  // MHz from a time on
};

}  // namespace mpa::raw
