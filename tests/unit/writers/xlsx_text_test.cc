// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "writers/xlsx_cells.h"

namespace mpa::writers {
namespace {

constexpr std::size_t kLimit = 40;
constexpr const char* kSmile = "\xF0\x9F\x98\x80";  // two characters for Excel
constexpr const char* kReplacement = "\xEF\xBF\xBD";

std::string Fitted(std::string_view text) { return FitCell(text, kLimit).text; }

std::string Repeated(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(FitCell, LeavesTextsThatFitAlone) {
  EXPECT_EQ(Fitted(""), "");
  EXPECT_EQ(Fitted("\t=a<b>&\n"), "\t=a<b>&\n");
  EXPECT_EQ(Fitted(Repeated(40, "\xE6\xAD\xA5")), Repeated(40, "\xE6\xAD\xA5"));  // 120 bytes
  EXPECT_FALSE(FitCell(Repeated(20, kSmile), kLimit).cut);
}

TEST(IsPlain, IsTrueOfOrdinaryTexts) {
  EXPECT_TRUE(IsPlain("", kLimit));
  EXPECT_TRUE(IsPlain("aten::add_\t[1, 2]\n", kLimit));
}

TEST(IsPlain, IsFalseOfTextsThatHaveToBeChanged) {
  EXPECT_FALSE(IsPlain(std::string(41, 'x'), kLimit));
  EXPECT_FALSE(IsPlain(std::string_view("a\0b", 3), kLimit));
  EXPECT_FALSE(IsPlain("a\xff", kLimit));
  EXPECT_FALSE(IsPlain("a_x001B_", kLimit));
}

TEST(FitCell, CutsLongerTextsAndSaysHowLongTheyWere) {
  const CellText fitted = FitCell(std::string(41, 'x'), kLimit);
  EXPECT_TRUE(fitted.cut);
  // " ... [cut: 41 characters]" with a single character for the dots has 23 characters.
  EXPECT_EQ(fitted.text, std::string(17, 'x') + " \xE2\x80\xA6 [cut: 41 characters]");
  EXPECT_EQ(Fitted(std::string(41234, 'x')),
            std::string(13, 'x') + " \xE2\x80\xA6 [cut: 41,234 characters]");
}

TEST(FitCell, CutsBetweenCharacters) {
  // 17 units hold eight of them, not eight and a half.
  EXPECT_EQ(Fitted(Repeated(21, kSmile)),
            Repeated(8, kSmile) + " \xE2\x80\xA6 [cut: 42 characters]");
  EXPECT_EQ(Fitted(Repeated(41, "\xE6\xAD\xA5")),
            Repeated(17, "\xE6\xAD\xA5") + " \xE2\x80\xA6 [cut: 41 characters]");
}

TEST(FitCell, ReplacesWhatWouldBreakTheXml) {
  EXPECT_EQ(Fitted("a\xFF\xE6z"), std::string("a") + kReplacement + kReplacement + "z");
  EXPECT_EQ(Fitted(std::string_view("a\0z", 3)), "a\\x00z");
  EXPECT_EQ(Fitted("\xEF\xBF\xBE|\xEF\xBF\xBF"), std::string(kReplacement) + "|" + kReplacement);
}

TEST(FitCell, KeepsTextsFromBeingTakenForEscapes) {
  EXPECT_EQ(Fitted("a_x001B_b"), "a_x005F_x001B_b");
  EXPECT_EQ(Fitted("_x12_ _x001G_ _x001B"), "_x12_ _x001G_ _x001B");
}

}  // namespace
}  // namespace mpa::writers
