// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
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

}  // namespace mpa::raw
