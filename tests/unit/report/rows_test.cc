// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "mpa/report/report.h"

namespace mpa {
namespace {

// Row i holds the square of i.
Rows Squares(std::size_t count, std::size_t* made = nullptr) {
  return {count, [made](std::size_t i) {
            if (made != nullptr) ++*made;
            Row row;
            row.cells = {static_cast<std::int64_t>(i * i)};
            row.rank = i;
            return row;
          }};
}

std::vector<std::int64_t> Numbers(const Rows& rows) {
  std::vector<std::int64_t> numbers;
  for (const Row& row : rows) numbers.push_back(std::get<std::int64_t>(row.cells[0]));
  return numbers;
}

TEST(Rows, AreMadeWhenTheyAreRead) {
  std::size_t made = 0;
  const Rows rows = Squares(1000, &made);
  EXPECT_EQ(rows.size(), 1000u);
  EXPECT_EQ(made, 0u);
  EXPECT_EQ(std::get<std::int64_t>(rows[30].cells[0]), 900);
  EXPECT_EQ(rows[30].rank, 30u);
  EXPECT_EQ(made, 1u) << "the cells of a row are read one by one";
}

TEST(Rows, SomeStayWhileOthersAreRead) {
  const Rows rows = Squares(10), others = Squares(10);
  const Row &first = rows[2], &second = others[2], &third = rows[3];
  EXPECT_EQ(std::get<std::int64_t>(first.cells[0]), 4);
  EXPECT_EQ(std::get<std::int64_t>(second.cells[0]), 4);
  EXPECT_EQ(std::get<std::int64_t>(third.cells[0]), 9);
}

TEST(Rows, AreStoredBeforeTheyChange) {
  Rows rows = Squares(3);
  const Rows copy = rows;
  rows.push_back({{std::int64_t{7}}});
  std::ranges::reverse(rows);
  EXPECT_FALSE(rows.AreMade());
  EXPECT_EQ(Numbers(rows), (std::vector<std::int64_t>{7, 4, 1, 0}));
  EXPECT_TRUE(copy.AreMade());
  EXPECT_EQ(Numbers(copy), (std::vector<std::int64_t>{0, 1, 4}));
}

}  // namespace
}  // namespace mpa
