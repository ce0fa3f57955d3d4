// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/numbers.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace mpa::io {
namespace {

TEST(NsFromMicros, KeepsEveryNanosecondOfAnEpochTime) {
  EXPECT_EQ(NsFromMicros("1736412474721331.650"), 1736412474721331650);
  EXPECT_EQ(NsFromMicros("1736412474721331.65"), 1736412474721331650);
}

TEST(NsFromMicros, RoundsDigitsBelowANanosecond) {
  EXPECT_EQ(NsFromMicros("2343.76665625"), 2343767);
  EXPECT_EQ(NsFromMicros("0.1000000000000014"), 100);
  EXPECT_EQ(NsFromMicros("0.0005"), 1);
  EXPECT_EQ(NsFromMicros("0.00049"), 0);
}

TEST(NsFromMicros, TakesTheFormsThatCapturesHold) {
  EXPECT_EQ(NsFromMicros("1736408883704643.212\t"), 1736408883704643212);
  EXPECT_EQ(NsFromMicros("17"), 17000);
  EXPECT_EQ(NsFromMicros("1.5e3"), 1500000);
  EXPECT_EQ(NsFromMicros("25E-4"), 3);
  EXPECT_EQ(NsFromMicros("-2.5"), -2500);
  EXPECT_EQ(NsFromMicros(".5"), 500);
}

TEST(NsFromMicros, RefusesWhatIsNoNumberOrTooLarge) {
  for (const char* text :
       {"", "N/A", "abc", "1.2.3", "1e", "--1", "12x", ".", "9223372036854776", "1e30"}) {
    EXPECT_EQ(NsFromMicros(text), std::nullopt) << text;
  }
}

// The end of an event and the difference of two times have to fit, too.
TEST(NsFromMicros, KeepsTheExtremesOfItsRange) {
  EXPECT_EQ(NsFromMicros("4000000000000000"), 4'000'000'000'000'000'000);
  EXPECT_EQ(NsFromMicros("-4000000000000000"), -4'000'000'000'000'000'000);
  EXPECT_EQ(NsFromMicros("4000000000000000.001"), std::nullopt);
  EXPECT_EQ(NsFromMicros("-4000000000000000.001"), std::nullopt);
  EXPECT_EQ(NsFromMicros("9223372036854775.808"), std::nullopt);
  EXPECT_EQ(NsFromMicros("0.00000000000000000000000000001"), 0);
  EXPECT_EQ(NsFromMicros("0e999999999999"), 0);
}

TEST(MicrosBeyondNs, KeepsWhatNsFromMicrosRoundsAway) {
  EXPECT_FLOAT_EQ(MicrosBeyondNs("1.2344"), 0.4F);
  EXPECT_FLOAT_EQ(MicrosBeyondNs("1.2346"), -0.4F);
  EXPECT_FLOAT_EQ(MicrosBeyondNs("1.23425"), 0.25F);
  EXPECT_FLOAT_EQ(MicrosBeyondNs("1.2345"), -0.5F);  // half up
}

TEST(MicrosBeyondNs, IsNothingForWholeNanosecondsAndForWhatIsNoTime) {
  for (const char* text : {"", "12", "1.234", "1.2340", "N/A", "1.2345x", "1.2.3456"}) {
    EXPECT_EQ(MicrosBeyondNs(text), 0) << text;
  }
}

TEST(ScaledDecimal, MovesThePointByTheWantedNumberOfDigits) {
  EXPECT_EQ(ScaledDecimal("1.5", 3), 1500);
  EXPECT_EQ(ScaledDecimal("1.5", 0), 2);
  EXPECT_EQ(ScaledDecimal("1.4999", 0), 1);
  EXPECT_EQ(ScaledDecimal("1.73e18", 0), 1730000000000000000);
  EXPECT_EQ(ScaledDecimal("1234", -2), 12);
  EXPECT_EQ(ScaledDecimal("1250", -2), 13);
}

TEST(ScaledDecimal, KeepsTheLargestNumber) {
  EXPECT_EQ(ScaledDecimal("9223372036854775.807", 3), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(ScaledDecimal("9223372036854775.808", 3), std::nullopt);
}

TEST(ScaledDecimal, ReadsAnyNumberOfDigitsAndStopsAtAnyOtherCharacter) {
  EXPECT_EQ(ScaledDecimal("12345678", 0), 12345678);
  EXPECT_EQ(ScaledDecimal("123456789", 0), 123456789);
  EXPECT_EQ(ScaledDecimal("1736412474721331650", 0), 1736412474721331650);
  EXPECT_EQ(ScaledDecimal("00000000000000000000017", 0), 17);
  const std::string digits = "12345678";
  for (std::size_t at = 0; at < digits.size(); ++at) {
    for (const char other : {'/', ':', ' ', '\0', '\xff', '\xfa', 'p'}) {
      std::string text = digits + digits;
      text[at] = other;
      if (at == 0 && other == ' ') continue;
      EXPECT_EQ(ScaledDecimal(text, 0), std::nullopt) << text;
    }
  }
}

TEST(ScaledDecimal, ReadsWhatIsSmallerThanTheLastDigitAsZero) {
  EXPECT_EQ(ScaledDecimal("0.04", 0), 0);
  EXPECT_EQ(ScaledDecimal("9e-5", 0), 0);
  EXPECT_EQ(ScaledDecimal("9e-1", 0), 1);
}

TEST(ParseInt, ReadsWholeNumbersOnly) {
  EXPECT_EQ(ParseInt("42"), 42);
  EXPECT_EQ(ParseInt(" -7\t"), -7);
  EXPECT_EQ(ParseInt("+7"), 7);
  EXPECT_EQ(ParseInt("007"), 7);
  EXPECT_EQ(ParseInt("4.0"), 4);
  EXPECT_EQ(ParseInt("-12.000"), -12);
  for (const char* text :
       {"", " ", "+", "-", "+-7", "4.5", "4.", ".0", "4.0.0", "1e3", "0x10", "12 3", "N/A"}) {
    EXPECT_EQ(ParseInt(text), std::nullopt) << text;
  }
}

TEST(ParseInt, RefusesWhatDoesNotFit) {
  EXPECT_EQ(ParseInt("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(ParseInt("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(ParseInt("9223372036854775808"), std::nullopt);
}

}  // namespace
}  // namespace mpa::io
