// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control_files.h"
#include "metric_sets.h"
#include "mpa/model/issues.h"
#include "mpa/raw/session.h"
#include "slices.h"

namespace mpa::raw {

/// The place of a task: the fields that a counter record and a task share.
struct TaskAddress {
  std::int64_t stream = 0, task = 0, context = kNoContext;
  auto operator<=>(const TaskAddress&) const = default;
};

/// The counters of a task on one kind of core, or of one block of it.
struct CounterRecord {
  TaskAddress address{};
  TimeNs end = -1;      ///< -1: not recorded
  bool vector = false;  ///< of a vector core; else of a cube core
  bool mixed = false;   ///< its task uses both kinds of cores
  bool block = false;   ///< of one block; else of the whole task
  CounterValues values;
};

/// The records of a device in their order, without those from before the collection.
std::vector<CounterRecord> ReadCounterRecords(const DataFiles& files, Generation generation,
                                              const Side& side, bool wide_streams, Issues& issues);

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
