// SPDX-License-Identifier: Apache-2.0
// What the CSV library does with rows that tables of the profiler have: why docs/how-it-works.md
// says that its cells are split by CsvFile. A test that fails here says that the reason is gone.
#include <csv.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpa/io/csv_file.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using Reader = ::io::CSVReader<2, ::io::trim_chars<' ', '\t'>, ::io::double_quote_escape<',', '"'>>;
constexpr auto kAnyOtherColumns = ::io::ignore_extra_column | ::io::ignore_missing_column;

// The second of two columns by the library, "thrown" for rows that it refuses.
std::vector<std::string> ByTheLibrary(const std::string& text) {
  Reader reader("table.csv", text.data(), text.data() + text.size());
  reader.read_header(kAnyOtherColumns, "a", "b");
  std::vector<std::string> cells;
  for (;;) {
    const char *a = nullptr, *b = nullptr;
    try {
      if (!reader.read_row(a, b)) return cells;
      cells.emplace_back(b != nullptr ? b : "missing");
    } catch (const ::io::error::base&) {
      cells.emplace_back("thrown");
    }
  }
}

std::vector<std::string> ByCsvFile(const std::string& text) {
  const test::TempDir directory;
  CsvFile csv(directory.Write("table.csv", text));
  std::vector<std::string> cells;
  while (csv.Next()) cells.emplace_back(csv[csv.Find("b")]);
  return cells;
}

using Cells = std::vector<std::string>;

TEST(CsvLibrary, SplitsPlainAndQuotedCellsAsCsvFileDoes) {
  const std::string text = "x,a,b\n1, 2 ,\"3,\"\"4\"\"\"\n";
  EXPECT_EQ(ByTheLibrary(text), Cells{"3,\"4\""});
  EXPECT_EQ(ByCsvFile(text), Cells{"3,\"4\""});
}

TEST(CsvLibrary, RefusesCellsOfSeveralLines) {
  const std::string text = "a,b\n1,\"first\nsecond\"\n3,4\n";
  EXPECT_EQ(ByTheLibrary(text), (Cells{"thrown", "thrown", "4"}));
  EXPECT_EQ(ByCsvFile(text), (Cells{"first\nsecond", "4"}));
}

TEST(CsvLibrary, RefusesAQuoteWithinAPlainCell) {
  const std::string text = "a,b\n5\" disk,2\n3,4\n";
  EXPECT_EQ(ByTheLibrary(text), (Cells{"thrown", "4"}));
  EXPECT_EQ(ByCsvFile(text), (Cells{"2", "4"}));
}

TEST(CsvLibrary, RefusesRowsOfAnotherLength) {
  const std::string text = "a,b\n1,2,3\n4\n";
  EXPECT_EQ(ByTheLibrary(text), (Cells{"thrown", "thrown"}));
  EXPECT_EQ(ByCsvFile(text), (Cells{"2", ""}));
}

}  // namespace
}  // namespace mpa::io
