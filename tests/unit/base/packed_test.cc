// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/packed.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

namespace mpa {
namespace {

using namespace std::string_view_literals;

// A block that is stored as it is (RFC 1951, 3.2.4): last block, length, its complement, bytes.
constexpr std::string_view kHello = "\x01\x05\x00\xfa\xffhello"sv;

TEST(Packed, IsWhatWasPacked) { EXPECT_EQ(Unpacked({kHello, 5}), "hello"); }

TEST(Packed, HasTheSizeThatItSays) {
  EXPECT_EQ(Unpacked({kHello, 4}), std::nullopt);
  EXPECT_EQ(Unpacked({kHello, 6}), std::nullopt);
}

TEST(Packed, IsNothingWhenCut) {
  EXPECT_EQ(Unpacked({kHello.substr(0, 8), 5}), std::nullopt);
  EXPECT_EQ(Unpacked({"", 5}), std::nullopt);
}

}  // namespace
}  // namespace mpa
