// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/chart.h"

#include <gtest/gtest.h>

#include "mpa/report/report.h"

namespace mpa {
namespace {

Sheet SheetWith(const std::vector<std::pair<std::string, Format>>& columns) {
  Sheet sheet;
  sheet.name = "Times";
  for (const auto& [name, format] : columns)
    sheet.columns.push_back({.name = name, .format = format});
  return sheet;
}

TEST(StandardChart, DrawsTheFirstColumnsOfNumbersByTheFirstText) {
  const auto chart = StandardChart(SheetWith({{"Rank", Format::kInteger},
                                              {"Type", Format::kText},
                                              {"Count", Format::kInteger},
                                              {"SumNs", Format::kInteger}}));
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->kind, Chart::Kind::kBars);
  EXPECT_EQ(chart->sheet, "Times");
  EXPECT_EQ(chart->label, "Rank");
  EXPECT_EQ(chart->values, (std::vector<std::string>{"Count", "SumNs"}));
}

TEST(StandardChart, DrawsBoxesWhereThereAreQuartiles) {
  const auto chart = StandardChart(SheetWith({{"Type", Format::kText},
                                              {"MinNs", Format::kInteger},
                                              {"Q1Ns", Format::kInteger},
                                              {"MedianNs", Format::kInteger},
                                              {"Q3Ns", Format::kInteger},
                                              {"MaxNs", Format::kInteger}}));
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->kind, Chart::Kind::kBoxes);
  EXPECT_EQ(chart->values,
            (std::vector<std::string>{"MinNs", "Q1Ns", "MedianNs", "Q3Ns", "MaxNs"}));
}

TEST(StandardChart, OfTextsAloneIsNone) {
  EXPECT_FALSE(StandardChart(SheetWith({{"Rank", Format::kInteger}, {"Name", Format::kText}})));
  EXPECT_FALSE(StandardChart(Sheet()));
}

TEST(ChartsOf, PrefersThoseOfTheReport) {
  Report report;
  report.sheets.push_back(SheetWith({{"Type", Format::kText}, {"SumNs", Format::kInteger}}));
  ASSERT_EQ(ChartsOf(report).size(), 1u);
  EXPECT_EQ(ChartsOf(report)[0].values, std::vector<std::string>{"SumNs"});
  report.charts.push_back({Chart::Kind::kBars, "Times", "Type", {"Other"}});
  ASSERT_EQ(ChartsOf(report).size(), 1u);
  EXPECT_EQ(ChartsOf(report)[0].values, std::vector<std::string>{"Other"});
}

}  // namespace
}  // namespace mpa
