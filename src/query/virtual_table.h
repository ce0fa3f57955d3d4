// SPDX-License-Identifier: Apache-2.0
#pragma once

struct sqlite3;

namespace mpa::query {

class Job;

/// Makes all tables of the job known to a connection, by their names. The job has to outlive it.
void AddVirtualTables(sqlite3* database, Job& job);

}  // namespace mpa::query
