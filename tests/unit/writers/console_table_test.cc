// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/writers/writers.h"

namespace mpa {
namespace {

TEST(FormatTable, CentresCellsAndTheTitle) {
  // Width 4 for the first column, 7 for the second. An odd blank stands to the right of texts of
  // odd length and to the left of texts of even length.
  EXPECT_EQ(FormatTable({"Title", {"", "Seconds"}, {{"NPU", "12.5s"}, {"GPU4", "12"}}}),
            "+----------------+\n"
            "|     Title      |\n"
            "+------+---------+\n"
            "|      | Seconds |\n"
            "+------+---------+\n"
            "| NPU  |  12.5s  |\n"
            "| GPU4 |    12   |\n"
            "+------+---------+\n");
}

TEST(FormatTable, CountsColumnsOfTheTerminal) {
  EXPECT_EQ(FormatTable({"T", {"ab", "abcd"}, {{"\xC3\xA4", "\xE6\xAD\xA5\xE9\xAA\xA4"}}}),
            "+-----------+\n"
            "|     T     |\n"
            "+----+------+\n"
            "| ab | abcd |\n"
            "+----+------+\n"
            "| \xC3\xA4  | \xE6\xAD\xA5\xE9\xAA\xA4 |\n"
            "+----+------+\n");
}

TEST(FormatTable, KeepsControlCharactersOfACaptureOffTheTerminal) {
  const std::string text = FormatTable({"T", {"name"}, {{"\x1b[31m"}}});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("| \\x1b[31m |"), std::string::npos) << text;
}

TEST(FormatTable, PutsNumbersOfAPlainTableToTheRight) {
  EXPECT_EQ(FormatTable({.title = "not shown",
                         .headers = {"Time", "Base"},
                         .rows = {{"Computing", "1.0"}, {"  a", "\xC3\xA4"}},
                         .heading = {"Base: x"},
                         .plain = true}),
            "Base: x\n"
            "\n"
            "Time       Base\n"
            "Computing   1.0\n"
            "  a           \xC3\xA4\n"
            "\n");
}

TEST(FormatTable, ALineAcrossTheColumnsLeavesThemAsTheyAre) {
  EXPECT_EQ(FormatTable({.title = "",
                         .headers = {"Time", "Base"},
                         .rows = {{"a", "1.0"}, {"(12 more in a sheet)"}},
                         .plain = true}),
            "Time  Base\n"
            "a      1.0\n"
            "(12 more in a sheet)\n"
            "\n");
}

TEST(FormatTable, ShowsAllOfATitleThatIsWiderThanTheTable) {
  EXPECT_NE(FormatTable({"A rather long title", {"a"}, {{"b"}}}).find("A rather long title"),
            std::string::npos);
}

}  // namespace
}  // namespace mpa
