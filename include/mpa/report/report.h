// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What an analysis hands to the writers: plain values, no formatting.
namespace mpa {

/// Why a cell of a column of numbers holds none. People read a word, programs an empty cell.
enum class NoNumber : std::uint8_t {
  kNotCounted,  ///< nothing is counted here: "/"
  kUnknown,     ///< the capture does not say: "N/A"
};
/// The word for people.
std::string_view TextOf(NoNumber reason);

using Cell = std::variant<std::monostate, std::int64_t, double, std::string, NoNumber>;

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
  /// Decimals that documents for people keep of real numbers; programs get all of them.
  std::optional<int> decimals{};
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

/// The value rounded to so many decimals, halves away from zero, never negative zero. Meant for
/// values that stand for decimal numbers: 2.155 is 2.16, although its double lies below.
double Rounded(double value, int decimals);

/// Rounded() as text with all its decimals: "2.160" for 2.16 and 3.
std::string Fixed(double value, int decimals);

/// comparison / base; 1 when both are 0, infinity when only `base` is. Whole numbers of the
/// smallest unit give the nearest ratio: 0.06 / 0.04 is not 1.5, 60 / 40 is.
double Ratio(double base, double comparison);

}  // namespace mpa
