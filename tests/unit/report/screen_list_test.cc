// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/screen_list.h"

#include <gtest/gtest.h>

#include <optional>

namespace mpa {
namespace {

const ScreenList kList(2, {ScreenText("phase", 8), ScreenNumber("steps", 6),
                           ScreenNumber("median ms", 11, 3), ScreenPercent("share", 7),
                           ScreenText("why")});

TEST(ScreenListTest, HeadingAndRowsStandInTheSameColumns) {
  EXPECT_EQ(kList.Heading(), "  phase     steps   median ms   share  why");
  EXPECT_EQ(kList.Line("decode", 12, 1.25, 40.0, "long prompts"),
            "  decode       12       1.250  40.0 %  long prompts");
}

TEST(ScreenListTest, TextsAreCutAndNumbersStayWhole) {
  EXPECT_EQ(kList.Line("prefill and decode", 1234567, 0.0, 100.0, "x"),
            "  prefi... 1234567       0.000 100.0 %  x");
}

TEST(ScreenListTest, CellsWithoutNumberSayWhy) {
  EXPECT_EQ(kList.Line("mixed", std::optional<double>(), NoNumber::kUnknown, "12/3", ""),
            "  mixed         -         N/A    12/3");
}

TEST(ScreenListTest, SignsAreThoseOfDifferences) {
  ScreenColumn change = ScreenNumber("change", 8, 1);
  change.with_plus = true;
  const ScreenList list(0, {change, change});
  EXPECT_EQ(list.Line(1.25, std::int64_t{3}), "    +1.2       +3");
  EXPECT_EQ(list.Line(-1.25, 0.0), "    -1.2     +0.0");
}

TEST(ScreenListTest, HiddenCharactersCannotReachTheTerminal) {
  EXPECT_EQ(ScreenList(0, {ScreenText("name")}).Line("a\x1b[2J"), "a\\x1b[2J");
}

}  // namespace
}  // namespace mpa
