// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/columns.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

using ColumnTexts = std::vector<std::string>;

TEST(Wrapped, BreaksAtBlanksBeforeTheEdge) {
  const std::string word(40, 'a');
  EXPECT_EQ(Wrapped(word + " " + std::string(39, 'b'), 2),
            ColumnTexts{word + " " + std::string(39, 'b')});
  EXPECT_EQ(Wrapped(word + " " + word, 2), (ColumnTexts{word, "  " + word}));
  EXPECT_EQ(Wrapped("  " + word + " " + word, 4), (ColumnTexts{"  " + word, "    " + word}));
}

TEST(Wrapped, KeepsLongWordsWholeAndCountsCharacters) {
  const std::string path(100, '/');
  EXPECT_EQ(Wrapped("in " + path, 2), (ColumnTexts{"in", "  " + path}));
  std::string text;
  for (int i = 0; i < 80; ++i) text += "\xc3\xa4";
  EXPECT_EQ(Wrapped(text, 2), ColumnTexts{text});
  EXPECT_EQ(Wrapped("", 2), ColumnTexts{""});
}

TEST(Wrapped, BreaksBesideWideCharactersButNotBeforeTheirCommas) {
  EXPECT_EQ(ColumnsOf("\u505c\u987fms"), 6u);
  EXPECT_EQ(ColumnsOf("\xff\xc3\xa4"), 2u);  // a byte that is not UTF-8, and an umlaut
  // Four characters of two columns each, a comma of two, two more: ten columns hold the comma.
  EXPECT_EQ(Wrapped("\u505c\u987f\u505c\u987f\uff0c\u505c\u987f", 2, 10),
            (ColumnTexts{"\u505c\u987f\u505c\u987f\uff0c", "  \u505c\u987f"}));
  // Nine do not, so the character before the comma goes with it.
  EXPECT_EQ(Wrapped("\u505c\u987f\u505c\u987f\uff0c", 2, 9),
            (ColumnTexts{"\u505c\u987f\u505c", "  \u987f\uff0c"}));
  // A word of letters stays whole beside them; blanks between words stay.
  EXPECT_EQ(Wrapped("\u505c npu-smi\u987f", 0, 10), (ColumnTexts{"\u505c npu-smi", "\u987f"}));
}

TEST(Wrapped, FillsTheLineBehindItsLabel) {
  EXPECT_EQ(WrappedBehind("  --out  ", "\u505c\u987f\u505c", 9, 14),
            (ColumnTexts{"  --out  \u505c\u987f", "         \u505c"}));
  // What others follow keeps the room for its end.
  EXPECT_EQ(WrappedBehind("  ", "a bb ccc", 6, 8, " \\"), (ColumnTexts{"  a bb \\", "      ccc"}));
}

TEST(Cut, LeavesWhatFits) {
  EXPECT_EQ(CutEnd("\u505c\u987f\u505c\u987f", 8), "\u505c\u987f\u505c\u987f");
  EXPECT_EQ(CutEnd("\u505c\u987f\u505c\u987f", 7), "\u505c\u987f...");
  EXPECT_EQ(CutEnd("\u505c\u987f\u505c\u987f", 6), "\u505c...");
  EXPECT_EQ(CutEnd("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(CutEnd("abcdefghi", 8), "abcde...");
  EXPECT_EQ(CutEnd("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4", 4), "\xc3\xa4...");
}

TEST(ShortenName, TakesTheOuterPartsOfAPathFirst) {
  EXPECT_EQ(ShortenName("Network/Sequential/Conv2d_0", 27), "Network/Sequential/Conv2d_0");
  EXPECT_EQ(ShortenName("Network/Sequential/Conv2d_0", 26), ".../Sequential/Conv2d_0");
  EXPECT_EQ(ShortenName("Network/Sequential/Conv2d_0", 12), ".../Conv2d_0");
  EXPECT_EQ(ShortenName("module::Net::Linear", 16), "...::Net::Linear");
}

TEST(ShortenName, KeepsBothEndsOfOtherNames) {
  EXPECT_EQ(ShortenName("abcdefghijkl", 9), "abc...jkl");
  EXPECT_EQ(ShortenName("Net/Conv2d_0", 8), "Net..._0");
  EXPECT_EQ(ShortenName("void at::native<float, 2>", 11), "void..., 2>");
}

TEST(NameCell, HasWhatAWiderScreenAdds) {
  EXPECT_EQ(NameCell("abc/d/e", 6), ".../e ");
  EXPECT_EQ(NameCell("ab", 4), "ab  ");
  SetScreenColumns(100);
  EXPECT_EQ(NameCell("ab", 4), "ab" + std::string(22, ' '));
  SetScreenColumns(60);  // tables need 80
  EXPECT_EQ(ScreenColumns(), 80u);
}

TEST(Padded, CountsTheColumnsOfWideCharacters) {
  EXPECT_EQ(PaddedBehind("新增", 6), "新增  ");
  EXPECT_EQ(PaddedBefore("新增", 6), "  新增");
  EXPECT_EQ(PaddedBehind("gone", 4), "gone");
  EXPECT_EQ(PaddedBefore("too long", 4), "too long");
}

}  // namespace
}  // namespace mpa
