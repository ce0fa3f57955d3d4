// SPDX-License-Identifier: Apache-2.0
// Workbooks.
#include <xlsxwriter.h>

#include <cmath>
#include <map>
#include <tuple>

#include "mpa/base/error.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

constexpr lxw_color_t kGreen = 0x00FF00;
constexpr lxw_color_t kYellow = 0xFFFF00;
constexpr lxw_color_t kRed = 0xFF0000;
constexpr lxw_color_t kDeepBlue = 0x00BFFF;
constexpr lxw_color_t kLightBlue = 0x87CEFA;
constexpr lxw_color_t kNoFill = 0xFFFFFFFF;

void Check(lxw_error error, const char* doing) {
  if (error != LXW_NO_ERROR) Fail(ErrorKind::kOutput, "{}: {}", doing, lxw_strerror(error));
}

/// As much of `text` as a cell can hold, cut between characters.
std::string FittingCell(const std::string& text) {
  constexpr std::size_t kMostCharacters = 32767;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
    if (!continues && ++characters > kMostCharacters) return text.substr(0, i);
  }
  return text;
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

 private:
  static const char* NumberFormat(Format format) {
    switch (format) {
      case Format::kInteger:
        return "#,##0";
      case Format::kDecimals2:
        return "#,##0.00";
      case Format::kPercent:
        return "0.00%";
      case Format::kGeneral:
        break;
    }
    return "General";
  }

  lxw_format* Get(Format format, lxw_color_t fill, int indent, bool bold) {
    lxw_format*& style = styles_[{format, fill, indent, bold}];
    if (style != nullptr) return style;
    style = workbook_add_format(workbook_);
    format_set_font_name(style, "Arial");
    format_set_font_size(style, 11);
    format_set_align(style, LXW_ALIGN_LEFT);
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
  std::map<std::tuple<Format, lxw_color_t, int, bool>, lxw_format*> styles_;
};

/// Writes one sheet.
class SheetWriter {
 public:
  SheetWriter(const Sheet& sheet, lxw_worksheet* worksheet, Styles& styles)
      : sheet_(sheet), worksheet_(worksheet), styles_(styles) {}

  void Write() {
    WriteHeaders();
    for (const Row& row : sheet_.rows) {
      for (std::size_t i = 0; i < row.cells.size(); ++i) WriteCell(row, i);
      ++row_;
    }
  }

 private:
  void WriteHeaders() {
    for (const Banner& banner : sheet_.banners) {
      Check(
          worksheet_merge_range(worksheet_, 0, Col(banner.first_column), 0, Col(banner.last_column),
                                banner.text.c_str(), styles_.Header(banner.side)),
          "merging header cells");
    }
    row_ = sheet_.banners.empty() ? 0 : 2;
    for (std::size_t i = 0; i < sheet_.columns.size(); ++i) {
      const Column& column = sheet_.columns[i];
      worksheet_set_column(worksheet_, Col(i), Col(i), column.width, nullptr);
      Check(worksheet_write_string(worksheet_, row_, Col(i), column.name.c_str(),
                                   styles_.Header(column.side)),
            "writing a header");
    }
    ++row_;
  }

  void WriteCell(const Row& row, std::size_t index) {
    const Column& column = sheet_.columns[index];
    lxw_format* style = styles_.Data(column.format, row.emphasis, index == 0 ? row.indent : 0);
    const Cell& cell = row.cells[index];
    if (const auto* text = std::get_if<std::string>(&cell)) {
      WriteText(index, *text, style);
    } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      const double scale = column.unit == Unit::kNsShownAsMs ? 1e6 : 1.0;
      WriteNumber(index, static_cast<double>(*whole) / scale, style);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      WriteNumber(index, *real, style);
    } else {
      Check(worksheet_write_blank(worksheet_, row_, Col(index), style), "writing a cell");
    }
  }

  void WriteText(std::size_t index, const std::string& text, lxw_format* style) {
    // Always as text: what a capture contains must never run as a formula.
    Check(worksheet_write_string(worksheet_, row_, Col(index), FittingCell(text).c_str(), style),
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

  static lxw_col_t Col(std::size_t column) { return static_cast<lxw_col_t>(column); }

  const Sheet& sheet_;
  lxw_worksheet* worksheet_;
  Styles& styles_;
  lxw_row_t row_ = 0;
};

}  // namespace

std::filesystem::path WriteXlsx(const Report& report, const std::filesystem::path& directory,
                                const std::string& stem) {
  return InContext(directory.string(), [&] {
    io::OutputFile file(directory / (stem + ".xlsx"));
    lxw_workbook* workbook = workbook_new(file.temporary_path().c_str());
    if (workbook == nullptr) Fail(ErrorKind::kResource, "no memory for a workbook");
    try {
      Styles styles(workbook);
      for (const Sheet& sheet : report.sheets) {
        lxw_worksheet* worksheet = workbook_add_worksheet(workbook, sheet.name.c_str());
        if (worksheet == nullptr) Fail(ErrorKind::kInternal, "bad sheet name '{}'", sheet.name);
        SheetWriter(sheet, worksheet, styles).Write();
      }
    } catch (...) {
      lxw_workbook_free(workbook);
      throw;
    }
    Check(workbook_close(workbook), "writing the workbook");
    std::filesystem::path path = directory / (stem + ".xlsx");
    for (int i = 1; !file.CommitAs(path); ++i) {
      path = directory / fmt::format("{}{:02}.xlsx", stem, i);
    }
    return path;
  });
}

}  // namespace mpa
