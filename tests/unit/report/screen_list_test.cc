// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/screen_list.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

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

TEST(ScreenListTest, ColumnsSayWhatTheirNumbersAre) {
  const AmountScale scale(Quantity::kBytes, 3'000'000);
  const ScreenList list(0, {ScreenMs("ms", 8), ScreenUs("us", 8), ScreenRatio("MFU", 7),
                            ScreenChange("change", 8, 1), ScreenAmount(scale.unit(), 6, scale)});
  EXPECT_EQ(list.Heading(), "      ms       us     MFU   change     MB");
  EXPECT_EQ(list.Line(1'234'500, 1250.4, 0.357, 1.25, 1'500'000),
            "   1.234      1.3  35.7 %     +1.2  1.500");
  EXPECT_EQ(
      list.Line(std::optional<double>(), "few", std::optional<double>(), -2.5, NoNumber::kUnknown),
      "       -      few       -     -2.5    N/A");
}

TEST(ScreenListTest, LastColumnWithoutWidthHasTheRestOfTheScreen) {
  const std::string path = std::string(60, 'a') + "/" + std::string(30, 'b');
  const ScreenList texts(2, {ScreenNumber("ms", 40), ScreenText("what")});
  EXPECT_EQ(texts.Line(7, path).Text().size(), 80u);
  EXPECT_EQ(texts.Line(7, path).Text().substr(40), " 7  " + std::string(33, 'a') + "...");
  const ScreenList names(2, {ScreenNumber("ms", 40), ScreenName("what", 0)});
  EXPECT_EQ(names.Line(7, path).Text().substr(40), " 7  .../" + std::string(30, 'b'));
}

TEST(ScreenListTest, HiddenCharactersCannotReachTheTerminal) {
  EXPECT_EQ(ScreenList(0, {ScreenText("name")}).Line("a\x1b[2J"), "a\\x1b[2J");
}

}  // namespace
}  // namespace mpa
