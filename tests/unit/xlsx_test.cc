// SPDX-License-Identifier: Apache-2.0
// Workbooks, looked at as the XML that they are made of.
#include <gtest/gtest.h>

#include <limits>

#include "mpa/writers/writers.h"
#include "support/failures.h"
#include "support/files.h"

namespace mpa {
namespace {

constexpr const char* kFirstSheet = "xl/worksheets/sheet1.xml";

Report OneSheet(std::vector<Column> columns, std::vector<Row> rows) {
  Report report;
  Sheet sheet;
  sheet.name = "Sheet";
  sheet.columns = std::move(columns);
  sheet.rows = std::move(rows);
  report.sheets.push_back(std::move(sheet));
  return report;
}

class WriteXlsxTest : public ::testing::Test {
 protected:
  // Writes the sheet and gives the XML of its rows.
  std::string Write(std::vector<Column> columns, std::vector<Row> rows) {
    WriteXlsx(OneSheet(std::move(columns), std::move(rows)), dir_.path(), "report");
    return test::ZipMember(path_, kFirstSheet);
  }
  // The XML of one cell.
  static std::string CellOf(const std::string& xml, const std::string& name) {
    const std::size_t from = xml.find("<c r=\"" + name + "\"");
    if (from == std::string::npos) return {};
    const std::size_t tag_end = xml.find('>', from);
    if (xml[tag_end - 1] == '/') return xml.substr(from, tag_end + 1 - from);
    return xml.substr(from, xml.find("</c>", from) + 4 - from);
  }

  test::TempDir dir_;
  std::filesystem::path path_ = dir_ / "report.xlsx";
};

TEST_F(WriteXlsxTest, LeavesNothingButTheWorkbook) {
  Write({{"a"}}, {{{Cell(std::int64_t{1})}}});
  EXPECT_EQ(dir_.Names(), std::vector<std::string>{"report.xlsx"});
}

TEST_F(WriteXlsxTest, WritesNumbersAndTexts) {
  const std::string xml =
      Write({{"whole"}, {"real"}, {"text"}},
            {{{Cell(std::int64_t{42}), Cell(2.5), Cell(std::string("a<b & \xE6\xAD\xA5"))}}});
  EXPECT_HAS_TEXT(CellOf(xml, "A2"), "<v>42</v>");
  EXPECT_HAS_TEXT(CellOf(xml, "B2"), "<v>2.5</v>");
  EXPECT_HAS_TEXT(test::ZipMember(path_, "xl/sharedStrings.xml"), "a&lt;b &amp; \xE6\xAD\xA5");
}

TEST_F(WriteXlsxTest, ShowsNanosecondsAsMilliseconds) {
  Column column{"Duration(ms)"};
  column.unit = Unit::kNsShownAsMs;
  EXPECT_HAS_TEXT(CellOf(Write({column}, {{{Cell(std::int64_t{1500000})}}}), "A2"), "<v>1.5</v>");
}

TEST_F(WriteXlsxTest, LeavesCellsWithoutAValueBlank) {
  const std::string xml =
      Write({{"a"}, {"b"}, {"c"}},
            {{{Cell(), Cell(std::numeric_limits<double>::quiet_NaN()), Cell(1.0)}}});
  EXPECT_EQ(CellOf(xml, "A2").find("<v>"), std::string::npos);
  EXPECT_EQ(CellOf(xml, "B2").find("<v>"), std::string::npos);
  EXPECT_HAS_TEXT(CellOf(xml, "C2"), "<v>1</v>");
}

TEST_F(WriteXlsxTest, ShowsInfiniteGrowthAsText) {
  Column column{"Diff Ratio"};
  column.marks_growth = true;
  const std::string xml =
      Write({column}, {{{Cell(std::numeric_limits<double>::infinity())}}, {{Cell(2.0)}}});
  EXPECT_HAS_TEXT(test::ZipMember(path_, "xl/sharedStrings.xml"), ">INF<");
  EXPECT_HAS_TEXT(CellOf(xml, "A3"), "<v>2</v>");
}

TEST_F(WriteXlsxTest, NeverMakesAFormulaOfWhatACaptureContains) {
  const std::string xml = Write({{"=1+1"}}, {{{Cell(std::string("=HYPERLINK(\"http://x\")"))}}});
  EXPECT_EQ(xml.find("<f>"), std::string::npos);
  EXPECT_HAS_TEXT(CellOf(xml, "A2"), "t=\"s\"");
}

TEST_F(WriteXlsxTest, CutsTextsThatNoCellCanHold) {
  const std::string xml =
      Write({{"a"}}, {{{Cell(std::string(40000, 'x'))}},
                      {{Cell(std::string(32766, 'y') + "\xE6\xAD\xA5\xE9\xAA\xA4")}}});
  const std::string texts = test::ZipMember(path_, "xl/sharedStrings.xml");
  EXPECT_HAS_TEXT(texts, ">" + std::string(32767, 'x') + "<");
  EXPECT_HAS_TEXT(texts, ">" + std::string(32766, 'y') + "\xE6\xAD\xA5<");
}

TEST_F(WriteXlsxTest, PutsBannersAboveTheColumns) {
  Report report = OneSheet({{"a"}, {"b"}}, {{{Cell(1.0), Cell(2.0)}}});
  report.sheets[0].banners.push_back({0, 1, "Base Profiling", Side::kBase});
  WriteXlsx(report, dir_.path(), "report");
  const std::string xml = test::ZipMember(path_, kFirstSheet);
  EXPECT_HAS_TEXT(xml, "<mergeCell ref=\"A1:B1\"/>");
  EXPECT_HAS_TEXT(CellOf(xml, "B4"), "<v>2</v>");
}

TEST_F(WriteXlsxTest, SaysWhereItCannotWriteAndLeavesNothingBehind) {
  const Report report = OneSheet({{"a"}}, {});
  const Error error = test::ErrorOf([&] { WriteXlsx(report, dir_ / "missing", "report"); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_HAS_TEXT(error.what(), "missing");
  EXPECT_TRUE(dir_.Names().empty());
}

TEST_F(WriteXlsxTest, KeepsTheFormerWorkbookWhenTheNewOneFails) {
  dir_.Write("report.xlsx", "old");
  Report report = OneSheet({{"a"}}, {});
  report.sheets[0].name = "not/allowed";
  EXPECT_THROW(WriteXlsx(report, dir_.path(), "report"), Error);
  EXPECT_EQ(dir_.Names(), std::vector<std::string>{"report.xlsx"});
  EXPECT_EQ(test::ReadAll(path_), "old");
}

TEST_F(WriteXlsxTest, TakesAnotherNameWhenTheFirstIsTaken) {
  const Report report = OneSheet({{"a"}}, {});
  EXPECT_EQ(WriteXlsx(report, dir_.path(), "report").filename(), "report.xlsx");
  EXPECT_EQ(WriteXlsx(report, dir_.path(), "report").filename(), "report01.xlsx");
}

}  // namespace
}  // namespace mpa
