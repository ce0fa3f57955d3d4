// SPDX-License-Identifier: Apache-2.0
#include "views.h"

#include <sqlite3.h>

#include <string_view>

#include "embedded/query.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"

namespace mpa::query {

void AddViews(sqlite3* database) {
  const std::string sql(embedded::kViews);
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    Fail(ErrorKind::kInternal, "the views of queries: {}", sqlite3_errmsg(database));
}

std::vector<std::string> ViewNames() {
  constexpr std::string_view kCreate = "CREATE VIEW ";
  std::vector<std::string> names;
  for (std::string_view line : Split(embedded::kViews, '\n')) {
    if (!line.starts_with(kCreate)) continue;
    line.remove_prefix(kCreate.size());
    names.emplace_back(line.substr(0, line.find(' ')));
  }
  return names;
}

}  // namespace mpa::query
