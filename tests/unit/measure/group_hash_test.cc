// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/measure/collectives.h"

namespace mpa {
namespace {

// Numbers that the Python tool gave for these ids.
TEST(GroupHash, IsThatOfTheProfiler) {
  EXPECT_EQ(GroupHash("g1"), 13039520724198u);
  EXPECT_EQ(GroupHash("gtp0"), 11222401885655793u);
}

// Its last digits are those in the names of operators: hcom_allReduce__210_0_1.
TEST(GroupHash, EndsWithTheNumberInTheNamesOfOperators) {
  EXPECT_EQ(GroupHash("90.91.105.46%enp189s0f0_60000_0_1736410538306028") % 1000, 210u);
}

}  // namespace
}  // namespace mpa
