// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xlsxwriter.h>

#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "mpa/report/report.h"

namespace mpa::writers {

/// The cell styles of a sheet. Nothing here changes while cells are written.
class SheetStyles {
 public:
  std::vector<lxw_format*> banners;  ///< by banner
  std::vector<lxw_format*> headers;  ///< by column
  lxw_format* growth = nullptr;      ///< of values that are marked; null where none are
  /// By column, for a row of the sheet.
  const std::vector<lxw_format*>& Data(const Row& row) const {
    return data_.at({row.emphasis, row.indent});
  }

 private:
  friend class Styles;
  std::map<std::pair<Emphasis, int>, std::vector<lxw_format*>> data_;
};

/// The cell styles of a workbook, each made once.
class Styles {
 public:
  explicit Styles(lxw_workbook* workbook) : workbook_(workbook) {}

  /// All styles that the cells of a sheet can have. Valid as long as this object is.
  const SheetStyles& For(const Sheet& sheet);

 private:
  lxw_format* Get(Format format, lxw_color_t fill, int indent, bool bold, Look look,
                  bool wraps = false);

  lxw_workbook* workbook_;
  std::map<std::tuple<Format, lxw_color_t, int, bool, Look, bool>, lxw_format*> styles_;
  std::deque<SheetStyles> sheets_;
};

/// True for a column of sentences, or of names of kernels with their shapes, in a list: its texts
/// break at the width of the column. Short texts never need a second line.
bool IsWrapped(const Column& column);

}  // namespace mpa::writers
