// SPDX-License-Identifier: Apache-2.0
#include "support/html.h"

#include <gtest/gtest.h>

#include "mpa/writers/pages.h"
#include "support/failures.h"
#include "support/files.h"
#include "support/reports.h"
#include "writers/formats.h"

namespace mpa {
namespace {

using test::ExpectWellFormed;
using test::OneSheet;

std::string HtmlOf(const Report& report) {
  const test::TempDir dir;
  const auto path = dir / "times.html";
  writers::WriteHtmlFile(report, path);
  return test::ReadAll(path);
}

TEST(Html, AnswersFirst) {
  Report report = OneSheet({{"Name", Format::kText},
                            {"Time", Format::kDecimals3, 10, Side::kNeither, Unit::kNsShownAsUs}},
                           {{{"MatMul", std::int64_t{1'234'500}}}});
  report.lines = {"rank 3 is late"};
  report.story = {"MatMul: +2 ms"};
  report.findings.push_back(
      {"sync", Severity::kHigh, 3, "graph 1", "host", "the host waits", 2'500'000});
  report.notes = {"no steps"};
  const std::string page = HtmlOf(report);
  ExpectWellFormed(page);
  std::size_t last = 0;
  for (const char* text :
       {"<h1>times</h1>", "rank 3 is late", "<li>MatMul: +2 ms</li>", "--edge:var(--high)",
        "graph 1 (host)", "wins up to 2.500 ms", "the host waits", "Sheet (1 row)",
        "<td>MatMul</td><td class=\"n\">1,234.500</td>", "<li>no steps</li>"}) {
    const std::size_t at = page.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_GT(at, last) << text;
    last = at;
  }
}

TEST(Html, ShowsTheFirstRowsOfLongSheets) {
  std::vector<Row> rows;
  for (int i = 0; i < 1500; ++i) rows.push_back({{"row " + std::to_string(i)}});
  const std::string page = HtmlOf(OneSheet({{"Name", Format::kText}}, std::move(rows)));
  EXPECT_HAS_TEXT(page, "Sheet (the first 100 of 1,500 rows)");
  EXPECT_HAS_TEXT(page, "<td>row 99</td>");
  EXPECT_EQ(page.find("<td>row 100</td>"), std::string::npos);
}

TEST(Html, TextsCannotBecomeMarkup) {
  Report report = OneSheet({{"<b>", Format::kText}}, {{{"<script>alert(1)</script>"}}});
  report.sheets[0].name = "<i>";
  report.lines = report.story = report.notes = {"</pre><u>"};
  report.screens.push_back({"<s>", {"<em>"}, {{"&\"\x1b"}}});
  const std::string page = HtmlOf(report);
  ExpectWellFormed(page);
  for (const char* text : {"<b>", "<script", "<i>", "<u>", "<s>", "<em>"}) {
    EXPECT_EQ(page.find(text), std::string::npos) << text;
  }
  EXPECT_HAS_TEXT(page, "&amp;&quot;\\x1b");
}

TEST(Html, ReportsMayHaveAPageOfTheirOwn) {
  Report report = OneSheet({{"Name", Format::kText}}, {{{"unseen"}}});
  report.page = Page{.title = "Own page", .lead = {"answer", "detail"}};
  const std::string page = HtmlOf(report);
  EXPECT_HAS_TEXT(page, "<h1>Own page</h1>\n<p>answer</p>\n<p class=\"dim\">detail</p>");
  EXPECT_EQ(page.find("unseen"), std::string::npos);
}

TEST(Html, PiecesOfABarAreAsLongAsTheirTimes) {
  Page page{.title = "Step"};
  page.sections.push_back({.bar = {{"compute 3 ms", 3}, {"nothing", 0}, {"free 1 ms", 1}}});
  const std::string html = FormatPage(page);
  ExpectWellFormed(html);
  EXPECT_HAS_TEXT(html,
                  "<div style=\"flex:3 0 0;background:var(--c0)\" title=\"compute 3 ms\"></div>");
  EXPECT_HAS_TEXT(html,
                  "<div style=\"flex:1 0 0;background:var(--c2)\" title=\"free 1 ms\"></div>");
  EXPECT_EQ(html.find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace mpa
