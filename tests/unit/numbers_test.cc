// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/numbers.h"

#include <gtest/gtest.h>

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
  for (const char* text : {"", "N/A", "abc", "1.2.3", "1e", "--1", "12x", ".", "9223372036854776", "1e30"}) {
    EXPECT_EQ(NsFromMicros(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace mpa::io
