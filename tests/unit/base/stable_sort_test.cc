// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/stable_sort.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace mpa {
namespace {

struct Named {
  int number = 0;
  std::string name;
  bool operator==(const Named&) const = default;
};

TEST(StableSort, KeepsTheOrderOfEqualItems) {
  std::vector<Named> list = {{2, "a"}, {1, "b"}, {2, "c"}, {1, "d"}};
  StableSort(list, {}, &Named::number);
  EXPECT_EQ(list, (std::vector<Named>{{1, "b"}, {1, "d"}, {2, "a"}, {2, "c"}}));
  StableSort(list, std::ranges::greater(), &Named::number);
  EXPECT_EQ(list, (std::vector<Named>{{2, "a"}, {2, "c"}, {1, "b"}, {1, "d"}}));
}

TEST(StableSort, TakesListsThatAreShortOrInOrder) {
  std::vector<int> none, one = {7}, in_order = {1, 1, 2};
  StableSort(none);
  StableSort(one);
  StableSort(in_order);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(one, (std::vector<int>{7}));
  EXPECT_EQ(in_order, (std::vector<int>{1, 1, 2}));
}

TEST(StableSort, MovesItems) {
  std::vector<std::unique_ptr<int>> list;
  for (const int number : {3, 1, 2}) list.push_back(std::make_unique<int>(number));
  StableSort(list, [](const auto& a, const auto& b) { return *a < *b; });
  EXPECT_EQ(*list[0] * 100 + *list[1] * 10 + *list[2], 123);
}

}  // namespace
}  // namespace mpa
