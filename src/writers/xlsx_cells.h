// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xlsxwriter.h>

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "formats.h"
#include "mpa/report/report.h"

namespace mpa::writers {

/// Of the cells of workbooks for people, in points.
inline constexpr double kFontSize = 10;

/// The cell styles of a sheet. Nothing here changes while cells are written.
class SheetStyles {
 public:
  std::vector<lxw_format*> banners;  ///< by banner
  std::vector<lxw_format*> headers;  ///< by column
  std::vector<lxw_format*> growth;   ///< by column, of values that are marked; empty: none are
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
  /// `as_reference`: those of the Python tool.
  Styles(lxw_workbook* workbook, bool as_reference)
      : workbook_(workbook), as_reference_(as_reference) {}

  /// All styles that the cells of a sheet can have. Valid as long as this object is.
  const SheetStyles& For(const Sheet& sheet);

 private:
  lxw_format* Get(Format format, lxw_color_t fill, int indent, bool bold, Look look,
                  bool wraps = false);

  lxw_workbook* workbook_;
  bool as_reference_;
  std::map<std::tuple<Format, lxw_color_t, int, bool, Look, bool>, lxw_format*> styles_;
  std::deque<SheetStyles> sheets_;
};

/// True for a column of sentences, or of names of kernels with their shapes, in a list: its texts
/// break at the width of the column. Short texts never need a second line.
bool IsWrapped(const Column& column);

/// Letters of the name of a sheet that Excel takes at most.
inline constexpr std::size_t kMaxSheetName = 31;

/// The beginning of `text` that has at most `limit` UTF-16 units, which Excel counts.
std::string FitName(std::string_view text, std::size_t limit);

/// True of most texts: FitCell() would give them back as they are. Quick.
bool IsPlain(std::string_view text, std::size_t limit);

struct CellText {
  std::string text;
  bool cut = false;
};

/// `text` as a cell of a workbook can hold it: nothing that breaks the XML or that Excel would take
/// for an escape of its own, and at most `limit` characters, the way Excel counts them (those
/// beyond U+FFFF twice). A longer text is cut between characters and ends in a mark with its
/// length.
CellText FitCell(std::string_view text, std::size_t limit);

/// A column as the library counts them.
inline lxw_col_t Col(std::size_t column) { return static_cast<lxw_col_t>(column); }

/// Takes the cells of a worksheet, row by row, each row from left to right.
class CellSink {
 public:
  virtual ~CellSink() = default;
  virtual void Blank(lxw_row_t row, lxw_col_t column, lxw_format* style) = 0;
  virtual void Number(lxw_row_t row, lxw_col_t column, double value, lxw_format* style) = 0;
  /// `text` is what FitCell makes.
  virtual void Text(lxw_row_t row, lxw_col_t column, const std::string& text,
                    lxw_format* style) = 0;
};

/// Hands cells to the library.
class LibraryCells : public CellSink {
 public:
  explicit LibraryCells(lxw_worksheet* worksheet) : worksheet_(worksheet) {}
  void Blank(lxw_row_t row, lxw_col_t column, lxw_format* style) override;
  void Number(lxw_row_t row, lxw_col_t column, double value, lxw_format* style) override;
  void Text(lxw_row_t row, lxw_col_t column, const std::string& text, lxw_format* style) override;

 private:
  lxw_worksheet* worksheet_;
};

/// Makes of whole rows the XML that the library makes of them, in a fraction of its time and for
/// any rows of a worksheet, so that all workers can do it.
class XmlCells : public CellSink {
 public:
  /// `height`: in points; 0: the reader's own.
  void BeginRow(lxw_row_t row, int height = 0);
  void Blank(lxw_row_t row, lxw_col_t column, lxw_format* style) override;
  void Number(lxw_row_t row, lxw_col_t column, double value, lxw_format* style) override;
  void Text(lxw_row_t row, lxw_col_t column, const std::string& text, lxw_format* style) override;
  void EndRow() { xml_ += "</row>"; }

  const std::string& xml() const { return xml_; }

 private:
  void BeginCell(lxw_col_t column, const lxw_format* style);

  std::string xml_, row_number_;
  std::vector<std::string> column_names_;
};

/// Texts of a sheet that had to be cut.
struct Cuts {
  std::size_t count = 0;
  std::string first;  ///< where: "C17"

  void Add(const Cuts& others);
};

/// Puts the cells of a sheet into a sink.
class CellWriter {
 public:
  /// `as_reference`: all growth is marked.
  CellWriter(const Sheet& sheet, const SheetStyles& styles, const WorkbookLimits& limits,
             bool as_reference, CellSink& sink)
      : sheet_(sheet), styles_(styles), limits_(limits), as_reference_(as_reference), sink_(sink) {}

  /// The cells of the row follow.
  void BeginRow(const Row& row);
  void Write(const Cell& cell, lxw_row_t row, std::size_t column, lxw_format* style);
  void WriteText(const std::string& text, lxw_row_t row, std::size_t column, lxw_format* style);

  const Cuts& cuts() const { return cuts_; }

 private:
  void WriteNumber(double value, lxw_row_t row, std::size_t column, lxw_format* style);

  const Sheet& sheet_;
  const SheetStyles& styles_;
  const WorkbookLimits& limits_;
  bool as_reference_;
  CellSink& sink_;
  double least_growth_ = 1;  // of a ratio in this row that is marked
  Cuts cuts_;
};

/// Throws Error (kOutput) or std::bad_alloc for an error of the library.
void Check(lxw_error error, const char* doing);

}  // namespace mpa::writers
