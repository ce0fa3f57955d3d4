// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/report.h"

/// Lists on the screen, whose columns are declared once for the heading and the rows.
namespace mpa {

struct ScreenColumn {
  enum class Shown : std::uint8_t {
    kName,    ///< as NameCell() shows it: wider where the screen is
    kText,    ///< from the left, cut at the width
    kNumber,  ///< from the right, never cut
  };
  std::string header;
  Shown shown = Shown::kNumber;
  std::size_t width = 0;  ///< in columns of the screen; of names and texts 0: all that are left
  int decimals = 0;       ///< of real numbers
  std::function<std::string(double)> text = {};  ///< of a number, if it is not shown as it is
  /// Of the numbers; empty: the header has it ("total ms"), or of real numbers that of the first
  /// column ("ms in a step").
  std::string unit = {};
};

ScreenColumn ScreenName(std::string_view header, std::size_t usual_width);
ScreenColumn ScreenText(std::string_view header, std::size_t width = 0);
/// `decimals` of real numbers; whole numbers and texts stay as they are.
ScreenColumn ScreenNumber(std::string_view header, std::size_t width, int decimals = 0);
/// A difference, with its sign.
ScreenColumn ScreenChange(std::string_view header, std::size_t width, int decimals);
/// A number with one decimal and " %" behind it; of a ratio what it is in percent.
ScreenColumn ScreenPercent(std::string_view header, std::size_t width);
ScreenColumn ScreenRatio(std::string_view header, std::size_t width);
/// Of ns: in ms with three decimals, in us with one.
ScreenColumn ScreenMs(std::string_view header, std::size_t width);
ScreenColumn ScreenUs(std::string_view header, std::size_t width);
/// Of ns, bytes or a count: in the unit of the scale.
ScreenColumn ScreenAmount(std::string_view header, std::size_t width, const AmountScale& scale);

class ScreenList {
 public:
  /// Lines begin with so many blanks.
  ScreenList(std::size_t indent, std::vector<ScreenColumn> columns)
      : indent_(indent), columns_(std::move(columns)) {}

  ScreenLine Heading() const;
  /// A row with a value for each column; values may be what CellOf() takes. An empty cell is "-".
  template <typename... Values>
  ScreenLine Line(const Values&... values) const {
    return LineOf({CellOf(values)...});
  }
  ScreenLine LineOf(const std::vector<Cell>& cells) const;

 private:
  std::string TextOf(const std::vector<Cell>& cells) const;
  std::vector<StatedNumber> NumbersOf(const std::vector<Cell>& cells) const;

  std::size_t indent_;
  std::vector<ScreenColumn> columns_;
};

}  // namespace mpa
