// SPDX-License-Identifier: Apache-2.0
// Workbooks.
#include <xlsxwriter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "formats.h"
#include "mpa/base/error.h"
#include "sheet_values.h"
#include "xlsx_text.h"

namespace mpa::writers {
namespace {

constexpr lxw_color_t kGreen = 0x00FF00;
constexpr lxw_color_t kYellow = 0xFFFF00;
constexpr lxw_color_t kRed = 0xFF0000;
constexpr lxw_color_t kDeepBlue = 0x00BFFF;
constexpr lxw_color_t kLightBlue = 0x87CEFA;
constexpr lxw_color_t kTurquoise = 0xAFEEEE;
constexpr lxw_color_t kNoFill = 0xFFFFFFFF;

void Check(lxw_error error, const char* doing) {
  if (error != LXW_NO_ERROR) Fail(ErrorKind::kOutput, "{}: {}", doing, lxw_strerror(error));
}

/// The cell styles of a workbook, each made once.
class Styles {
 public:
  explicit Styles(lxw_workbook* workbook) : workbook_(workbook) {}

  lxw_format* Header(Side side) {
    return Get(Format::kGeneral, side == Side::kComparison ? kYellow : kGreen, 0, true);
  }
  lxw_format* Data(Format format, Emphasis emphasis, int indent) {
    const lxw_color_t fill = emphasis == Emphasis::kSection ? kDeepBlue
                             : emphasis == Emphasis::kPart  ? kLightBlue
                                                            : kNoFill;
    return Get(format, fill, indent, format == Format::kGeneral);
  }
  lxw_format* Growth() { return Get(Format::kPercent, kRed, 0, false); }
  lxw_format* ListHeader() { return Get(Format::kGeneral, kTurquoise, 0, true, Look::kList); }
  lxw_format* ListData() { return Get(Format::kText, kNoFill, 0, false, Look::kList); }

 private:
  static const char* NumberFormat(Format format) {
    switch (format) {
      case Format::kInteger:
        return "#,##0";
      case Format::kDecimals2:
        return "#,##0.00";
      case Format::kDecimals3:
        return "#,##0.000";
      case Format::kDecimals4:
        return "0.0000";
      case Format::kPercent:
        return "0.00%";
      case Format::kGeneral:
      case Format::kText:
        break;
    }
    return "General";
  }

  lxw_format* Get(Format format, lxw_color_t fill, int indent, bool bold,
                  Look look = Look::kComparison) {
    lxw_format*& style = styles_[{format, fill, indent, bold, look}];
    if (style != nullptr) return style;
    style = workbook_add_format(workbook_);
    format_set_font_name(style, look == Look::kList ? "Times New Roman" : "Arial");
    format_set_font_size(style, 11);
    if (look == Look::kComparison) format_set_align(style, LXW_ALIGN_LEFT);
    format_set_align(style, LXW_ALIGN_VERTICAL_CENTER);
    format_set_border(style, LXW_BORDER_THIN);
    format_set_num_format(style, NumberFormat(format));
    if (bold) format_set_bold(style);
    if (indent > 0) format_set_indent(style, static_cast<std::uint8_t>(indent));
    if (fill != kNoFill) {
      format_set_pattern(style, LXW_PATTERN_SOLID);
      format_set_fg_color(style, fill);
    }
    return style;
  }

  lxw_workbook* workbook_;
  std::map<std::tuple<Format, lxw_color_t, int, bool, Look>, lxw_format*> styles_;
};

/// Texts of a sheet that had to be cut.
struct Cuts {
  std::size_t count = 0;
  std::string first;  ///< where: "C17"
};

/// Fills a worksheet, as far as it has room.
class SheetWriter {
 public:
  SheetWriter(const Sheet& sheet, lxw_worksheet* worksheet, Styles& styles,
              const WorkbookLimits& limits, Cuts& cuts)
      : sheet_(sheet), worksheet_(worksheet), styles_(styles), limits_(limits), cuts_(cuts) {}

  /// Writes the rows from `first` on; returns the number of the first that found no room.
  std::size_t Write(std::size_t first) {
    WriteHeaders();
    for (; first < sheet_.rows.size() && row_ < limits_.rows; ++first, ++row_) {
      const Row& row = sheet_.rows[first];
      for (std::size_t i = 0; i < row.cells.size(); ++i) WriteCell(row, i);
    }
    MergeEqualCells(first - (row_ - first_row_), first);
    return first;
  }

