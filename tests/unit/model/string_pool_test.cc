// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/string_pool.h"

#include <gtest/gtest.h>

#include <utility>

namespace mpa {
namespace {

TEST(StringPool, BeginsWithTheEmptyText) {
  StringPool pool;
  EXPECT_EQ(pool.Size(), 1u);
  EXPECT_EQ(pool.View(StringId::kEmpty), "");
  EXPECT_EQ(pool.Intern(""), StringId::kEmpty);
}

TEST(StringPool, GivesEqualTextsOneIdAndOthersAnother) {
  StringPool pool;
  const StringId add = pool.Intern("aten::add");
  const StringId mul = pool.Intern("aten::mul");
  EXPECT_NE(add, mul);
  EXPECT_EQ(pool.Intern(std::string("aten::") + "add"), add);
  EXPECT_EQ(pool.View(mul), "aten::mul");
  EXPECT_EQ(pool.Size(), 3u);
}

TEST(StringPool, KeepsATextWhenTheOneItCameFromIsGone) {
  StringPool pool;
  StringId id;
  {
    std::string text = "a text that is too long to be kept inside the string object itself";
    id = pool.Intern(text);
    text.assign(text.size(), '-');
  }
  EXPECT_EQ(pool.View(id), "a text that is too long to be kept inside the string object itself");
}

TEST(StringPool, StillKnowsItsTextsAfterManyMore) {
  StringPool pool;
  const std::string_view first = pool.View(pool.Intern("x"));
  for (int i = 0; i < 100000; ++i) pool.Intern(std::to_string(i));
  EXPECT_EQ(first, "x");
  EXPECT_EQ(pool.Intern("x"), static_cast<StringId>(1));
  EXPECT_EQ(pool.View(pool.Intern("4711")), "4711");
  EXPECT_EQ(pool.Size(), 100002u);
}

TEST(StringPool, TakesItsTextsAlongWhenItMoves) {
  StringPool pool;
  const StringId id = pool.Intern("x");
  StringPool moved = std::move(pool);
  EXPECT_EQ(moved.View(id), "x");
  EXPECT_EQ(moved.Intern("x"), id);
}

}  // namespace
}  // namespace mpa
