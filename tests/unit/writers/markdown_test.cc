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

std::string MarkdownOf(const Report& report) {
  const test::TempDir dir;
  writers::WriteMarkdownFile(report, dir / "report.md");
  return test::ReadAll(dir / "report.md");
}

TEST(WriteMarkdown, GoesFromTheStoryToTheNotes) {
  Column time{"Time(ms)"};
  time.format = Format::kDecimals2;
  time.side = Side::kBase;
  time.unit = Unit::kNsShownAsMs;
  Column ratio{"Diff Ratio"};
  ratio.format = Format::kPercent;
  Column number{"Number"};
  number.format = Format::kInteger;
  Report report =
      OneSheet({{"Index"}, time, ratio, number},
               {{{Cell(std::string("All")), Cell(std::int64_t{1234500000}), Cell(1.000005),
                  Cell(std::int64_t{12345})}},
                {{Cell(std::string("\tWait")), Cell(),
                  Cell(std::numeric_limits<double>::infinity()), Cell(NoNumber::kNotCounted)},
                 Emphasis::kNone,
                 1}});
  report.sheets[0].banners = {{1, 1, "Base Profiling: ./old", Side::kBase}};
  report.story = {"slower"};
  report.screens = {{"Times", {"", "E2E"}, {{"NPU", "1s"}}}};
  report.notes = {"no database"};
  EXPECT_EQ(MarkdownOf(report),
            "**slower**\n"
            "\n"
            "## Times\n"
            "\n"
            "|  | E2E |\n"
            "| --- | --- |\n"
            "| NPU | 1s |\n"
            "\n"
            "## Sheet\n"
            "\n"
            "- Base Profiling: ./old\n"
            "\n"
            "| Index | Base Time(ms) | Diff Ratio | Number |\n"
            "| --- | --- | --- | --- |\n"
            "| All | 1,234.50 | 100.00% | 12,345 |\n"
            "| &emsp;Wait |  | INF | / |\n"
            "\n"
            "## Notes\n"
            "\n"
            "- no database\n"
            "\n");
}

TEST(WriteMarkdown, ShowsTheFirstTwentyRows) {
  const auto with_rows = [](int count) {
    std::vector<Row> rows;
    for (int i = 1; i <= count; ++i) rows.push_back({{Cell(std::int64_t{i})}});
    return MarkdownOf(OneSheet({{"a"}}, std::move(rows)));
  };
  EXPECT_FALSE(test::Contains(with_rows(20), "more row"));
  EXPECT_HAS_TEXT(with_rows(20), "| 20 |\n");
  EXPECT_HAS_TEXT(with_rows(21), "| 20 |\n\n\xE2\x80\xA6 and 1 more row\n");
  EXPECT_HAS_TEXT(with_rows(1300), "| 20 |\n\n\xE2\x80\xA6 and 1,280 more rows\n");
}

TEST(WriteMarkdown, KeepsNamesWithinTheirCells) {
  const std::string text = MarkdownOf(OneSheet(
      {{"a|b"}}, {{{Cell(std::string("a|b\nc\\|d"))}}, {{Cell(std::string("\x1b\xFF"))}}}));
  EXPECT_HAS_TEXT(text, "| a&#124;b |\n| --- |\n| a&#124;b c&#92;&#124;d |\n");
  EXPECT_HAS_TEXT(text, "| \\x1b\xEF\xBF\xBD |\n");
}

TEST(WriteMarkdown, HasNoHtmlAndNoLinksFromNames) {
  Report report = OneSheet({{"a"}}, {{{Cell(std::string("<img src=x>&amp;"))}},
                                     {{Cell(std::string("![x](http://x)`*"))}}});
  report.notes = {"<b>"};
  const std::string text = MarkdownOf(report);
  EXPECT_HAS_TEXT(text, "| &#60;img src=x&#62;&#38;amp; |");
  EXPECT_HAS_TEXT(text, "| !&#91;x&#93;(http://x)&#96;&#42; |");
  EXPECT_HAS_TEXT(text, "- &#60;b&#62;\n");
}

}  // namespace
}  // namespace mpa
