// SPDX-License-Identifier: Apache-2.0
#include "sheet_rows.h"

#include <algorithm>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/text.h"

namespace mpa::query {
namespace {

// Names without what separates their words.
std::string Plain(std::string_view name) {
  std::string plain = ToLower(name);
  std::erase(plain, '_');
  return plain;
}

template <typename List>
auto& Named(const List& list, std::string_view where, std::string_view name, auto is_it) {
  const auto found = std::ranges::find_if(list, is_it);
  if (found == list.end()) Fail(ErrorKind::kInternal, "{} has no '{}'", where, name);
  return *found;
}

}  // namespace

const Recipe& RecipeNamed(std::string_view name) {
  return Named(AllRecipes(), "the program", name,
               [&](const Recipe& recipe) { return recipe.name == name; });
}

const Sheet& SheetNamed(const Report& report, std::string_view name) {
  return Named(report.sheets, "the report", name,
               [&](const Sheet& sheet) { return sheet.name == name; });
}

std::size_t ColumnFor(const Sheet& sheet, std::string_view field) {
  const std::string plain = Plain(field == "dur" ? "duration" : field);
  const Column& column = Named(sheet.columns, sheet.name, field, [&](const Column& one) {
    return IsOneOf(Plain(one.name), {plain, plain + "ns"});
  });
  return static_cast<std::size_t>(&column - sheet.columns.data());
}

}  // namespace mpa::query
