// SPDX-License-Identifier: Apache-2.0
#include "views.h"

#include <fmt/format.h>
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

namespace {

constexpr std::string_view kCreate = "CREATE VIEW ";

}  // namespace

std::string ViewText(std::string_view name) {
  const std::size_t begin = embedded::kViews.find(fmt::format("{}{} AS", kCreate, name));
  if (begin == std::string_view::npos) return "";
  return std::string(embedded::kViews.substr(begin, embedded::kViews.find(';', begin) - begin));
}

std::vector<std::string> ViewNames() {
  std::vector<std::string> names;
  for (std::string_view line : Split(embedded::kViews, '\n')) {
    if (!line.starts_with(kCreate)) continue;
    line.remove_prefix(kCreate.size());
    names.emplace_back(line.substr(0, line.find(' ')));
  }
  return names;
}

}  // namespace mpa::query
