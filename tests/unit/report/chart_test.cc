// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/chart.h"

#include <gtest/gtest.h>

#include <utility>

namespace mpa {
namespace {

std::pair<std::string_view, double> UnitOf(Measured measured, double largest) {
  const ChartUnit unit = ChartUnitOf(measured, largest);
  return {unit.name, unit.size};
}

TEST(ChartUnitOf, FitsTheLargestTime) {
  using Unit = std::pair<std::string_view, double>;
  EXPECT_EQ(UnitOf(Measured::kNs, 999'999), (Unit{"us", 1e3}));
  EXPECT_EQ(UnitOf(Measured::kNs, 1'000'000), (Unit{"ms", 1e6}));
  EXPECT_EQ(UnitOf(Measured::kNs, 10e9), (Unit{"s", 1e9}));
  EXPECT_EQ(UnitOf(Measured::kUs, 5), (Unit{"us", 1}));
  EXPECT_EQ(UnitOf(Measured::kUs, 20'000), (Unit{"ms", 1e3}));
  EXPECT_EQ(UnitOf(Measured::kMs, 100'000), (Unit{"s", 1e3}));
}

TEST(ChartUnitOf, DrawsSharesAsPercent) {
  EXPECT_EQ(UnitOf(Measured::kShare, 1).first, "%");
  EXPECT_EQ(0.25 / UnitOf(Measured::kShare, 1).second, 25);
  EXPECT_EQ(UnitOf(Measured::kPercent, 100).second, 1);
}

TEST(LanesOf, HasTheUnitOfItsLength) {
  const PageChart chart = LanesOf({.title = "Lanes", .begin = 5, .end = 2'000'000'005});
  EXPECT_EQ(chart.title, "Lanes");
  EXPECT_EQ(chart.unit, "ms");
}

}  // namespace
}  // namespace mpa
