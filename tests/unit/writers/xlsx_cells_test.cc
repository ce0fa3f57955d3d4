// SPDX-License-Identifier: Apache-2.0
#include "writers/xlsx_cells.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "support/files.h"

namespace mpa::writers {
namespace {

constexpr lxw_row_t kRow = 1234;

// The row that the library writes of the cells that `write` puts into a sink.
std::string RowOfLibrary(const std::function<void(CellSink&, lxw_format*)>& write) {
  const test::TempDir dir;
  std::string directory = dir.path().string();
  const std::string path = (dir / "a.xlsx").string();
  lxw_workbook_options options{};
  options.constant_memory = LXW_TRUE;
  options.tmpdir = directory.data();
  lxw_workbook* workbook = workbook_new_opt(path.c_str(), &options);
  LibraryCells sink(workbook_add_worksheet(workbook, nullptr));
  lxw_format* style = workbook_add_format(workbook);
  format_set_bold(style);
  write(sink, style);
  EXPECT_EQ(workbook_close(workbook), LXW_NO_ERROR);
  const std::string sheet = test::ZipMember(path, "xl/worksheets/sheet1.xml");
  const std::size_t begin = sheet.find("<row ");
  const std::size_t end = sheet.find("</sheetData>");
  return begin < end ? sheet.substr(begin, end - begin) : sheet;
}

std::string RowOfOurs(const std::function<void(CellSink&, lxw_format*)>& write) {
  lxw_format style{};
  style.xf_index = 1;  // the first style of a workbook
  XmlCells sink;
  sink.BeginRow(kRow);
  write(sink, &style);
  sink.EndRow();
  return sink.xml();
}

void ExpectTheSameRow(const std::function<void(CellSink&, lxw_format*)>& write) {
  EXPECT_EQ(RowOfOurs(write), RowOfLibrary(write));
}

TEST(XmlCells, WriteTextsLikeTheLibrary) {
  for (int code = 1; code < 128; ++code) {
    const std::string character(1, static_cast<char>(code));
    ExpectTheSameRow([&](CellSink& sink, lxw_format* style) {
      sink.Text(kRow, 0, "a" + character + "b", style);
      sink.Text(kRow, 1, character + "b", style);
      sink.Text(kRow, 2, "a" + character, style);
    });
  }
  ExpectTheSameRow([](CellSink& sink, lxw_format* style) {
    sink.Text(kRow, 0, "=1+1", style);
    sink.Text(kRow, 1, "\xE6\xAD\xA5 \xF0\x9F\x9A\x80", style);
    sink.Text(kRow, 2, "", style);
    sink.Text(kRow, 3, "_x005F_x001B_", style);
    sink.Blank(kRow, 4, style);
  });
}

TEST(XmlCells, WriteNumbersLikeTheLibrary) {
  for (const double value : {0.0, -0.0, 1.0, -2.5, 0.1, 1.0 / 3, 123456.789, 1e15, 1e16, 1e17,
                             123456789012345678.0, 1e-4, 1e-5, 1.5e-7, 1e308, -1e308, 5e-324,
                             1736412474721331.65, std::numeric_limits<double>::epsilon()}) {
    ExpectTheSameRow(
        [&](CellSink& sink, lxw_format* style) { sink.Number(kRow, 0, value, style); });
  }
}

TEST(XmlCells, NameTheirPlacesLikeTheLibrary) {
  ExpectTheSameRow([](CellSink& sink, lxw_format* style) {
    for (lxw_col_t column = 0; column < 800; ++column) sink.Number(kRow, column, 1, style);
  });
}

}  // namespace
}  // namespace mpa::writers
