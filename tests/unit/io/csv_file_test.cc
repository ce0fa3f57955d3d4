// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/csv_file.h"

#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using test::ErrorOf;
using test::TempDir;

class CsvFileTest : public ::testing::Test {
 protected:
  std::filesystem::path Write(std::string_view content) { return dir_.Write("data.csv", content); }

  TempDir dir_;
};

using Cells = std::vector<std::string>;
using Rows = std::vector<Cells>;

// All rows, as the cells below the headers a, b and c.
Rows ReadRows(const std::filesystem::path& path) {
  CsvFile csv(path);
  Rows rows;
  while (csv.Next()) {
    rows.push_back({std::string(csv[csv.Find("a")]), std::string(csv[csv.Find("b")]),
                    std::string(csv[csv.Find("c")])});
  }
  return rows;
}

TEST_F(CsvFileTest, FindsCellsByTheNameOfTheirColumn) {
  CsvFile csv(Write("x,b,a\n1,2,3\n"));
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv[csv.Require("a")], "3");
  EXPECT_EQ(csv[csv.Find("b")], "2");
  EXPECT_FALSE(csv.Next());
}

TEST_F(CsvFileTest, UnquotesCells) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n"
                           "\"1,5\",\"say \"\"hi\"\"\",\"\"\n")),
            (Rows{{"1,5", "say \"hi\"", ""}}));
}

TEST_F(CsvFileTest, KeepsTheQuotesThatShapesAreWrittenIn) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n\"\"\"8,128;128\"\"\",2,3\n")),
            (Rows{{"\"8,128;128\"", "2", "3"}}));
}

TEST_F(CsvFileTest, TakesAQuoteInsideAPlainCellAsALetter) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n5\" disk,2,3\n4,5,6\n")),
            (Rows{{"5\" disk", "2", "3"}, {"4", "5", "6"}}));
}

TEST_F(CsvFileTest, CutsBlanksAndTabsAroundCells) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n 1 ,\t2\t,3\t\n")), (Rows{{"1", "2", "3"}}));
}

TEST_F(CsvFileTest, ReadsWindowsLineEnds) {
  EXPECT_EQ(ReadRows(Write("a,b,c\r\n1,2,3\r\n4,5,6\r\n")),
            (Rows{{"1", "2", "3"}, {"4", "5", "6"}}));
}

TEST_F(CsvFileTest, ReadsALastLineWithoutLineEnd) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n1,2,3")), (Rows{{"1", "2", "3"}}));
}

TEST_F(CsvFileTest, IgnoresAByteOrderMark) {
  EXPECT_EQ(ReadRows(Write("\xEF\xBB\xBF"
                           "a,b,c\n1,2,3\n")),
            (Rows{{"1", "2", "3"}}));
}

TEST_F(CsvFileTest, FillsShortRowsWithEmptyCells) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n1,2,3\n4\n7,8,9\n")),
            (Rows{{"1", "2", "3"}, {"4", "", ""}, {"7", "8", "9"}}));
}

TEST_F(CsvFileTest, IgnoresCellsBehindTheLastHeader) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n1,2,3,4,5\n")), (Rows{{"1", "2", "3"}}));
}

TEST_F(CsvFileTest, SkipsBlankLines) {
  EXPECT_EQ(ReadRows(Write("\na,b,c\n\n\n1,2,3\n\n")), (Rows{{"1", "2", "3"}}));
}

TEST_F(CsvFileTest, KeepsLineBreaksInsideQuotes) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n1,\"first\n\nthird\",3\n4,5,6\n")),
            (Rows{{"1", "first\n\nthird", "3"}, {"4", "5", "6"}}));
}

TEST_F(CsvFileTest, ReadsAQuotedCellThatNeverEndsUpToTheEndOfTheFile) {
  EXPECT_EQ(ReadRows(Write("a,b,c\n1,\"2,3\n4,5,6\n")), (Rows{{"1", "2,3\n4,5,6", ""}}));
}

TEST_F(CsvFileTest, RefusesAQuotedCellThatTakesTheRestOfALargeFile) {
  std::string text = "a,b,c\n1,\"2,3\n";
  for (int i = 0; i < 300'000; ++i) text += "4,5,6\n";
  const auto path = Write(text);
  const Error error = test::ErrorOf([&] { ReadRows(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), ":2: a cell begins with a quote and does not end");
}

TEST_F(CsvFileTest, RefusesRowsOfMoreCellsThanAnyTableHas) {
  const auto path = Write("a,b,c\n1,2,3\n" + std::string(1'000'000, ',') + "\n");
  const Error error = test::ErrorOf([&] { ReadRows(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), ":3: more than 10000 cells");
}

TEST_F(CsvFileTest, GivesEmptyCellsForAColumnThatIsNotThere) {
  CsvFile csv(Write("a,b\n1,2\n"));
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.Find("c"), std::nullopt);
  EXPECT_EQ(csv[csv.Find("c")], "");
}

TEST_F(CsvFileTest, NamesTheFileAndTheColumnThatIsMissing) {
  const CsvFile csv(Write("a,b\n1,2\n"));
  const Error error = ErrorOf([&] { csv.Require("Duration(us)"); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), (dir_ / "data.csv").string());
  EXPECT_HAS_TEXT(error.what(), "Duration(us)");
}

TEST_F(CsvFileTest, RefusesAnEmptyFile) {
  for (const char* content : {"", "\n\n"}) {
    const Error error = ErrorOf([&] { CsvFile csv(Write(content)); });
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_HAS_TEXT(error.what(), "data.csv");
    EXPECT_HAS_TEXT(error.what(), "empty");
  }
}

TEST_F(CsvFileTest, RefusesAFileThatIsNotThere) {
  const Error error = ErrorOf([&] { CsvFile csv(dir_ / "missing.csv"); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "missing.csv");
}

TEST_F(CsvFileTest, GivesThePlaceOfARowAsFileAndLine) {
  CsvFile csv(Write("a,b\n1,2\n\n3,\"x\ny\"\n5,6\n"));
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.Place(), "data.csv:2");
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.Place(), "data.csv:4");
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.Place(), "data.csv:6");
}

}  // namespace
}  // namespace mpa::io
