// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xlsxwriter.h>

#include <cstddef>
#include <string>
#include <vector>

#include "formats.h"
#include "mpa/report/report.h"
#include "xlsx_styles.h"

namespace mpa::writers {

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
  CellWriter(const Sheet& sheet, const SheetStyles& styles, const WorkbookLimits& limits,
             CellSink& sink)
      : sheet_(sheet), styles_(styles), limits_(limits), sink_(sink) {}

  void Write(const Cell& cell, lxw_row_t row, std::size_t column, lxw_format* style);
  void WriteText(const std::string& text, lxw_row_t row, std::size_t column, lxw_format* style);

  const Cuts& cuts() const { return cuts_; }

 private:
  void WriteNumber(double value, lxw_row_t row, std::size_t column, lxw_format* style);

  const Sheet& sheet_;
  const SheetStyles& styles_;
  const WorkbookLimits& limits_;
  CellSink& sink_;
  Cuts cuts_;
};

/// Throws Error (kOutput) or std::bad_alloc for an error of the library.
void Check(lxw_error error, const char* doing);

}  // namespace mpa::writers
