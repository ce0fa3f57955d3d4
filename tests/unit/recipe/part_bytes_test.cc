// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/part_bytes.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

using namespace std::string_literals;

enum class Colour : std::uint8_t { kRed, kBlue };
constexpr Colour LastOf(Colour) { return Colour::kBlue; }

struct Plain {
  std::int16_t number = 0;
  bool yes = false;
  Colour colour = Colour::kRed;
  std::string text;
  std::optional<std::uint8_t> absent, there;
  bool operator==(const Plain& other) const {
    return number == other.number && yes == other.yes && colour == other.colour &&
           text == other.text && absent == other.absent && there == other.there;
  }
};

struct Lists {
  std::vector<std::uint16_t> numbers;
  std::vector<bool> bits;
  std::vector<std::string> texts;
  std::array<std::uint8_t, 2> fixed = {};
  std::map<std::string, std::uint8_t, std::less<>> map;
  std::pair<std::uint8_t, std::uint8_t> pair;
  std::tuple<std::uint8_t, bool> tuple;
  bool operator==(const Lists&) const = default;
};

struct Painted {
  Colour colour{};
};

struct Half {
  std::uint8_t kept = 0, left_out = 0;
};
template <class Archive>
void serialize(Archive& archive, Half& half) {
  archive(half.kept);
  if (half.kept > 9) Fail(ErrorKind::kCorrupt, "too large");
}

std::string Size(char size) { return size + "\0\0\0\0\0\0\0"s; }

TEST(PartBytes, HoldTheFieldsOfAStructInTheirOrder) {
  const Plain plain{-2, true, Colour::kBlue, "ab", std::nullopt, std::uint8_t{7}};
  // Two bytes of -2, yes, blue, the text with its size, no first number, the second one.
  const std::string bytes = "\xfe\xff\1\1"s + Size(2) + "ab\1\0\7"s;
  EXPECT_EQ(ToBytes(plain), bytes);
  EXPECT_EQ(FromBytes<Plain>(bytes), plain);
}

TEST(PartBytes, HoldListsWithTheirSizes) {
  const Lists lists{{1, 258}, {true, false}, {"", "x"}, {3, 4}, {{"k", 5}}, {6, 7}, {8, true}};
  const std::string bytes = Size(2) + "\1\0\2\1"s + Size(2) + "\1\0"s + Size(2) + Size(0) +
                            Size(1) + "x\3\4"s + Size(1) + Size(1) + "k\5\6\7\10\1"s;
  EXPECT_EQ(ToBytes(lists), bytes);
  EXPECT_EQ(FromBytes<Lists>(bytes), lists);
}

TEST(PartBytes, AreThoseThatTheTypeNames) {
  EXPECT_EQ(ToBytes(Half{4, 5}), "\4");
  EXPECT_EQ(FromBytes<Half>("\4").left_out, 0);
  EXPECT_THROW(FromBytes<Half>("\n"), Error);
}

TEST(PartBytes, ThatHoldNoSuchValueAreRefused) {
  EXPECT_THROW(FromBytes<std::uint16_t>("\1"), Error) << "ends early";
  EXPECT_THROW(FromBytes<std::uint16_t>("\1\0\0"s), Error) << "bytes follow";
  EXPECT_THROW(FromBytes<bool>("\2"), Error);
  EXPECT_THROW(FromBytes<Painted>("\2"), Error);
  EXPECT_THROW(FromBytes<std::string>(Size(2) + "a"), Error);
  EXPECT_THROW(FromBytes<std::vector<std::string>>(Size(1)), Error);
  EXPECT_THROW(FromBytes<std::vector<bool>>(Size(1) + "\2"), Error);
  using Map = std::map<std::string, std::string>;
  EXPECT_THROW(FromBytes<Map>(Size(9)), Error);
}

TEST(PartBytes, OfAListWithMoreElementsThanBytesAreRefusedBeforeMemoryIsTaken) {
  EXPECT_THROW(FromBytes<std::vector<std::int64_t>>("\0\0\0\0\0\0\0\x7f"s), Error);
  EXPECT_THROW(FromBytes<std::vector<bool>>("\0\0\0\0\0\0\0\x7f"s), Error);
}

}  // namespace
}  // namespace mpa
