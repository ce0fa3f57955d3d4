// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/utf8.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

constexpr const char* kInvalid = "\xEF\xBF\xBD";  // U+FFFD

TEST(Utf8Length, CountsTheBytesOfTheFirstCharacter) {
  EXPECT_EQ(Utf8Length("ab"), 1u);
  EXPECT_EQ(Utf8Length("\xC3\xA4"), 2u);
  EXPECT_EQ(Utf8Length("\xE6\xAD\xA5x"), 3u);
  EXPECT_EQ(Utf8Length("\xF0\x9F\x98\x80"), 4u);
  EXPECT_EQ(Utf8Length(std::string_view("\0", 1)), 1u);
  EXPECT_EQ(Utf8Length(""), 0u);
}

TEST(ValidUtf8, LeavesCharactersAlone) {
  const std::string text = "a \xC3\xA4 \xE6\xAD\xA5 \xF0\x9F\x98\x80 \x7f\n";
  EXPECT_EQ(ValidUtf8(text), text);
}

TEST(ValidUtf8, ReplacesEveryByteThatIsNoPartOfACharacter) {
  EXPECT_EQ(ValidUtf8("a\xFFz"), std::string("a") + kInvalid + "z");
  EXPECT_EQ(ValidUtf8("\xA5"), kInvalid);                              // no beginning
  EXPECT_EQ(ValidUtf8("\xE6\xAD"), std::string(kInvalid) + kInvalid);  // no end
  EXPECT_EQ(ValidUtf8("\xC3("), std::string(kInvalid) + "(");
  EXPECT_EQ(ValidUtf8("\xC0\xAF"), std::string(kInvalid) + kInvalid);  // a long "/"
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80").substr(0, 3), kInvalid);         // half of a pair
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80").substr(0, 3), kInvalid);     // beyond U+10FFFF
  EXPECT_EQ(ValidUtf8("\xF0\x8F\xBF\xBF").substr(0, 3), kInvalid);     // too long
}

TEST(ShortenMiddle, KeepsBothEnds) {
  EXPECT_EQ(ShortenMiddle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(ShortenMiddle("abcdefghij", 9), "abc...hij");
  EXPECT_EQ(ShortenMiddle("abcdefghij", 8), "abc...ij");
  EXPECT_EQ(ShortenMiddle("abcdefghij", 3), "...");
}

TEST(ShortenMiddle, CutsBetweenCharacters) {
  EXPECT_EQ(ShortenMiddle("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC", 5),
            "\xC3\xA4...\xC3\xBC");
  EXPECT_EQ(CountCharacters("\xC3\xA4x\xE6\xAD\xA5"), 3u);
}

}  // namespace
}  // namespace mpa
