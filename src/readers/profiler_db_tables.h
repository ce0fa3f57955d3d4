// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/io/sqlite.h"
#include "mpa/model/rank_trace.h"
#include "profiler_db_strings.h"

namespace mpa::readers {

/// An open profiler database and the rank it fills.
struct DbInput {
  const io::Database& database;
  DbStrings& strings;
  RankTrace& trace;
};

/// PYTORCH_API, CONNECTION_IDS: host operators and launches, and the thread of the backward pass.
void ReadHostTables(DbInput& input);
/// COMPUTE_TASK_INFO, TASK, TASK_PMU_INFO.
void ReadKernels(DbInput& input);
/// TASK.
void ReadDeviceTasks(DbInput& input);
/// COMMUNICATION_OP, COMMUNICATION_TASK_INFO; groups are named from META_DATA.
void ReadCommunications(DbInput& input);

/// A time span of a row, counted as an issue and empty when it makes no sense.
struct DbSpan {
  TimeNs start = 0, dur = 0;
};
std::optional<DbSpan> ReadSpan(DbInput& input, const io::Statement& row, int start_column,
                               int end_column, std::string_view table);

}  // namespace mpa::readers
