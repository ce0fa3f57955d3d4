// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpa/model/rank_tables.h"
#include "mpa/model/step_bounds.h"
#include "mpa/model/step_selection.h"
#include "tables.h"

/// Columns of the store's tables that are worked out when a statement names them.
namespace mpa::query {

/// The step of each row by the rule that SelectStep() has for the table: by its time on the host,
/// or by the launch of the work.
template <typename Info>
std::vector<std::int64_t> StepsOfRows(const RankTrace& trace) {
  const auto& table = trace.*Info::kTable;
  const StepBounds bounds(trace, kAsRecorded);
  std::vector<std::int64_t> steps(table.Size(), -1);
  for (std::size_t i = 0; i < table.Size(); ++i) {
    std::optional<std::size_t> step;
    if constexpr (Info::kRule == OfStep::kDeviceWork && requires { table.link[i]; }) {
      step = bounds.OfDeviceWork(table.link[i], table.start[i]);
    } else if constexpr (Info::kRule == OfStep::kDeviceWork) {
      step = bounds.OfDeviceWork(-1, table.start[i]);
    } else if constexpr (requires { table.host_time[i]; }) {
      step = bounds.OfHostTime(table.host_time[i]);
    } else if constexpr (requires { table.forward_time[i]; }) {
      step = bounds.OfHostTime(table.forward_time[i]);
    } else if constexpr (requires { table.start[i]; }) {
      step = bounds.OfHostTime(table.start[i]);
    } else {
      step = bounds.OfHostTime(table.time[i]);
    }
    if (step) steps[i] = bounds.Id(*step);
  }
  return steps;
}

inline constexpr const char* kStepMeaning = "the step that it belongs to, as --step_id takes it";

template <typename Info>
void AddStepColumn(std::vector<TableColumn>& columns) {
  constexpr bool kHasStep = Info::kRule >= OfStep::kHostTime &&
                            Info::kRule <= OfStep::kDeviceWork &&
                            Info::kRule != OfStep::kAllocation;
  if constexpr (kHasStep) {
    for (TableColumn& column : columns) {
      if (column.name == "step") column.name = "profiler_step";  // as the profiler wrote it
    }
    columns.push_back({.name = "step",
                       .kind = Value::Kind::kInteger,
                       .unit = {},
                       .meaning = kStepMeaning,
                       .needs = kStepTables,
                       .derive = StepsOfRows<Info>});
  }
}

}  // namespace mpa::query
