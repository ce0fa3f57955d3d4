// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "mpa/model/rank_trace.h"

struct sqlite3;

namespace mpa::query {

class Job;

/// What statements can call beside what SQLite has.
struct FunctionInfo {
  const char *name, *arguments, *meaning;
  Tables needs{};  ///< what is read where a statement calls it
};
std::span<const FunctionInfo> AllFunctions();

/// The job has to outlive the connection.
void AddFunctions(sqlite3* database, Job& job);

}  // namespace mpa::query
