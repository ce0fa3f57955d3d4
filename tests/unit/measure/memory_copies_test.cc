// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/memory_copies.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace mpa {
namespace {

TEST(BytesOfElements, MultipliesTheCountByTheSizeOfOne) {
  EXPECT_EQ(BytesOfElements(1024, "BFP16"), 2048);
  EXPECT_EQ(BytesOfElements(3, "INT64"), 24);
  EXPECT_EQ(BytesOfElements(0, "FP32"), 0);
}

TEST(BytesOfElements, AreMissingWithoutACountOrAKnownType) {
  EXPECT_EQ(BytesOfElements(-1, "FP32"), std::nullopt);
  EXPECT_EQ(BytesOfElements(8, "FP7"), std::nullopt);
}

TEST(BytesOfElements, AreMissingBeyondAnySize) {
  constexpr std::int64_t kLargestFloats = std::int64_t{1} << 40;  // 4 TiB
  EXPECT_EQ(BytesOfElements(kLargestFloats, "FP32"), std::int64_t{1} << 42);
  EXPECT_EQ(BytesOfElements(kLargestFloats + 1, "FP32"), std::nullopt);
  EXPECT_EQ(BytesOfElements(std::numeric_limits<std::int64_t>::max(), "FP32"), std::nullopt);
}

}  // namespace
}  // namespace mpa
