// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "mpa/raw/labels.h"
#include "profiler_output/csv_text.h"

namespace mpa::profiler_output {
namespace {

template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::string out;
  Put(out, parts...);
  return out;
}

TEST(NumberText, TimesKeepThreeDecimals) {
  // Beyond 2^53 a double would lose the last digits.
  EXPECT_EQ(Text(Micros{1772000000164670230}), "1772000000164670.230");
  EXPECT_EQ(Text(Micros{0}), "0.000");
  EXPECT_EQ(Text(Micros{7}), "0.007");
  EXPECT_EQ(Text(Micros{-1500}), "-1.500");
  EXPECT_EQ(Text(Micros{std::numeric_limits<TimeNs>::min()}), "-9223372036854775.808");
}

TEST(NumberText, DurationsAreTheShortestDecimal) {
  EXPECT_EQ(Text(ShortMicros{0}), "0.0");
  EXPECT_EQ(Text(ShortMicros{20}), "0.02");
  EXPECT_EQ(Text(ShortMicros{310000}), "310.0");
  EXPECT_EQ(Text(ShortMicros{7}), "0.007");
  EXPECT_EQ(Text(ShortMicros{-1500}), "-1.5");
  EXPECT_EQ(Text(ShortMicros{2280.0625}), "2.2800625");
}

TEST(NumberText, DoublesShowThatTheyAre) {
  EXPECT_EQ(Text(Decimal{8}), "8.0");
  EXPECT_EQ(Text(Decimal{398.04736328125}), "398.04736328125");
  EXPECT_EQ(Text(Decimal{1e16}), "1e+16");
  EXPECT_EQ(Text(Decimal{1e-5}), "1e-05");
  // A document with "nan" or "inf" does not open.
  EXPECT_EQ(Text(Decimal{std::numeric_limits<double>::quiet_NaN()}), "0.0");
  EXPECT_EQ(Text(Decimal{std::numeric_limits<double>::infinity()}), "0.0");
}

TEST(NumberText, RoundsToThreeDecimals) {
  EXPECT_EQ(Text(Rounded{9.32}), "9.32");
  EXPECT_EQ(Text(Rounded{0}), "0.0");
  EXPECT_EQ(Text(Rounded{100}), "100.0");
  EXPECT_EQ(Text(RoundedShort{100}), "100");
  EXPECT_EQ(Text(RoundedShort{22.4867}), "22.487");
  EXPECT_EQ(Text(ThreeDecimals{91.5}), "91.500");
  EXPECT_EQ(Text(Rounded{0.1415}), "0.142");
  EXPECT_EQ(Text(Rounded{-0.1415}), "-0.142");
  EXPECT_EQ(Text(Rounded{1.0005}), "1.001") << "a little less than that in binary";
  EXPECT_EQ(Text(Rounded{1.000499999}), "1.0");
  EXPECT_EQ(Text(ThreeDecimals{1e22}), "10000000000000000000000.000");
}

TEST(CsvRow, QuotesWhatNeedsIt) {
  std::string out;
  {
    CsvRow row(out);
    row.Text("plain");
    row.Text("a,b");
    row.Text("\"8192,2048;1\"");
    row.Text(raw::ListLines("2,3;4"));
    row.Text("");
    row.Cell("NPU:", 1);
    row.Cells(Stamp{1500}, std::optional<int>());
  }
  EXPECT_EQ(out, "plain,\"a,b\",\"\"\"8192,2048;1\"\"\",\"2,3;\r\n4\",,NPU:1,1.500\t,\r\n");
}

}  // namespace
}  // namespace mpa::profiler_output
