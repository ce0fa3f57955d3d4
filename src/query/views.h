// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

struct sqlite3;

namespace mpa::query {

/// Makes the views of views.sql, which have the names and columns of the vendor's databases.
void AddViews(sqlite3* database);
std::vector<std::string> ViewNames();

}  // namespace mpa::query
