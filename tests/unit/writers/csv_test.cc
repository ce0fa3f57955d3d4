// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "support/failures.h"
#include "support/files.h"
#include "support/reports.h"
#include "writers/formats.h"

namespace mpa {
namespace {

using test::OneSheet;

class WriteCsvTest : public ::testing::Test {
 protected:
  std::string Write(const Report& report) {
    writers::WriteCsvFiles(report, path_);
    return test::ReadAll(path_ / "Sheet.csv");
  }
  std::string WriteCell(Cell cell) {
    const std::string text = Write(OneSheet({{"a"}}, {{{std::move(cell)}}}));
    return text.substr(3, text.size() - 5);  // between the header and the last line end
  }

  test::TempDir dir_;
  std::filesystem::path path_ = dir_ / "report_csv";
};

TEST_F(WriteCsvTest, HasTheKeysAsHeader) {
  Column time{"Time(us)"};
  time.side = Side::kComparison;
  time.unit = Unit::kNsShownAsUs;
  EXPECT_EQ(Write(OneSheet({{"Index"}, time}, {{{Cell(std::string("a")), Cell(std::int64_t{1500})}},
                                               {{Cell(std::string("b")), Cell()}}})),
            "index,comparison_time_us\r\n"
            "a,1.5\r\n"
            "b,\r\n");
}

TEST_F(WriteCsvTest, QuotesWhatWouldEndAField) {
  EXPECT_EQ(WriteCell(std::string("a,b")), "\"a,b\"");
}

TEST_F(WriteCsvTest, DoublesQuotes) { EXPECT_EQ(WriteCell(std::string("a\"b")), "\"a\"\"b\""); }

TEST_F(WriteCsvTest, QuotesLineEnds) { EXPECT_EQ(WriteCell(std::string("a\r\nb")), "\"a\r\nb\""); }

TEST_F(WriteCsvTest, LeavesNothingForSpreadsheetsToRun) {
  Report report = OneSheet({{"a"}}, {});
  for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "a=b", "/"}) {
    report.sheets[0].rows.push_back({{std::string(text)}});
  }
  report.sheets[0].rows.push_back({{Cell(-1.5)}});
  report.sheets[0].rows.push_back({{Cell(std::int64_t{-2})}});
  EXPECT_EQ(Write(report),
            "a\r\n"
            "'=1+1\r\n"
            "'+1\r\n"
            "'-1\r\n"
            "'@SUM(A1)\r\n"
            "'\tx\r\n"
            "\\x0dx\r\n"
            "a=b\r\n"
            "/\r\n"
            "-1.5\r\n"
            "-2\r\n");
}

TEST_F(WriteCsvTest, LeavesFieldsEmptyWhereThereIsNoNumber) {
  EXPECT_EQ(Write(OneSheet({{"a"}, {"b"}, {"c"}}, {{{Cell(std::numeric_limits<double>::infinity()),
                                                     NoNumber::kUnknown, Cell(1.25)}}})),
            "a,b,c\r\n,,1.25\r\n");
}

TEST_F(WriteCsvTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(WriteCell(std::string("\xFF")), "\xEF\xBF\xBD");
}

TEST_F(WriteCsvTest, GivesTheLevelOfIndentedRows) {
  EXPECT_EQ(Write(OneSheet({{"Index"}, {"n"}},
                           {{{Cell(std::string("Time")), Cell(1.0)}},
                            {{Cell(std::string("\tWait")), Cell(2.0)}, Emphasis::kNone, 1}})),
            "index,n,level\r\n"
            "Time,1,0\r\n"
            "Wait,2,1\r\n");
}

TEST_F(WriteCsvTest, WritesAFileForEachSheetAndForTheNotes) {
  Report report = OneSheet({{"a"}}, {});
  report.sheets.push_back(report.sheets[0]);
  report.sheets[1].name = "Other";
  report.notes = {"one", "two, three"};
  Write(report);
  EXPECT_EQ(test::ReadAll(path_ / "Other.csv"), "a\r\n");
  EXPECT_EQ(test::ReadAll(path_ / "Notes.csv"), "note\r\none\r\n\"two, three\"\r\n");
}

TEST_F(WriteCsvTest, HasNoNotesWithoutNotes) {
  Write(OneSheet({{"a"}}, {}));
  EXPECT_FALSE(std::filesystem::exists(path_ / "Notes.csv"));
}

TEST_F(WriteCsvTest, SaysWhereItCannotWrite) {
  const Error error = test::ErrorOf([&] { writers::WriteCsvFiles({}, dir_ / "missing/r_csv"); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_HAS_TEXT(error.what(), "missing/r_csv");
}

}  // namespace
}  // namespace mpa
