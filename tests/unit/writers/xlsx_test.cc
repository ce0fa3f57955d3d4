// SPDX-License-Identifier: Apache-2.0
// Workbooks, looked at as the XML that they are made of.
#include <gtest/gtest.h>

#include <limits>

#include "mpa/base/parallel.h"
#include "mpa/writers/writers.h"
#include "support/failures.h"
#include "support/files.h"
#include "support/reports.h"
#include "writers/formats.h"

namespace mpa {
namespace {

using test::OneSheet;

constexpr const char* kFirstSheet = "xl/worksheets/sheet1.xml";
constexpr const char* kSecondSheet = "xl/worksheets/sheet2.xml";

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
  EXPECT_HAS_TEXT(CellOf(xml, "C2"), "a&lt;b &amp; \xE6\xAD\xA5");
}

TEST_F(WriteXlsxTest, ShowsNanosecondsAsMilliseconds) {
  Column column{"Duration(ms)"};
  column.unit = Unit::kNsShownAsMs;
  EXPECT_HAS_TEXT(CellOf(Write({column}, {{{Cell(std::int64_t{1500000})}}}), "A2"), "<v>1.5</v>");
}

TEST_F(WriteXlsxTest, ShowsNanosecondsAsMicroseconds) {
  Column column{"Duration(us)"};
  column.unit = Unit::kNsShownAsUs;
  EXPECT_HAS_TEXT(CellOf(Write({column}, {{{Cell(std::int64_t{1500})}}}), "A2"), "<v>1.5</v>");
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
  EXPECT_HAS_TEXT(CellOf(xml, "A2"), ">INF<");
  EXPECT_HAS_TEXT(CellOf(xml, "A3"), "<v>2</v>");
}

TEST_F(WriteXlsxTest, KeepsTheDecimalsOfItsColumns) {
  Column ratio{"Diff Ratio"};
  ratio.decimals = 4;
  ratio.marks_growth = true;
  Column time{"Diff Duration(ms)"};
  time.decimals = 2;
  const std::string xml = Write(
      {ratio, time}, {{{Cell(1.00004), Cell(2.155)}}, {{Cell(1.5), Cell(-0.004)}}, {{Cell(1.0)}}});
  EXPECT_HAS_TEXT(CellOf(xml, "A2"), "<v>1</v>");
  EXPECT_HAS_TEXT(CellOf(xml, "B2"), "<v>2.16</v>");
  EXPECT_HAS_TEXT(CellOf(xml, "B3"), "<v>0</v>");
  // What is 1 when rounded did not grow: it looks like the last row, not like the one between.
  const auto style = [&](const char* cell) {
    const std::string text = CellOf(xml, cell);
    return text.substr(text.find("s=\""), text.find('>') - text.find("s=\""));
  };
  EXPECT_EQ(style("A2"), style("A4"));
  EXPECT_NE(style("A2"), style("A3"));
}

TEST_F(WriteXlsxTest, SaysWhyThereIsNoNumber) {
  const std::string xml = Write({{"a"}, {"b"}}, {{{NoNumber::kNotCounted, NoNumber::kUnknown}}});
  EXPECT_HAS_TEXT(CellOf(xml, "A2"), ">/<");
  EXPECT_HAS_TEXT(CellOf(xml, "B2"), ">N/A<");
}

TEST_F(WriteXlsxTest, NeverMakesAFormulaOfWhatACaptureContains) {
  for (const char* text : {"=HYPERLINK(\"http://x\")", "+1+1", "-1", "@SUM(A1)", "{=1}"}) {
    SCOPED_TRACE(text);
    const std::string xml = Write({{text}}, {{{Cell(std::string(text))}}});
    EXPECT_EQ(xml.find("<f>"), std::string::npos);
    for (const char* cell : {"A1", "A2"}) {
      EXPECT_HAS_TEXT(CellOf(xml, cell), "t=\"inlineStr\"");
      EXPECT_HAS_TEXT(CellOf(xml, cell), std::string("<t>") + text[0]);
    }
    std::filesystem::remove(path_);
  }
}

TEST_F(WriteXlsxTest, ListsShowSharesAsPercentAndWrapLongTexts) {
  Report report = OneSheet({{"id", Format::kInteger},
                            {"ratio", Format::kPercent},
                            {"text", Format::kText, 60},
                            {"word", Format::kText, 12}},
                           {{{Cell(std::int64_t{5000}), Cell(0.25), Cell(std::string("long")),
                              Cell(std::string("short"))}}});
  report.sheets[0].look = Look::kList;
  WriteXlsx(report, dir_.path(), "report");
  const std::string styles = test::ZipMember(path_, "xl/styles.xml"),
                    xml = test::ZipMember(path_, kFirstSheet);
  // The format of a cell.
  const auto look = [&](const char* cell) {
    const std::string text = CellOf(xml, cell);
    std::size_t number = std::stoul(text.substr(text.find("s=\"") + 3)),
                at = styles.find("<cellXfs");
    for (at = styles.find("<xf ", at); number > 0; --number) at = styles.find("<xf ", at + 1);
    return styles.substr(at, styles.find("</xf>", at) - at);
  };
  const auto number_format = [&](const char* cell) {
    const std::string text = look(cell),
                      id = text.substr(text.find("numFmtId"),
                                       text.find("\" ") + 2 - text.find("numFmtId"));
    const std::size_t code = styles.find("formatCode=\"", styles.find("<numFmt " + id)) + 12;
    return styles.substr(code, styles.find('"', code) - code);
  };
  EXPECT_EQ(number_format("A2"), "General");
  EXPECT_EQ(number_format("B2"), "0.00%");
  EXPECT_HAS_TEXT(look("C2"), "wrapText=\"1\"");
  EXPECT_EQ(look("D2").find("wrapText"), std::string::npos);
}

// Of 60 characters 54 count: 108 make two lines, 109 three. A wide character counts twice.
TEST_F(WriteXlsxTest, RowsOfListsAreAsHighAsTheirTexts) {
  std::string wide;
  for (int i = 0; i < 55; ++i) wide += "卡";
  std::vector<Row> rows;
  for (const std::string& text :
       {std::string("one line"), std::string("two\nlines"), std::string(108, 'x'),
        std::string(109, 'x'), wide, "ten\n" + std::string(9, '\n'), std::string(100'000, '\n')}) {
    rows.push_back({{Cell(text), Cell(std::string("a\nb\nc"))}});
  }
  for (const bool merges : {false, true}) {
    Report report = OneSheet({{"text", Format::kText, 60}, {"word", Format::kText, 12}}, rows);
    report.sheets[0].look = Look::kList;
    report.sheets[0].columns[1].merges_equal = merges;  // another way to write the rows
    report.as_reference = merges;
    std::filesystem::remove(path_);
    WriteXlsx(report, dir_.path(), "report");
    const std::string xml = test::ZipMember(path_, kFirstSheet);
    const auto height_of = [&](int row) {
      const std::size_t begin = xml.find("<row r=\"" + std::to_string(row) + "\"");
      const std::string tag = xml.substr(begin, xml.find('>', begin) - begin);
      const std::size_t height = tag.find("ht=\"");
      EXPECT_EQ(height != std::string::npos, tag.find("customHeight=\"1\"") != std::string::npos)
          << tag;
      return height == std::string::npos ? 0 : std::stoi(tag.substr(height + 4));
    };
    const std::vector<int> heights = {height_of(2), height_of(3), height_of(4), height_of(5),
                                      height_of(6), height_of(7), height_of(8)};
    // Three lines that do not break are a row of one.
    const int one_line = merges ? 0 : 13;
    EXPECT_EQ(heights, (std::vector<int>{one_line, 30, 30, 45, 45, 165, 405})) << merges;
  }
}

TEST_F(WriteXlsxTest, KeepsTabsThatIndentLabels) {
  const std::string xml = Write({{"Index"}}, {{{Cell(std::string("\t\tWait"))}}});
  EXPECT_HAS_TEXT(CellOf(xml, "A2"), "<t xml:space=\"preserve\">\t\tWait</t>");
}

TEST_F(WriteXlsxTest, IsValidXmlWhateverNamesHold) {
  Report report = OneSheet({{"a\xFF"}, {"b"}}, {{{Cell(std::string("\x1b[31m\xFF")), Cell(1.0)}}});
  report.sheets[0].banners = {{0, 1, "Base Profiling: \xFF", Side::kBase}};
  WriteXlsx(report, dir_.path(), "report");
  const std::string xml = test::ZipMember(path_, kFirstSheet);
  EXPECT_HAS_TEXT(CellOf(xml, "A1"), ">Base Profiling: \xEF\xBF\xBD<");
  EXPECT_HAS_TEXT(CellOf(xml, "A3"), ">a\xEF\xBF\xBD<");
  EXPECT_HAS_TEXT(CellOf(xml, "A4"), ">\\x1b[31m\xEF\xBF\xBD<");
}

TEST_F(WriteXlsxTest, CutsTextsThatNoCellCanHold) {
  const std::string xml =
      Write({{"a"}}, {{{Cell(std::string(32767, 'w'))}}, {{Cell(std::string(41234, 'x'))}}});
  EXPECT_HAS_TEXT(CellOf(xml, "A2"), ">" + std::string(32767, 'w') + "<");
  // The mark has 27 characters.
  EXPECT_HAS_TEXT(CellOf(xml, "A3"),
                  ">" + std::string(32740, 'x') + " \xE2\x80\xA6 [cut: 41,234 characters]<");
}

TEST_F(WriteXlsxTest, NotesWhichTextsWereCut) {
  const Cell text = std::string(50, 'x');
  const Report report =
      OneSheet({{"a"}, {"b"}}, {{{Cell(), Cell()}}, {{Cell(), text}}, {{text, text}}});
  std::vector<std::string> notes;
  writers::WriteXlsxFile(report, path_, notes, {.characters = 40});
  EXPECT_EQ(notes, (std::vector<std::string>{
                       "Sheet: 3 texts are longer than the 40 characters that a cell of a workbook"
                       " holds, and cut there; the first is Sheet!B3"}));
}

TEST_F(WriteXlsxTest, ContinuesLongSheetsOnFurtherOnes) {
  Report report = OneSheet({{"a"}, {"b"}}, {});
  for (int i = 1; i <= 5; ++i) report.sheets[0].rows.push_back({{Cell(std::int64_t{i}), Cell()}});
  report.sheets[0].banners = {{0, 1, "Base Profiling", Side::kBase}};
  std::vector<std::string> notes;
  writers::WriteXlsxFile(report, path_, notes, {.rows = 5});  // two below the headers
  const std::string book = test::ZipMember(path_, "xl/workbook.xml");
  EXPECT_HAS_TEXT(book, "name=\"Sheet\" ");
  EXPECT_HAS_TEXT(book, "name=\"Sheet (2)\"");
  EXPECT_HAS_TEXT(book, "name=\"Sheet (3)\"");
  const std::string second = test::ZipMember(path_, kSecondSheet);
  EXPECT_HAS_TEXT(second, "<mergeCell ref=\"A1:B1\"/>");
  EXPECT_HAS_TEXT(CellOf(second, "A1"), ">Base Profiling<");
  EXPECT_HAS_TEXT(CellOf(second, "A3"), ">a<");
  EXPECT_HAS_TEXT(CellOf(second, "A4"), "<v>3</v>");
  EXPECT_HAS_TEXT(CellOf(second, "A5"), "<v>4</v>");
  EXPECT_EQ(CellOf(second, "A6"), "");
  EXPECT_HAS_TEXT(CellOf(test::ZipMember(path_, "xl/worksheets/sheet3.xml"), "A4"), "<v>5</v>");
  EXPECT_EQ(notes, (std::vector<std::string>{"Sheet: 5 rows are more than a sheet of a workbook"
                                             " holds; they continue on Sheet (2) to (3)"}));
}

TEST_F(WriteXlsxTest, WritesTheSameRowsWithAnyNumberOfJobs) {
  Report report = OneSheet({{"a"}, {"b"}}, {});
  for (int i = 1; i <= 30000; ++i) {  // more than one worker compresses at a time
    report.sheets[0].rows.push_back({{Cell(std::int64_t{i}), "name " + std::to_string(i % 7)}});
  }
  report.sheets.push_back(report.sheets[0]);
  report.sheets[1].name = "Another";
  std::vector<std::string> notes;
  SetJobs(1);
  writers::WriteXlsxFile(report, path_, notes);
  const std::string first = test::ZipMember(path_, kFirstSheet);
  SetJobs(4);
  writers::WriteXlsxFile(report, path_, notes);
  SetJobs(0);
  EXPECT_HAS_TEXT(CellOf(first, "A30001"), "<v>30000</v>");
  EXPECT_HAS_TEXT(CellOf(first, "B30001"), ">name 5<");
  EXPECT_EQ(test::ZipMember(path_, kFirstSheet), first);
  EXPECT_EQ(CellOf(test::ZipMember(path_, kSecondSheet), "B30001"), CellOf(first, "B30001"));
}

TEST_F(WriteXlsxTest, KeepsRowsThatJustFitOnOneSheet) {
  const Report report = OneSheet({{"a"}}, {{{Cell(1.0)}}, {{Cell(2.0)}}});
  std::vector<std::string> notes;
  writers::WriteXlsxFile(report, path_, notes, {.rows = 3});
  EXPECT_EQ(test::ZipMember(path_, kSecondSheet), "");
  EXPECT_TRUE(notes.empty());
}

TEST_F(WriteXlsxTest, EndsWithTheNotes) {
  Report report = OneSheet({{"a"}}, {{{Cell(std::string(300, 'x'))}}});
  report.notes = {"no database"};
  std::vector<std::string> notes;
  writers::WriteXlsxFile(report, path_, notes, {.characters = 200});
  EXPECT_HAS_TEXT(test::ZipMember(path_, "xl/workbook.xml"), "name=\"Notes\"");
  const std::string xml = test::ZipMember(path_, kSecondSheet);
  EXPECT_HAS_TEXT(CellOf(xml, "A1"), ">Note<");
  EXPECT_HAS_TEXT(CellOf(xml, "A2"), ">no database<");
  EXPECT_HAS_TEXT(CellOf(xml, "A3"), ">Sheet: 1 text is longer");
  EXPECT_HAS_TEXT(xml, "width=\"100.7109375\"");
}

TEST_F(WriteXlsxTest, HasNoNotesWithoutNotes) {
  Write({{"a"}}, {});
  EXPECT_EQ(test::ZipMember(path_, kSecondSheet), "");
}

TEST_F(WriteXlsxTest, MakesOneCellOfEqualCellsWhereTheColumnsBeforeAreEqualToo) {
  std::vector<Column> columns = {{"parent"}, {"module"}, {"op"}};
  columns[0].merges_equal = columns[1].merges_equal = true;
  std::vector<Row> rows;
  for (const auto& [parent, module] : std::vector<std::pair<std::string, std::string>>{
           {"Net", "Linear"}, {"Net", "Linear"}, {"Net", "Act"}, {"", "Act"}, {"", "Act"}}) {
    rows.push_back({{parent, module, std::string("same")}});
  }
  Report report = OneSheet(columns, rows);
  WriteXlsx(report, dir_.path(), "report");
  // Rows that can be sorted have all their cells.
  const std::string rows_alone = test::ZipMember(path_, kFirstSheet);
  EXPECT_EQ(rows_alone.find("mergeCell"), std::string::npos);
  EXPECT_HAS_TEXT(CellOf(rows_alone, "A4"), ">Net<");
  std::filesystem::remove(path_);
  report.as_reference = true;
  WriteXlsx(report, dir_.path(), "report");
  const std::string xml = test::ZipMember(path_, kFirstSheet);
  EXPECT_HAS_TEXT(xml, "<mergeCells count=\"4\">");
  for (const char* range : {"A2:A4", "A5:A6", "B2:B3", "B5:B6"}) {  // not B4:B6
    EXPECT_HAS_TEXT(xml, std::string("<mergeCell ref=\"") + range + '"');
  }
}

TEST_F(WriteXlsxTest, PutsABannerAboveASingleColumn) {
  Report report = OneSheet({{"a"}}, {});
  report.sheets[0].banners = {{0, 0, "Base Profiling", Side::kBase}};
  WriteXlsx(report, dir_.path(), "report");
  EXPECT_HAS_TEXT(CellOf(test::ZipMember(path_, kFirstSheet), "A1"), ">Base Profiling<");
}

TEST_F(WriteXlsxTest, PutsBannersAboveTheColumns) {
  Report report = OneSheet({{"a"}, {"b"}}, {{{Cell(1.0), Cell(2.0)}}});
  report.sheets[0].banners.push_back({0, 1, "Base Profiling", Side::kBase});
  WriteXlsx(report, dir_.path(), "report");
  const std::string xml = test::ZipMember(path_, kFirstSheet);
  EXPECT_HAS_TEXT(xml, "<mergeCell ref=\"A1:B1\"/>");
  EXPECT_HAS_TEXT(CellOf(xml, "B4"), "<v>2</v>");
}

// Each of the 17 characters has three bytes, the letters before them have one.
TEST_F(WriteXlsxTest, CutsNamesOfSheetsBetweenCharacters) {
  const std::string character = "\xE5\x9F\xBA";
  std::string name = "1234567890";
  for (int i = 0; i < 17; ++i) name += character;
  Report report = OneSheet({{"a"}}, {});
  report.sheets[0].name = name;
  std::vector<std::string> notes;
  writers::WriteXlsxFile(report, path_, notes, {});
  EXPECT_HAS_TEXT(test::ZipMember(path_, "xl/workbook.xml"), "name=\"" + name + "\" ");
  report.sheets[0].name = "12345" + name;  // one more than fits
  writers::WriteXlsxFile(report, path_, notes, {});
  EXPECT_HAS_TEXT(test::ZipMember(path_, "xl/workbook.xml"),
                  "name=\"12345" + name.substr(0, name.size() - character.size()) + "\" ");
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
