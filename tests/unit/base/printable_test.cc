// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/printable.h"

#include <gtest/gtest.h>

#include "mpa/base/utf8.h"

namespace mpa {
namespace {

TEST(Printable, ShowsControlCharactersInsteadOfSendingThemToTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[31mred"), "a\\x1b[31mred");
  EXPECT_EQ(Printable("\r\b\x7f"), "\\x0d\\x08\\x7f");
}

TEST(Printable, KeepsATextOnItsLineAndLeavesUtf8Alone) {
  EXPECT_EQ(Printable("a\tb\n\xE6\xAD\xA5"), "a\\x09b\\x0a\xE6\xAD\xA5");
}

TEST(Printable, ShowsMarksThatTurnTextAndControlCharactersBeyondAscii) {
  EXPECT_EQ(Printable("gpj.\u202Eexe"), "gpj.\\u202eexe");
  EXPECT_EQ(Printable("\u2066a\u2069 \u200F \u2028"), "\\u2066a\\u2069 \\u200f \\u2028");
  EXPECT_EQ(Printable("\u009B31m"), "\\x9b31m");  // begins a command as ESC [ does
}

TEST(Printable, ShowsBytesThatAreNoText) {
  EXPECT_EQ(Printable("a\x9b"
                      "31m\xff"),
            "a\\x9b31m\\xff");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, LeavesNamesOfAllLanguagesAlone) {
  for (const char* name : {"aten::add_", "\u6B65\u9AA4 1", "\u00FC\u00F1\u00EF", "\U0001F600",
                           "\u0645\u0631\u062D", "a\u200Db"}) {
    EXPECT_EQ(Printable(name), name);
  }
}

TEST(Printable, KeepsTheLinesOfCellsOnRequest) {
  EXPECT_EQ(Printable("a;\nb;\r\n\tc\x1b", Breaks::kKeep), "a;\nb;\r\n\tc\\x1b");
  EXPECT_EQ(Printable("OK\rBAD", Breaks::kKeep), "OK\\x0dBAD");
}

TEST(CsvCell, IsNoFormulaAndHidesNothing) {
  EXPECT_EQ(CsvCell("=1+1"), "'=1+1");
  EXPECT_EQ(CsvCell("@SUM(A1,2)"), "\"'@SUM(A1,2)\"");
  EXPECT_EQ(CsvCell("-"), "-");
  EXPECT_EQ(CsvCell("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(CsvCell("say \"a\", b"), "\"say \"\"a\"\", b\"");
  EXPECT_EQ(CsvCell("MatMul<int>"), "MatMul<int>");
}

TEST(Printable, EscapesWithinJson) {
  EXPECT_EQ(PrintableJson("{\n\"\u6B65\": \"\u202E\x7f\u009B\"}\n"),
            "{\n\"\u6B65\": \"\\u202e\\u007f\\u009b\"}\n");
}

TEST(CodePoint, IsTheCharacterOfEachLength) {
  EXPECT_EQ(CodePoint("a"), U'a');
  EXPECT_EQ(CodePoint("\u00FCx"), U'\u00FC');
  EXPECT_EQ(CodePoint("\u6B65"), U'\u6B65');
  EXPECT_EQ(CodePoint("\U0001F600"), U'\U0001F600');
}

}  // namespace
}  // namespace mpa
