// SPDX-License-Identifier: Apache-2.0
// What text formats make of columns and cells.
#include "writers/sheet_values.h"

#include <gtest/gtest.h>

#include <limits>

namespace mpa::writers {
namespace {

Column Named(const std::string& name, Side side = Side::kNeither) {
  Column column{name};
  column.side = side;
  return column;
}

std::string KeyOf(const Column& column) {
  Sheet sheet;
  sheet.columns = {column};
  return ColumnKeys(sheet).at(0);
}

TEST(ColumnKeys, TellTheSideAndTheUnit) {
  EXPECT_EQ(KeyOf(Named("Duration(ms)", Side::kBase)), "base_duration_ms");
  EXPECT_EQ(KeyOf(Named("Duration(ms)", Side::kComparison)), "comparison_duration_ms");
  EXPECT_EQ(KeyOf(Named("Diff Duration(ms)")), "diff_duration_ms");
  EXPECT_EQ(KeyOf(Named("Duration Ratio", Side::kBase)), "base_duration_ratio");
  EXPECT_EQ(KeyOf(Named("Bandwidth(GB/s)")), "bandwidth_gb_s");
  EXPECT_EQ(KeyOf(Named("Ratio(%)")), "ratio_percent");
}

TEST(ColumnKeys, DoNotNameTheSideTwice) {
  EXPECT_EQ(KeyOf(Named("Base Total Time(us)", Side::kBase)), "base_total_time_us");
  EXPECT_EQ(KeyOf(Named("Comparison Calls", Side::kComparison)), "comparison_calls");
}

TEST(ColumnKeys, AreSnakeCase) {
  EXPECT_EQ(KeyOf(Named("Index")), "index");
  EXPECT_EQ(KeyOf(Named("OpType")), "op_type");
  EXPECT_EQ(KeyOf(Named("E2E Time")), "e2e_time");
  EXPECT_EQ(KeyOf(Named(" -- RDMA  Size --")), "rdma_size");
  EXPECT_EQ(KeyOf(Named("\xE6\xAD\xA5")), "column");
}

TEST(ColumnKeys, AreUnique) {
  Sheet sheet;
  sheet.columns = {Named("Name"), Named("Name"), Named("Name 2"), Named("name"), Named("Level")};
  sheet.rows = {{{}, Emphasis::kNone, 1}};
  EXPECT_EQ(ColumnKeys(sheet),
            (std::vector<std::string>{"name", "name_2", "name_2_2", "name_3", "level_2"}));
}

class ShownCellTest : public ::testing::Test {
 protected:
  Cell Shown(Cell cell, Unit unit = Unit::kNone, int indent = 0) {
    Sheet sheet;
    sheet.columns = {Named("a")};
    sheet.columns[0].unit = unit;
    return ShownCell(sheet, {{std::move(cell)}, Emphasis::kNone, indent}, 0);
  }
};

TEST_F(ShownCellTest, ConvertsNanoseconds) {
  const Cell nanoseconds = std::int64_t{1500250};
  EXPECT_EQ(Shown(nanoseconds, Unit::kNsShownAsMs), Cell(1.50025));
  EXPECT_EQ(Shown(nanoseconds, Unit::kNsShownAsUs), Cell(1500.25));
  EXPECT_EQ(Shown(nanoseconds), nanoseconds);
}

TEST_F(ShownCellTest, HasNoNumbersThatAreNone) {
  EXPECT_EQ(Shown(std::numeric_limits<double>::quiet_NaN()), Cell());
  EXPECT_EQ(Shown(std::numeric_limits<double>::infinity()),
            Cell(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(Shown(Cell()), Cell());
}

TEST_F(ShownCellTest, TakesTheIndentOffLabels) {
  EXPECT_EQ(Shown(std::string("\t\tWait"), Unit::kNone, 2), Cell(std::string("Wait")));
  EXPECT_EQ(Shown(std::string("\t"), Unit::kNone, 1), Cell(std::string()));
  EXPECT_EQ(Shown(std::string("\tWait")), Cell(std::string("\tWait")));
}

TEST_F(ShownCellTest, IsUtf8) {
  EXPECT_EQ(Shown(std::string("a\xFF")), Cell(std::string("a\xEF\xBF\xBD")));
}

TEST_F(ShownCellTest, IsEmptyBeyondTheEndOfARow) {
  Sheet sheet;
  sheet.columns = {Named("a"), Named("b")};
  EXPECT_EQ(ShownCell(sheet, {{Cell(1.0)}}, 1), Cell());
}

TEST(CaptureOf, IsThePathBehindTheTitle) {
  Sheet sheet;
  sheet.banners = {{1, 2, "Base Profiling: ./a: b", Side::kBase}};
  EXPECT_EQ(CaptureOf(sheet, Side::kBase), "./a: b");
  EXPECT_EQ(CaptureOf(sheet, Side::kComparison), std::nullopt);
}

TEST(WithThousands, PutsCommasBeforeEveryThreeDigits) {
  EXPECT_EQ(WithThousands("1"), "1");
  EXPECT_EQ(WithThousands("999"), "999");
  EXPECT_EQ(WithThousands("1000"), "1,000");
  EXPECT_EQ(WithThousands("-1234567.8912"), "-1,234,567.8912");
}

}  // namespace
}  // namespace mpa::writers
