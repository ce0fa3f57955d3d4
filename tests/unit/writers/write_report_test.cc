// SPDX-License-Identifier: Apache-2.0
// Reports of several types: their names, and that all of them come or none.
#include <gtest/gtest.h>

#include <algorithm>

#include "mpa/writers/writers.h"
#include "support/failures.h"
#include "support/files.h"
#include "support/reports.h"

namespace mpa {
namespace {

using Names = std::vector<std::string>;

std::vector<ExportType> TypesOfComparisons() {
  std::vector<ExportType> types;
  for (const ExportType& type : AllExportTypes()) {
    if (type.IsFor(ReportKind::kComparison) && type.name != "columns") types.push_back(type);
  }
  return types;
}

class WriteReportTest : public ::testing::Test {
 protected:
  WrittenReport Write() {
    return WriteReport(report_, dir_.path(), "report", TypesOfComparisons());
  }

  Report report_ = test::OneSheet({{"a"}}, {{{Cell(1.0)}}});
  test::TempDir dir_;
};

TEST_F(WriteReportTest, NamesEachTypeByItsEnding) {
  const WrittenReport written = Write();
  EXPECT_EQ(dir_.Names(), (Names{"report.db", "report.html", "report.json", "report.md",
                                 "report.xlsx", "report_csv"}));
  EXPECT_EQ(written.paths,
            (std::vector{dir_ / "report.xlsx", dir_ / "report.db", dir_ / "report.json",
                         dir_ / "report_csv", dir_ / "report.md", dir_ / "report.html"}));
  EXPECT_EQ(test::ReadAll(dir_ / "report_csv/Sheet.csv"), "a\r\n1\r\n");
}

TEST_F(WriteReportTest, NumbersAllFilesWhenOneNameIsTaken) {
  dir_.Write("report.md", "old");
  dir_.Write("report01_csv/old.csv", "old");
  Write();
  EXPECT_EQ(dir_.Names(), (Names{"report.md", "report01_csv", "report02.db", "report02.html",
                                 "report02.json", "report02.md", "report02.xlsx", "report02_csv"}));
  EXPECT_EQ(test::ReadAll(dir_ / "report.md"), "old");
}

TEST_F(WriteReportTest, DoesNotReplaceAnEmptyDirectory) {
  std::filesystem::create_directory(dir_ / "report_csv");
  Write();
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "report_csv"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "report01_csv/Sheet.csv"));
}

TEST_F(WriteReportTest, WritesNothingWhenOneTypeFails) {
  report_.sheets[0].name = "not/allowed";  // only JSON and Markdown could
  std::vector<ExportType> types = TypesOfComparisons();
  std::reverse(types.begin(), types.end());
  EXPECT_THROW(WriteReport(report_, dir_.path(), "report", types), Error);
  EXPECT_EQ(dir_.Names(), Names{});
}

}  // namespace
}  // namespace mpa
