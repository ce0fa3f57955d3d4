// SPDX-License-Identifier: Apache-2.0
// The first worksheet: the answer, the numbers behind it, charts, and where the details are.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/report/palette.h"
#include "xlsx_layout.h"

namespace mpa::writers {
namespace {

constexpr lxw_color_t kLinkColor = 0x0563C1;

class SummarySheet {
 public:
  SummarySheet(const WorkbookSummary& summary, const std::vector<PageFact>& facts,
               lxw_workbook* workbook, lxw_worksheet* worksheet, Styles& styles,
               const WorkbookLimits& limits, const PlaceOfRow& place_of)
      : summary_(summary),
        facts_(facts),
        workbook_(workbook),
        worksheet_(worksheet),
        styles_(styles),
        limits_(limits),
        place_of_(place_of) {}

  void Write() && {
    SetWidths();
    WriteLines();
    WriteFacts();
    for (const SummaryTable& table : summary_.tables) WriteTable(table);
    WriteCaveats();
    const lxw_row_t last_row = std::max(row_, chart_row_) - 1;
    worksheet_freeze_panes(worksheet_, kHead + 1, 0);
    SetUpPages(worksheet_, {kHead, last_row},
               {.widths = widths_, .beyond = charted_ ? kChartColumns + 1u : 0u});
    worksheet_gridlines(worksheet_, LXW_HIDE_ALL_GRIDLINES);
  }

 private:
  // The title and the verdict stay in sight.
  static constexpr lxw_row_t kHead = 1;
  static constexpr lxw_row_t kChartRows = 17;
  static constexpr double kUsual = 12;  // the width of a column
  static constexpr lxw_col_t kChartColumns = 10;

  void SetWidths() {
    for (const SummaryTable& table : summary_.tables) {
      for (std::size_t i = 0; i < table.table.columns.size(); ++i) {
        widths_.resize(std::max(widths_.size(), i + 1));
        widths_[i] = std::max(widths_[i], table.table.columns[i].width);
      }
      FitLinks(table);
    }
    constexpr std::size_t kMin = 6;
    constexpr double kName = 44;
    if (widths_.empty()) widths_ = {kName};
    widths_.resize(std::max(widths_.size(), kMin), kUsual);
    FitPage();
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      worksheet_set_column(worksheet_, Col(i), Col(i), widths_[i], nullptr);
    }
  }

  // What is wider than the last column would be printed on a page of its own.
  void FitLinks(const SummaryTable& table) {
    if (table.links.empty()) return;
    const std::size_t column = table.table.columns.size();
    widths_.resize(std::max(widths_.size(), column + 1));
    widths_[column] = std::max(widths_[column], kUsual);
    for (const std::optional<RowPlace>& link : table.links) {
      const std::optional<CellPlace> place = link ? place_of_(*link) : std::nullopt;
      if (!place) continue;
      links_ = std::max(links_, static_cast<double>(ColumnsOf(LinkText(*place)) + 2));
      widths_[column] = std::max(widths_[column], links_);
    }
  }

  static std::string LinkText(const CellPlace& place) {
    return Say("{}, row {}", place.worksheet, place.row + 1);
  }

  // The wide columns give what all are wider than a page: their texts break.
  void FitPage() {
    constexpr double kNarrow = 26, kPixelsOfCharacter = 7;
    double beyond = -PixelsOfPage() / kPixelsOfCharacter, spare = 0;
    for (const double width : widths_) {
      beyond += PixelsOf(width) / kPixelsOfCharacter;
      if (width != links_) spare += std::max(0.0, width - kNarrow);
    }
    if (beyond <= 0 || spare <= 0) return;
    const double kept = std::max(0.0, 1 - beyond / spare);
    for (double& width : widths_) {
      if (width > kNarrow && width != links_)
        width = std::floor(kNarrow + kept * (width - kNarrow));
    }
  }

  lxw_col_t LastColumn() const { return Col(widths_.size() - 1); }
  lxw_col_t FirstChartColumn() const { return Col(widths_.size() + 1); }

  lxw_format* Words(double size, bool bold, bool wraps = false) {
    lxw_format* format = workbook_add_format(workbook_);
    format_set_font_name(format, "Arial");
    format_set_font_size(format, size);
    format_set_align(format, LXW_ALIGN_VERTICAL_TOP);
    if (bold) format_set_bold(format);
    if (wraps) format_set_text_wrap(format);
    return format;
  }

  void Text(lxw_row_t row, std::size_t column, const std::string& text, lxw_format* format) {
    Check(worksheet_write_string(worksheet_, row, Col(column),
                                 FitCell(text, limits_.characters).text.c_str(), format),
          "writing the summary");
  }

