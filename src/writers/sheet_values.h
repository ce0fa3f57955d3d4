// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/report/report.h"

/// What the writers have in common: names and values of columns.
namespace mpa::writers {

/// Whole numbers of a column in the unit that its name states.
double InShownUnit(Unit unit, std::int64_t value);

/// The name of a column that tells without a banner to which side it belongs: "Base Number".
std::string SidedName(const Column& column);

/// True when rows are indented; text formats then have a column kLevelKey behind the others.
bool HasLevels(const Sheet& sheet);
inline constexpr std::string_view kLevelKey = "level";

/// Unique names for programs, in lower snake case with the unit: "base_duration_ms".
std::vector<std::string> ColumnKeys(const Sheet& sheet);

/// A cell as text formats show it, empty beyond the end of the row: numbers in the column's unit,
/// not-a-number as an empty cell, texts in UTF-8, labels without the tabs that indent them.
Cell ShownCell(const Sheet& sheet, const Row& row, std::size_t column);

/// The same as a text for people, in the form of the column.
std::string ShownText(const Sheet& sheet, const Row& row, std::size_t column);

/// As ShownCell() for programs, whose columns of numbers hold numbers only: empty where there is
/// none, or an infinite one.
Cell ProgramCell(const Sheet& sheet, const Row& row, std::size_t column);

/// True for a cell that shows nothing.
bool IsEmpty(const Cell& cell);

/// The capture that the banner of a side names.
std::optional<std::string> CaptureOf(const Sheet& sheet, Side side);

/// A decimal number with commas between thousands: "1,234.5".
std::string WithThousands(std::string number);

/// What a file is about: "performance comparison result" of
/// performance_comparison_result_20261127101826.html.
std::string TitleOfFile(const std::filesystem::path& path);

/// The notes as a sheet.
Sheet NotesSheet(const std::vector<std::string>& notes);

}  // namespace mpa::writers
