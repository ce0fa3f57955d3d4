// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/report/report.h"

namespace mpa {

/// A sheet without rows, with these lists of columns one behind the other; the columns of each
/// side, which are neighbours, get a banner with the path of the capture.
Sheet CompareSheet(std::string name, const std::vector<std::vector<Column>>& columns,
                   const CompareInput& input);

/// The columns given as those of one side.
std::vector<Column> ForSide(Side side, std::vector<Column> columns);
/// The columns given, first for the base, then for the comparison.
std::vector<Column> ForBothSides(const std::vector<Column>& columns);

/// The forms of columns that every sheet has. `meaning` says in the documentation what the column
/// holds.
Column PlainColumn(std::string_view name, std::string_view meaning,
            double width = 20);  ///< a number if it holds one
Column BoldColumn(std::string_view name, std::string_view meaning, double width = 30);
Column Decimals(std::string_view name, std::string_view meaning, double width = 20);
/// Documents for people keep no more decimals.
Column TwoDecimals(std::string_view name, std::string_view meaning, double width = 20);
/// A ratio, of which documents for people keep four decimals.
Column Growth(std::string_view name, std::string_view meaning, double width = 20,
              Format format = Format::kPercent);
/// A column of differences: see Column::change.
Column Difference(std::string_view name, std::string_view meaning, double width = 20);
/// The column as a total of the row, of which the sheet shows no difference.
Column AsTotal(Column column);
/// The ratio of `what` of the comparison to that of the base.
std::string RatioMeaning(std::string_view what);
inline constexpr const char* kOrderMeaning = "Number of the row, from 1.";

/// What rows are about.
enum class RowsOf : std::uint8_t {
  kAllSteps,  ///< sums over the capture
  kOneStep,   ///< single calls
};

/// kPartThatMatters of the base's step, in a unit of so many ns: what the change of a row has to
/// reach to matter. Sums over a capture have to reach it in each step. Empty: the capture does not
/// tell.
std::optional<double> LeastChange(const CompareInput& input, RowsOf rows, double unit);

/// The same part of what the base has in all rows of a column.
double LeastChangeOf(const Sheet& sheet, std::size_t base_column);

/// Puts the rows that changed most first, in either direction, as people see the change; rows of
/// which it is unknown come last, and equal ones stay in their order. Rows for which `heads` is
/// false belong to the row before them: they stay behind it, in an order of their own. With
/// --compat the rows stay as they are, or the largest value of `column_of_reference` comes first.
/// Numbers the rows from 1 in the first column.
void OrderRows(const CompareInput& input, Sheet& sheet,
               std::optional<std::size_t> column_of_reference = std::nullopt,
               bool (*heads)(const Row& row) = nullptr);

/// Appends cells to a row, without copies of their texts.
template <typename... Values>
void AppendCells(Row& row, Values&&... values) {
  (row.cells.emplace_back(std::forward<Values>(values)), ...);
}

/// Adds a note on a sheet that needs something that was not collected.
void NoteNotCollected(std::string note, Report& report);

}  // namespace mpa