 private:
  void WriteHeaders() {
    for (const Banner& banner : sheet_.banners) WriteBanner(banner);
    row_ = sheet_.banners.empty() ? 0 : 2;
    for (std::size_t i = 0; i < sheet_.columns.size(); ++i) {
      const Column& column = sheet_.columns[i];
      worksheet_set_column(worksheet_, Col(i), Col(i), column.width, nullptr);
      WriteText(i, column.name,
                sheet_.look == Look::kList ? styles_.ListHeader() : styles_.Header(column.side));
    }
    constexpr double kListHeaderHeight = 27;
    if (sheet_.look == Look::kList) worksheet_set_row(worksheet_, row_, kListHeaderHeight, nullptr);
    first_row_ = ++row_;
  }

  // Makes one cell of equal ones among the rows [begin, end) of the sheet.
  void MergeEqualCells(std::size_t begin, std::size_t end) {
    for (std::size_t column = 0; column < sheet_.columns.size(); ++column) {
      if (!sheet_.columns[column].merges_equal) continue;
      const auto same = [&](std::size_t a, std::size_t b) {
        return std::equal(sheet_.rows[a].cells.begin(),
                          sheet_.rows[a].cells.begin() + static_cast<std::ptrdiff_t>(column) + 1,
                          sheet_.rows[b].cells.begin());
      };
      for (std::size_t from = begin; from < end;) {
        std::size_t to = from + 1;
        while (to < end && same(from, to)) ++to;
        if (to - from > 1) {
          MergeCells(column, sheet_.rows[from], from - begin, to - begin - 1);
        }
        from = to;
      }
    }
  }

  void MergeCells(std::size_t column, const Row& shown, std::size_t first, std::size_t last) {
    const auto row = [&](std::size_t offset) {
      return first_row_ + static_cast<lxw_row_t>(offset);
    };
    Check(worksheet_merge_range(worksheet_, row(first), Col(column), row(last), Col(column), "",
                                styles_.ListData()),
          "merging cells");
    const lxw_row_t behind = row_;
    row_ = row(first);
    WriteCell(shown, column);
    row_ = behind;
  }

  void WriteBanner(const Banner& banner) {
    lxw_format* style = styles_.Header(banner.side);
    if (banner.first_column != banner.last_column) {  // a cell alone cannot be merged
      Check(worksheet_merge_range(worksheet_, 0, Col(banner.first_column), 0,
                                  Col(banner.last_column), "", style),
            "merging header cells");
    }
    WriteText(banner.first_column, banner.text, style);
  }

  void WriteCell(const Row& row, std::size_t index) {
    const Column& column = sheet_.columns[index];
    lxw_format* style = sheet_.look == Look::kList ? styles_.ListData()
                                                   : styles_.Data(column.format, row.emphasis,
                                                                  index == 0 ? row.indent : 0);
    const Cell& cell = row.cells[index];
    if (const auto* text = std::get_if<std::string>(&cell)) {
      WriteText(index, *text, style);
    } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      WriteNumber(index, InShownUnit(column.unit, *whole), style);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      WriteNumber(index, *real, style);
    } else {
      Check(worksheet_write_blank(worksheet_, row_, Col(index), style), "writing a cell");
    }
  }

  void WriteText(std::size_t index, const std::string& text, lxw_format* style) {
    const CellText fitted = FitCell(text, limits_.characters);
    if (fitted.cut && cuts_.count++ == 0) cuts_.first = PlaceOf(index);
    // Always as text: what a capture contains must never run as a formula.
    Check(worksheet_write_string(worksheet_, row_, Col(index), fitted.text.c_str(), style),
          "writing a cell");
  }

  void WriteNumber(std::size_t index, double value, lxw_format* style) {
    const bool grown = sheet_.columns[index].marks_growth && value > 1;
    if (grown) style = styles_.Growth();
    if (grown && std::isinf(value)) {
      WriteText(index, "INF", style);
    } else if (!std::isfinite(value)) {
      Check(worksheet_write_blank(worksheet_, row_, Col(index), style), "writing a cell");
    } else {
      Check(worksheet_write_number(worksheet_, row_, Col(index), value, style), "writing a cell");
    }
  }

  std::string PlaceOf(std::size_t index) const {
    std::array<char, LXW_MAX_CELL_NAME_LENGTH> name{};
    lxw_rowcol_to_cell(name.data(), row_, Col(index));
    return name.data();
  }

  static lxw_col_t Col(std::size_t column) { return static_cast<lxw_col_t>(column); }