  // In one cell that is as wide as the tables, and as high as it takes.
  void Paragraph(const std::string& text, double size, lxw_format* format) {
    double width = 0;
    for (const double column : widths_) width += column;
    const auto room = static_cast<std::size_t>(0.8 * width * 10 / size);
    const std::size_t lines = std::max<std::size_t>(1, (ColumnsOf(text) + room - 1) / room);
    const double height = kLineHeight * size / 10 * static_cast<double>(lines) + 3;
    worksheet_set_row(worksheet_, row_, height, nullptr);
    Check(worksheet_merge_range(worksheet_, row_, 0, row_, LastColumn(), "", format),
          "writing the summary");
    Text(row_++, 0, text, format);
  }

  void WriteLines() {
    constexpr double kTitle = 16, kVerdict = 12, kUsual = 10;
    Paragraph(summary_.title, kTitle, Words(kTitle, true));
    Paragraph(summary_.lines.empty() ? "" : summary_.lines.front(), kVerdict,
              Words(kVerdict, true, true));
    ++row_;
    lxw_format* words = Words(kUsual, false);
    lxw_format* wrapped = Words(kUsual, false, true);
    constexpr std::size_t kShort = 110;
    for (std::size_t i = 1; i < summary_.lines.size(); ++i) {
      if (ColumnsOf(summary_.lines[i]) > kShort) {
        Paragraph(summary_.lines[i], kUsual, wrapped);
      } else {
        Text(row_++, 0, summary_.lines[i], words);
      }
    }
    if (summary_.lines.size() > 1) ++row_;
  }

  void WriteFacts() {
    lxw_format* name = Words(10, true);
    lxw_format* value = Words(10, false);
    for (const PageFact& fact : facts_) {
      Text(row_, 0, fact.name, name);
      Text(row_++, 1, fact.value, value);
    }
    if (!facts_.empty()) ++row_;
  }

  void WriteTable(const SummaryTable& of) {
    const Sheet& table = of.table;
    Text(row_++, 0, table.name, Words(12, true));
    const SheetStyles& styles = styles_.For(table);
    LibraryCells sink(worksheet_);
    CellWriter cells(table, styles, limits_, /*as_reference=*/false, sink);
    const TableRows rows{row_, row_ + static_cast<lxw_row_t>(table.rows.size())};
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      cells.WriteText(table.columns[i].name, row_, i, styles.headers[i]);
    }
    const std::size_t link_column = table.columns.size();
    if (!of.links.empty()) Text(row_, link_column, summary_.link_header, styles.headers[0]);
    worksheet_set_row(worksheet_, row_, HeaderHeight(table, widths_), nullptr);
    ++row_;
    for (std::size_t row = 0; row < table.rows.size(); ++row, ++row_) {
      const Row& shown = table.rows[row];
      const std::vector<lxw_format*>& data = styles.Data(shown);
      if (const int height = HeightOf(table, shown, false, widths_); height > 0)
        worksheet_set_row(worksheet_, row_, height, nullptr);
      cells.BeginRow(shown);
      for (std::size_t i = 0; i < shown.cells.size(); ++i) {
        cells.Write(shown.cells[i], row_, i, data[i]);
      }
      if (row < of.links.size() && of.links[row]) WriteLink(*of.links[row], link_column);
    }
    AddBars(worksheet_, table, rows);
    if (!filtered_) {
      const std::size_t last = of.links.empty() ? link_column - 1 : link_column;
      Check(worksheet_autofilter(worksheet_, rows.header, 0, rows.last, Col(last)),
            "adding filters");
      filtered_ = true;
    }
    if (!of.chart.empty() && !table.rows.empty()) AddChart(of, rows);
    ++row_;
  }

  void WriteCaveats() {
    if (summary_.caveats.empty()) return;
    Text(row_++, 0, Say("Notes"), Words(12, true));
    lxw_format* wrapped = Words(kFontSize, false, true);
    for (const std::string& caveat : summary_.caveats) Paragraph(caveat, kFontSize, wrapped);
  }

  void WriteLink(const RowPlace& to, std::size_t column) {
    const std::optional<CellPlace> place = place_of_(to);
    if (!place) return;
    if (link_ == nullptr) {
      link_ = Words(10, false);
      format_set_font_color(link_, kLinkColor);
      format_set_underline(link_, LXW_UNDERLINE_SINGLE);
    }
    std::string name;
    for (const char c : place->worksheet) name += c == '\'' ? std::string("''") : std::string(1, c);
    char cell[LXW_MAX_CELL_NAME_LENGTH];
    lxw_rowcol_to_cell(cell, place->row, place->column);
    Check(worksheet_write_url_opt(worksheet_, row_, Col(column),
                                  fmt::format("internal:'{}'!{}", name, cell).c_str(), link_,
                                  LinkText(*place).c_str(), nullptr),
          "writing links");
  }

