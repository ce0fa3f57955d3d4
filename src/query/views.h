// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace mpa::query {

/// Makes the views of views.sql, which have the names and columns of the vendor's databases.
void AddViews(sqlite3* database);
std::vector<std::string> ViewNames();
/// What makes the view; empty if no view has the name.
std::string ViewText(std::string_view name);

}  // namespace mpa::query
