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

TEST(Cut, LeavesWhatFits) {
  EXPECT_EQ(CutEnd("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(CutEnd("abcdefghi", 8), "abcde...");
  EXPECT_EQ(CutBeginning("abcdefghi", 8), "...efghi");
  EXPECT_EQ(CutEnd("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4", 4), "\xc3\xa4...");
  EXPECT_EQ(CutBeginning("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4", 4), "...\xc3\xa4");
}

}  // namespace
}  // namespace mpa
