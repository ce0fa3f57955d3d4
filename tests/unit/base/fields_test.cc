// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace mpa {
namespace {

struct Inner {
  int number = 1;
  std::string text;
};

struct Record {
  std::int64_t time = -1;
  std::string name;
  std::optional<double> share;
  std::array<double, 6> loads{};
  Inner inner;
  std::map<std::string, Inner> by_name;
  bool flag = false;
  std::pair<int, int> range;
};

class WithConstructor {
 public:
  explicit WithConstructor(int) {}
};

// Arrays, optionals and structs within count as one field each.
TEST(FieldsOf, CountsFields) {
  EXPECT_EQ(kFields<Inner>, 2u);
  EXPECT_EQ(kFields<Record>, 8u);
}

TEST(FieldsOf, GivesReferencesInOrder) {
  Record record;
  const auto fields = FieldsOf(record);
  std::get<0>(fields) = 7;
  std::get<7>(fields) = {1, 2};
  std::get<4>(fields).text = "inner";
  EXPECT_EQ(record.time, 7);
  EXPECT_EQ(record.range, (std::pair<int, int>(1, 2)));
  EXPECT_EQ(record.inner.text, "inner");
  const Record& unchanged = record;
  EXPECT_EQ(&std::get<1>(FieldsOf(unchanged)), &record.name);
}

TEST(PlainStruct, LeavesOtherTypesAlone) {
  EXPECT_TRUE(PlainStruct<Record>);
  EXPECT_FALSE((PlainStruct<std::array<double, 6>>));
  EXPECT_FALSE(PlainStruct<std::string>);
  EXPECT_FALSE(PlainStruct<WithConstructor>);
}

}  // namespace
}  // namespace mpa
