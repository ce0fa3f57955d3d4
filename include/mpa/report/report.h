// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// What an analysis hands to the writers: plain values, no formatting.
namespace mpa {

using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

/// How the values of a column are shown.
enum class Format {
  kGeneral,  ///< as it is, in bold type
  kText,     ///< as it is, in plain type
  kInteger,
  kDecimals2,
  kDecimals3,
  kDecimals4,
  kPercent,
};

/// What the whole numbers of a column are. Writers convert them; real numbers are already in the
/// unit that the column's name states.
enum class Unit { kNone, kNsShownAsMs, kNsShownAsUs };

/// Which side of a comparison a column belongs to.
enum class Side { kNeither, kBase, kComparison };

struct Column {
  std::string name;
  Format format = Format::kGeneral;
  double width = 10;  ///< characters
  Side side = Side::kNeither;
  Unit unit = Unit::kNone;
  bool marks_growth = false;  ///< values above 1 are shown as a warning
  /// Equal cells below each other are shown as one, where the columns before are equal, too.
  bool merges_equal = false;
};

/// How much a row stands out: headings of a section, of a part of it, ordinary rows.
enum class Emphasis { kNone, kPart, kSection };

struct Row {
  std::vector<Cell> cells;
  Emphasis emphasis = Emphasis::kNone;
  int indent = 0;  ///< of the first cell
};

/// A title over neighbouring columns.
struct Banner {
  std::size_t first_column = 0, last_column = 0;
  std::string text;
  Side side = Side::kNeither;
};

/// How a workbook shows a sheet: two sides compared, or results listed.
enum class Look { kComparison, kList };

struct Sheet {
  std::string name;
  std::vector<Banner> banners;
  std::vector<Column> columns;
  std::vector<Row> rows;
  Look look = Look::kComparison;
};

/// A small table for the screen; its cells are text already.
struct ScreenTable {
  std::string title;
  std::vector<std::string> headers;
  std::vector<std::vector<std::string>> rows;
};

struct Report {
  std::string preface;  ///< what to know before any number, for the screen; one of the notes
  std::vector<ScreenTable> screens;
  std::vector<Sheet> sheets;
  std::vector<std::string> story;  ///< what changed most, at most five lines, for the screen
  std::vector<std::string> notes;  ///< what could not be computed, and why
};

/// The value rounded to so many decimals, never negative zero.
double Rounded(double value, int decimals);

/// Duration ratio of a comparison: 1 when both are 0, infinity when only `base` is, otherwise
/// comparison / base rounded to four decimals.
double DiffRatio(double base, double comparison);

/// comparison - base, rounded to two decimals; never negative zero.
double DiffRounded(double base, double comparison);

}  // namespace mpa