  const Sheet& sheet_;
  lxw_worksheet* worksheet_;
  Styles& styles_;
  const WorkbookLimits& limits_;
  Cuts& cuts_;
  lxw_row_t row_ = 0;
  lxw_row_t first_row_ = 0;  // of the data
};

/// Writes a sheet of the report as one or more worksheets; returns what had to be done to it.
std::vector<std::string> WriteSheet(const Sheet& sheet, lxw_workbook* workbook, Styles& styles,
                                    const WorkbookLimits& limits) {
  Cuts cuts;
  int worksheets = 0;
  std::string name = sheet.name;
  std::string place_of_cut;
  for (std::size_t row = 0; worksheets == 0 || row < sheet.rows.size();) {
    if (++worksheets > 1) name = fmt::format("{} ({})", sheet.name, worksheets);
    if (workbook_validate_sheet_name(workbook, name.c_str()) != LXW_NO_ERROR) {
      Fail(ErrorKind::kInternal, "bad sheet name '{}'", name);
    }
    lxw_worksheet* worksheet = workbook_add_worksheet(workbook, name.c_str());
    if (worksheet == nullptr) Fail(ErrorKind::kOutput, "no temporary file for '{}'", name);
    row = SheetWriter(sheet, worksheet, styles, limits, cuts).Write(row);
    if (cuts.count > 0 && place_of_cut.empty()) place_of_cut = name + '!' + cuts.first;
  }
  std::vector<std::string> notes;
  if (worksheets > 1) {
    notes.push_back(fmt::format(
        "{}: {} rows are more than a sheet of a workbook holds; they continue on {}", sheet.name,
        WithThousands(std::to_string(sheet.rows.size())),
        worksheets == 2 ? name : fmt::format("{} (2) to ({})", sheet.name, worksheets)));
  }
  if (cuts.count > 0) {
    notes.push_back(fmt::format(
        "{}: {} {} longer than the {} characters that a cell of a workbook holds, and cut there; "
        "the first is {}",
        sheet.name, WithThousands(std::to_string(cuts.count)),
        cuts.count == 1 ? "text is" : "texts are", WithThousands(std::to_string(limits.characters)),
        place_of_cut));
  }
  return notes;
}

void WriteSheets(const Report& report, lxw_workbook* workbook, const WorkbookLimits& limits,
                 std::vector<std::string>& notes) {
  Styles styles(workbook);
  for (const Sheet& sheet : report.sheets) {
    const std::vector<std::string> more = WriteSheet(sheet, workbook, styles, limits);
    notes.insert(notes.end(), more.begin(), more.end());
  }
  std::vector<std::string> all = report.notes;
  all.insert(all.end(), notes.begin(), notes.end());
  if (!all.empty()) WriteSheet(NotesSheet(all), workbook, styles, limits);
}

/// The library overlooks that its temporary files could not be written, and would make a workbook
/// of what there is of them. While it closes the workbook, it makes a copy of one after the other.
void CheckTemporaryFiles(lxw_workbook* workbook, const std::filesystem::path& directory) {
  std::uintmax_t largest = 0;
  lxw_worksheet* worksheet = nullptr;
  STAILQ_FOREACH(worksheet, workbook->worksheets, list_pointers) {
    std::FILE* rows = worksheet->optimize_tmpfile;
    if (std::fflush(rows) != 0 || std::ferror(rows) != 0) {
      Fail(ErrorKind::kOutput, "writing the workbook: no room for the rows of '{}'",
           worksheet->name);
    }
    largest = std::max(largest, static_cast<std::uintmax_t>(std::ftell(rows)));
  }
  std::error_code unknown;
  const std::uintmax_t available = std::filesystem::space(directory, unknown).available;
  if (!unknown && available < largest) {
    Fail(ErrorKind::kOutput, "writing the workbook: it takes another {} MB, there are {} MB left",
         largest / 1000000 + 1, available / 1000000);
  }
}

}  // namespace

void WriteXlsxFile(const Report& report, const std::filesystem::path& path,
                   std::vector<std::string>& notes, const WorkbookLimits& limits) {
  // Rows go to a file as they come. That file is made where the workbook will be: it can be larger
  // than what a machine has room for in /tmp.
  std::string directory = path.parent_path().string();
  lxw_workbook_options options{};
  // Cells over several rows need all of them at hand.
  const bool streams =
      std::none_of(report.sheets.begin(), report.sheets.end(), [](const Sheet& sheet) {
        return std::any_of(sheet.columns.begin(), sheet.columns.end(),
                           [](const Column& column) { return column.merges_equal; });
      });
  options.constant_memory = streams ? LXW_TRUE : LXW_FALSE;
  if (!directory.empty()) options.tmpdir = directory.data();
  lxw_workbook* workbook = workbook_new_opt(path.c_str(), &options);
  if (workbook == nullptr) Fail(ErrorKind::kResource, "no memory for a workbook");
  try {
    WriteSheets(report, workbook, limits, notes);
    if (streams) CheckTemporaryFiles(workbook, directory.empty() ? "." : directory);
  } catch (...) {
    lxw_workbook_free(workbook);
    throw;
  }
  Check(workbook_close(workbook), "writing the workbook");
}

}  // namespace mpa::writers
