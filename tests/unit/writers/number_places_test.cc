// SPDX-License-Identifier: Apache-2.0
#include "writers/number_places.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace mpa::writers {
namespace {

Sheet KernelSheet() {
  Sheet sheet;
  sheet.name = "Kernels";
  sheet.columns = {{"rank"}, {"type"}, {"count"}, {"SumNs"}, {"share(%)"}};
  sheet.rows = {{{std::int64_t{0}, "MatMulV2", std::int64_t{3}, std::int64_t{76'049'900}, 16.5}},
                {{std::int64_t{0}, "Conv2D", std::int64_t{3}, std::int64_t{63'000'000}, 13.6}},
                {{std::int64_t{1}, "Conv2D", std::int64_t{3}, std::int64_t{63'000'000}, 13.6}}};
  return sheet;
}

std::optional<RowPlace> PlaceOf(ShownNumber number) {
  return PlacesOf({std::move(number)}, {KernelSheet()}).front();
}

TEST(PlacesOf, FindsTheCellThatRoundsToTheNumberInItsUnit) {
  const auto place =
      PlaceOf({.value = 76.05, .decimals = 2, .unit = "ms", .text = "MatMulV2 76.05"});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->sheet, "Kernels");
  EXPECT_EQ(place->row, 0u);
  EXPECT_EQ(place->column, 3u);
  EXPECT_FALSE(PlaceOf({.value = 76.05, .decimals = 2, .unit = "us", .text = "MatMulV2"}));
  EXPECT_FALSE(PlaceOf({.value = 76.06, .decimals = 2, .unit = "ms", .text = "MatMulV2"}));
}

TEST(PlacesOf, TakesTheRowThatTheLineNames) {
  const ShownNumber of_rank{.value = 63,
                            .decimals = 3,
                            .unit = "ms",
                            .rank = std::int64_t{1},
                            .text = "Conv2D took 63.000 ms on rank 1"};
  const auto place = PlaceOf(of_rank);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->row, 2u);
}

TEST(PlacesOf, LeavesOutWhatCouldBeAnyOfSeveral) {
  EXPECT_FALSE(PlaceOf({.value = 3, .text = "3 collectives"}));
  EXPECT_FALSE(
      PlaceOf({.value = 63, .decimals = 3, .unit = "ms", .text = "the step takes 63.000 ms"}));
  // No other cell has as many digits alike.
  EXPECT_TRUE(
      PlaceOf({.value = 76.05, .decimals = 2, .unit = "ms", .text = "the longest takes 76.05 ms"}));
}

TEST(DecimalsIn, CountsThoseOfTheNumberInTheText) {
  EXPECT_EQ(DecimalsIn("rank 1 arrived 14.00 ms late", 14), 2);
  EXPECT_EQ(DecimalsIn("15.0 of 995.0 ms", 995), 1);
  EXPECT_EQ(DecimalsIn("3 of 13 ranks, 3.25 ms.", 3), 0);
  EXPECT_EQ(DecimalsIn("it takes 12.5.", 12.5), 1);
}

}  // namespace
}  // namespace mpa::writers
