// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "mpa/base/fields.h"
#include "mpa/recipe/recipe.h"
#include "mpa/report/report.h"
#include "reflection.h"

/// Tables that hold the rows of a recipe's sheet: the recipe answers, the table only declares which
/// columns it takes. A field takes the column of its name: prompt_tokens that of promptTokens,
/// start that of startNs, dur that of durationNs.
namespace mpa::query {

const Recipe& RecipeNamed(std::string_view name);

/// The sheet of this name. Throws Error (kInternal) without one.
const Sheet& SheetNamed(const Report& report, std::string_view name);

/// The position of the column for a field. Throws Error (kInternal) without one.
std::size_t ColumnFor(const Sheet& sheet, std::string_view field);

/// Leaves the field as new rows have it where the cell holds nothing.
template <typename Field>
void TakeCell(const Cell& cell, Field& field) {
  if constexpr (std::is_arithmetic_v<Field>) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) field = static_cast<Field>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) field = static_cast<Field>(*real);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    field = *text;
  }
}

/// Appends the rows of the sheet, each with `side` in the field of that name.
template <typename Table>
void AppendRows(const Sheet& sheet, std::string_view side, Table& table) {
  using Row = typename Table::Row;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr auto kIsSide = [](std::string_view field) { return field == "side"; };
    const std::array columns = {
        kIsSide(FieldName<Row, I>()) ? std::size_t{} : ColumnFor(sheet, FieldName<Row, I>())...};
    for (const mpa::Row& from : sheet.rows) {
      Row row;
      auto fields = FieldsOf(row);
      (TakeCell(kIsSide(FieldName<Row, I>()) ? Cell(std::string(side)) : from.cells[columns[I]],
                std::get<I>(fields)),
       ...);
      table.Append(row);
    }
  }
  (std::make_index_sequence<kFields<Row>>());
}

}  // namespace mpa::query
