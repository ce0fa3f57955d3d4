// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/amount.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

TEST(Amount, HasFourDigitsInTheUnitOfItsSize) {
  EXPECT_EQ(AmountText(Quantity::kTime, 412'300'000), "412.3 ms");
  EXPECT_EQ(AmountText(Quantity::kTime, 15'204'000), "15.20 ms");
  EXPECT_EQ(AmountText(Quantity::kTime, 1'000'000), "1.000 ms");
  EXPECT_EQ(AmountText(Quantity::kTime, 200'000), "200.0 us");
  EXPECT_EQ(AmountText(Quantity::kTime, 999), "999 ns");
  EXPECT_EQ(AmountText(Quantity::kTime, 0), "0 ns");
  EXPECT_EQ(AmountText(Quantity::kTime, -2'500'000), "-2.500 ms");
  EXPECT_EQ(AmountText(Quantity::kTime, 9'000'000'000), "9000.0 ms");
  EXPECT_EQ(AmountText(Quantity::kTime, 10'000'000'000), "10.00 s");
}

TEST(Amount, CountsBytesByPowersOf1000) {
  // 2^28 and 3 * 2^29 bytes; a GB is 10^9 bytes here as in "GB/s".
  EXPECT_EQ(AmountText(Quantity::kBytes, std::int64_t{256} << 20), "268.4 MB");
  EXPECT_EQ(AmountText(Quantity::kBytes, std::int64_t{3} << 29), "1.611 GB");
  EXPECT_EQ(AmountText(Quantity::kBytes, 1'322'233'856), "1.322 GB");
  EXPECT_EQ(AmountText(Quantity::kBytes, 1'023), "1.023 kB");
  EXPECT_EQ(AmountText(Quantity::kBytes, 999), "999 B");
}

TEST(Amount, ValuesOfOneScaleShareUnitAndDecimals) {
  const AmountScale scale(Quantity::kTime, 431'000'000);
  EXPECT_EQ(scale.unit(), "ms");
  EXPECT_EQ(scale.Rounded(15'240'000), 152);
  EXPECT_EQ(scale.Signed(152), "+15.2");
  EXPECT_EQ(scale.Signed(-4), "-0.4");
  EXPECT_EQ(scale.Signed(0), "+0.0");
}

TEST(Amount, PercentHasNoNeedlessZeros) {
  EXPECT_EQ(PlainNumber(3), "3");
  EXPECT_EQ(PlainNumber(0.25), "0.25");
}

}  // namespace
}  // namespace mpa
