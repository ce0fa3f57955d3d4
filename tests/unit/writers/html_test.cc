// SPDX-License-Identifier: Apache-2.0
#include "support/html.h"

#include <gtest/gtest.h>

#include <limits>

#include "mpa/writers/writers.h"
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
  report.story = {"end to end: +3 ms", "  +2 ms MatMul"};
  report.advice_cards.push_back(
      {"sync", Severity::kHigh, 3, "graph 1", "host", "the host waits", 2'500'000});
  report.notes = {"no steps"};
  const std::string page = HtmlOf(report);
  ExpectWellFormed(page);
  std::size_t last = 0;
  for (const char* text :
       {"<h1>times</h1>", "<p class=\"answer\">end to end: +3 ms</p>", "  +2 ms MatMul",
        "--edge:var(--high)", "graph 1 (host)", "saves up to 2.500 ms", "the host waits",
        "Sheet (1 row)", "rank 3 is late", "<li>no steps</li>",
        "\"columns\":[[\"MatMul\"],[\"1,234.500\"]]"}) {
    const std::size_t at = page.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_GT(at, last) << text;
    last = at;
  }
}

TEST(Html, HoldsAllRowsOfLongSheets) {
  std::vector<Row> rows;
  for (int i = 0; i < 1500; ++i) rows.push_back({{"row " + std::to_string(i), "same"}});
  const std::string page =
      HtmlOf(OneSheet({{"Name", Format::kText}, {"Kind", Format::kText}}, std::move(rows)));
  EXPECT_HAS_TEXT(page, "Sheet (1,500 rows)");
  EXPECT_HAS_TEXT(page, "\"row 1499\"]");
  // Of a column of few texts each stands there once.
  EXPECT_HAS_TEXT(page, "{\"of\":[\"same\"],\"at\":[0,0,");
}

Sheet TimesOfRanks() {
  Sheet sheet =
      OneSheet({{"rank", Format::kInteger},
                {"step", Format::kInteger},
                {"busyNs", Format::kInteger},
                {"startNs", Format::kInteger}},
               {{{std::int64_t{3}, std::int64_t{7}, std::int64_t{1'500'000}, std::int64_t{9}}},
                {{std::int64_t{4}, std::int64_t{7}, std::int64_t{2'500'000}, std::int64_t{9}}},
                {{std::int64_t{4}, std::int64_t{8}, std::int64_t{4'500'000}, std::int64_t{9}}}})
          .sheets[0];
  sheet.look = Look::kList;
  return sheet;
}

TEST(Html, DrawsTheChartsThatSheetsDeclare) {
  Report report;
  report.sheets = {TimesOfRanks()};
  EXPECT_EQ(HtmlOf(report).find("\"series\""), std::string::npos);  // nothing is guessed
  report.sheets[0].charts = {{.kind = Chart::Kind::kBars,
                              .title = "Busy",
                              .labels = {"rank"},
                              .values = {{"busyNs", Tint::kCompute}},
                              .measured = Measured::kNs,
                              .same = Chart::SameLabel::kMean,
                              .order = Chart::Order::kLargestFirst,
                              .culprits = {"3"}}};
  EXPECT_HAS_TEXT(
      HtmlOf(report),
      "\"title\":\"Busy\",\"unit\":\"ms\",\"label\":\"rank\",\"labels\":[\"3, culprit\",\"4\"],"
      "\"series\":[{\"name\":\"busy\",\"values\":[1.5,3.5],\"tint\":\"compute\"}]");
}

TEST(Html, SaysTheFirstSentenceOfTheScreenFirst) {
  Report report;
  report.lines = {
      "rank 3 holds up the others: it computes 7.53 ms a step, they 5.01 (+50 %, mostly",
      "  vector); they wait 2.02 ms for it", "  rank  ms"};
  const std::string page = HtmlOf(report);
  EXPECT_HAS_TEXT(page, "mostly vector); they wait 2.02 ms for it</p>");
  EXPECT_HAS_TEXT(page, "<summary>As on the terminal</summary>");
  EXPECT_HAS_TEXT(page, "<pre>  rank  ms\n</pre>");
}

TEST(Html, SaysWhatWasAnalysed) {
  Report report = OneSheet({{"Name", Format::kText}}, {{{"x"}}});
  report.facts = {{"ranks", "0-7"}};
  EXPECT_HAS_TEXT(HtmlOf(report), "<dt>ranks</dt><dd>0-7</dd>");
}

TEST(Html, TextsCannotBecomeMarkup) {
  Report report = OneSheet({{"<b>", Format::kText}}, {{{"<script>alert(1)</script>"}}});
  report.sheets[0].name = "<i>";
  report.story = report.notes = {"</pre><u>"};
  report.lines = {"</pre><u>"};
  report.screens.push_back({"<s>", {"<em>"}, {{"&\"\x1b"}}});
  const std::string page = HtmlOf(report);
  ExpectWellFormed(page);
  for (const char* text : {"<b>", "<script>alert", "<i>", "<u>", "<s>", "<em>"}) {
    EXPECT_EQ(page.find(text), std::string::npos) << text;
  }
  EXPECT_HAS_TEXT(page, "\"\\u003cscript>alert(1)\\u003c/script>\"");
  EXPECT_HAS_TEXT(page, "\"&\\\"\\u001b\"");
}

