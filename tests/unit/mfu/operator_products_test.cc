// SPDX-License-Identifier: Apache-2.0
#include "mfu/operator_products.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace mpa {
namespace {

constexpr std::string_view kBf16 = "['c10::BFloat16', 'c10::BFloat16', 'c10::BFloat16']";

std::int64_t CountOf(std::string_view op, std::string_view shapes) {
  const auto product = ProductOf(op, shapes, kBf16);
  return product && product->flops.Known() ? product->flops.count : -1;
}

TEST(OperatorProducts, AMultiplyAddCountsAsTwo) {
  EXPECT_EQ(CountOf("aten::mm", "[[32, 64], [64, 8]]"), 2 * 32 * 64 * 8);
  EXPECT_EQ(CountOf("aten::addmm", "[[8], [32, 64], [64, 8], [], []]"), 2 * 32 * 64 * 8);
  EXPECT_EQ(CountOf("aten::bmm", "[[5, 32, 64], [5, 64, 8]]"), 2 * 5 * 32 * 64 * 8);
  EXPECT_EQ(CountOf("aten::baddbmm", "[[5, 1, 8], [5, 32, 64], [5, 64, 8]]"), 2 * 5 * 32 * 64 * 8);
  EXPECT_EQ(CountOf("aten::linear", "[[2, 16, 64], [8, 64], [8]]"), 2 * 2 * 16 * 64 * 8);
}

TEST(OperatorProducts, ShapesThatAreNotThoseOfAProductAreUnknown) {
  EXPECT_EQ(ProductOf("aten::add", "[[2, 2], [2, 2]]", kBf16), std::nullopt);
  EXPECT_EQ(ProductOf("aten::mm", "N/A", "N/A")->flops.gap, FlopsGap::kNoShapes);
  EXPECT_EQ(ProductOf("aten::mm", "[[2, 2]]", kBf16)->flops.gap, FlopsGap::kNoShapes);
  EXPECT_EQ(ProductOf("aten::mm", "[[2, 3], [4, 5]]", kBf16)->flops.gap, FlopsGap::kMismatch);
  EXPECT_EQ(ProductOf("aten::mm", "[[4294967296, 4294967296], [4294967296, 2]]", kBf16)->flops.gap,
            FlopsGap::kTooLarge);
  EXPECT_EQ(ProductOf("aten::mm", "[[[2, 3]], [3, 5]]", kBf16)->flops.gap, FlopsGap::kNoShapes);
}

TEST(OperatorProducts, TypesAreThoseOfTheFactors) {
  const auto type = [](std::string_view op, std::string_view types) {
    return ProductOf(op, "[[2, 2], [2, 2], [2, 2]]", types)->type;
  };
  EXPECT_EQ(type("aten::mm", kBf16), TypeClass::kFp16);
  EXPECT_EQ(type("aten::addmm", "['float', 'c10::Half', 'c10::Half']"), TypeClass::kFp16);
  EXPECT_EQ(type("aten::mm", "['float', 'float']"), TypeClass::kUnknown);
  EXPECT_EQ(type("aten::mm", "N/A"), TypeClass::kUnknown);
}

}  // namespace
}  // namespace mpa