  // Bars from the top in the order of the rows. What grew and what shrank have colours.
  void AddChart(const SummaryTable& of, const TableRows& rows) {
    constexpr double kWidth = 1.3, kPixelsOfRow = 20, kPixelsOfChart = 288;
    const lxw_row_t last = rows.last - (of.last_is_sum ? 1 : 0);
    lxw_chart* chart = workbook_add_chart(workbook_, LXW_CHART_BAR);
    const char* name = worksheet_->name;
    for (const std::size_t column : of.charted) {
      lxw_chart_series* series = chart_add_series(chart, nullptr, nullptr);
      chart_series_set_categories(series, name, rows.header + 1, 0, last, 0);
      chart_series_set_values(series, name, rows.header + 1, Col(column), last, Col(column));
      chart_series_set_name_range(series, name, rows.header, Col(column));
      const bool base = of.table.columns[column].side == Side::kBase;
      lxw_chart_fill fill{};
      fill.color = ColourOf(base ? Tint::kBase : Tint::kNone).light;
      chart_series_set_fill(series, &fill);
      if (of.table.columns[column].change == ChangeRole::kDifference || !of.tints.empty())
        SetTints(of, column, series);
    }
    chart_title_set_name(chart, of.chart.c_str());
    lxw_chart_font small{};
    small.size = kFontSize;
    lxw_chart_font title{};
    title.size = 11;
    title.bold = LXW_TRUE;
    chart_title_set_name_font(chart, &title);
    // The library calls the axis of the labels y where bars lie.
    for (lxw_chart_axis* axis : {chart->x_axis, chart->y_axis}) {
      chart_axis_set_num_font(axis, &small);
    }
    chart_axis_set_reverse(chart->y_axis);
    if (!AnyIsNegative(of)) chart_axis_set_min(chart->x_axis, 0);
    chart_axis_set_label_position(chart->y_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
    chart_axis_set_label_position(chart->x_axis, LXW_CHART_AXIS_LABEL_POSITION_HIGH);
    chart_legend_set_position(
        chart, of.charted.size() > 1 ? LXW_CHART_LEGEND_BOTTOM : LXW_CHART_LEGEND_NONE);
    lxw_chart_options options{};
    options.x_scale = kWidth;
    options.y_scale = (kChartRows - 1) * kPixelsOfRow / kPixelsOfChart;
    Check(worksheet_insert_chart_opt(worksheet_, chart_row_, FirstChartColumn(), chart, &options),
          "adding charts");
    chart_row_ += kChartRows;
    charted_ = true;
  }

  static bool AnyIsNegative(const SummaryTable& of) {
    return std::ranges::any_of(of.table.rows, [&](const Row& row) {
      return std::ranges::any_of(of.charted, [&](std::size_t column) {
        const auto* number = std::get_if<double>(&row.cells[column]);
        return number != nullptr && *number < 0;
      });
    });
  }

  // Of each bar: what its row means, or whether it grew.
  static void SetTints(const SummaryTable& of, std::size_t column, lxw_chart_series* series) {
    const Rows& rows = of.table.rows;
    std::vector<lxw_chart_fill> fills(rows.size());
    std::vector<lxw_chart_point> points(rows.size());
    std::vector<lxw_chart_point*> all;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto* number = std::get_if<double>(&rows[row].cells[column]);
      const bool grew = number != nullptr && *number > 0;
      fills[row].color = row < of.tints.size() ? ColourOf(of.tints[row]).light
                         : grew                ? kGrownColor
                                               : kShrunkColor;
      points[row].fill = &fills[row];
      all.push_back(&points[row]);
    }
    all.push_back(nullptr);
    Check(chart_series_set_points(series, all.data()), "adding charts");
  }

  const WorkbookSummary& summary_;
  const std::vector<PageFact>& facts_;
  lxw_workbook* workbook_;
  lxw_worksheet* worksheet_;
  Styles& styles_;
  const WorkbookLimits& limits_;
  const PlaceOfRow& place_of_;
  std::vector<double> widths_;
  double links_ = 0;  // the width that links need, which break nowhere
  lxw_row_t row_ = 0, chart_row_ = kHead + 1;
  lxw_format* link_ = nullptr;
  bool filtered_ = false, charted_ = false;
};

}  // namespace

void WriteSummary(const WorkbookSummary& summary, const std::vector<PageFact>& facts,
                  lxw_workbook* workbook, lxw_worksheet* worksheet, Styles& styles,
                  const WorkbookLimits& limits, const PlaceOfRow& place_of) {
  SummarySheet(summary, facts, workbook, worksheet, styles, limits, place_of).Write();
}

}  // namespace mpa::writers