TEST(Html, ReportsMayHaveAPageOfTheirOwn) {
  Report report = OneSheet({{"Name", Format::kText}}, {{{"unseen"}}});
  report.page = Page{.title = "Own page", .lead = {"answer", "detail"}};
  const std::string page = HtmlOf(report);
  EXPECT_HAS_TEXT(page,
                  "<h1>Own page</h1>\n<p class=\"answer\">answer</p>\n<p class=\"dim\">detail</p>");
  EXPECT_EQ(page.find("unseen"), std::string::npos);
}

TEST(Html, ChartsHaveTheirNumbers) {
  Page page{.title = "Step"};
  PageChart chart{.kind = PageChart::Kind::kStacked, .title = "The steps", .unit = "ms"};
  chart.labels = {"7", "8"};
  chart.series = {{.name = "compute", .values = {3, 0.5}, .tint = Tint::kCompute},
                  {.name = "free", .values = {1, std::numeric_limits<double>::quiet_NaN()}}};
  page.sections.push_back({.charts = {chart}});
  const std::string html = FormatPage(page);
  ExpectWellFormed(html);
  EXPECT_HAS_TEXT(html, "<figure data-chart=\"0\"><figcaption>The steps</figcaption></figure>");
  EXPECT_HAS_TEXT(html,
                  "\"labels\":[\"7\",\"8\"],\"series\":[{\"name\":\"compute\",\"values\":[3,0.5],"
                  "\"tint\":\"compute\"},{\"name\":\"free\",\"values\":[1,null]}]");
}

// Only where the text says less; "" where there is no number.
TEST(Html, HasValuesBesideRoundedTexts) {
  const double infinite = std::numeric_limits<double>::infinity();
  const std::string page = HtmlOf(OneSheet(
      {{"Count", Format::kInteger},
       {"Mean", Format::kDecimals3},
       {"Time", Format::kDecimals2, 10, Side::kNeither, Unit::kNsShownAsUs},
       {"Large", Format::kDecimals2}},
      {{{std::int64_t{1234567}, 0.5, std::int64_t{1234567}, std::int64_t{1736410576409657781}}},
       {{std::int64_t{-5}, 0.12345, NoNumber::kUnknown, std::int64_t{2}}},
       {{std::int64_t{7}, infinite, std::int64_t{1500}, "text"}}}));
  EXPECT_HAS_TEXT(page,
                  "\"values\":{\"1\":[null,0.12345,\"\"],\"2\":[1234.567,\"\",null],"
                  "\"3\":[\"1736410576409657781\",2,null]}");
}

TEST(Html, HasTheLevelsOfTrees) {
  Report report = OneSheet({{"Name", Format::kText}}, {{{"all"}}, {{"part"}}});
  report.sheets[0].rows = std::vector<Row>{{.cells = {"all"}}, {.cells = {"part"}, .indent = 1}};
  report.screens.push_back({"", {"  Name", " ms"}, {{"step", "2"}, {"    part", "1"}}});
  const std::string page = HtmlOf(report);
  EXPECT_HAS_TEXT(page, "\"columns\":[[\"all\",\"part\"]],\"values\":{},\"levels\":[0,1]}");
  EXPECT_HAS_TEXT(page,
                  "\"headers\":[\"Name\", \"ms\"],\"numbers\":[],"
                  "\"columns\":[[\"step\",\"part\"],[\"2\",\"1\"]],\"levels\":[0,2]}");
}

TEST(Html, ChartsHaveTheirPlaces) {
  PageChart histogram{.kind = PageChart::Kind::kHistogram, .unit = "launches"};
  histogram.at = {0, 1, 10};
  histogram.unit_of_places = "us";
  histogram.marks = {{9, "aten::item"}};
  histogram.series = {{.name = "launches", .values = {3, 2}}};
  PageChart lines = histogram;
  lines.kind = PageChart::Kind::kLines;
  PageChart heat{.kind = PageChart::Kind::kHeat, .labels = {"0"}, .own_scale = true};
  PageChart distribution{.kind = PageChart::Kind::kDistribution, .labels = {"0"}};
  Page page{.title = "Step"};
  page.sections.push_back({.charts = {histogram, lines, heat, distribution}});
  const std::string html = FormatPage(page);
  const std::string places =
      "\"unit\":\"launches\",\"at\":[0,1,10],\"unit_x\":\"us\","
      "\"marks\":[{\"at\":9,\"label\":\"aten::item\"}],\"series\":[";
  EXPECT_HAS_TEXT(html, "{\"kind\":\"histogram\",\"title\":\"\"," + places);
  EXPECT_HAS_TEXT(html, "{\"kind\":\"lines\",\"title\":\"\"," + places);
  EXPECT_HAS_TEXT(html,
                  "\"kind\":\"heat\",\"title\":\"\",\"unit\":\"\",\"own_scale\":true,"
                  "\"labels\":[\"0\"]");
  EXPECT_HAS_TEXT(html,
                  "\"kind\":\"distribution\",\"title\":\"\",\"unit\":\"\",\"labels\":[\"0\"]");
}

TEST(Html, PagesOfTextsAloneNeedNoScript) {
  const Page page{.title = "Nothing", .lead = {"nothing was found"}};
  EXPECT_EQ(FormatPage(page).find("<script"), std::string::npos);
}

}  // namespace
}  // namespace mpa
