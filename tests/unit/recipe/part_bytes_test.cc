// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/part_bytes.h"

#include <gtest/gtest.h>

#include <limits>

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

struct Pair {
  std::int32_t first = 0;
  Colour second{};
  bool operator==(const Pair&) const = default;
};
struct Line {
  static constexpr bool kInColumns = true;
  std::int64_t start = 0;
  Pair pair;
  bool yes = false;
  double share = 0;
  bool operator==(const Line&) const = default;
};

std::string Size(char size) { return std::string(1, size); }

TEST(PartBytes, HoldTheFieldsOfAStructInTheirOrder) {
  const Plain plain{-2, true, Colour::kBlue, "ab", std::nullopt, std::uint8_t{7}};
  // Two bytes of -2, yes, blue, the text with its size, no first number, the second one.
  const std::string bytes = "\xfe\xff\1\1"s + Size(2) + "ab\1\0\7"s;
  EXPECT_EQ(ToBytes(plain), bytes);
  EXPECT_EQ(FromBytes<Plain>(bytes), plain);
}

TEST(PartBytes, HoldListsWithTheirSizes) {
  const Lists lists{{1, 258}, {true, false}, {"", "x"}, {3, 4}, {{"k", 5}}, {6, 7}, {8, true}};
  // Numbers of ten bits, as differences: 2 and 514 stand for 1 and 257.
  const std::string bytes = Size(2) + "\x8a\2\x08\x08"s + Size(2) + "\1\0"s + Size(2) + Size(0) +
                            Size(1) + "x\3\4"s + Size(1) + Size(1) + "k\5\6\7\10\1"s;
  EXPECT_EQ(ToBytes(lists), bytes);
  EXPECT_EQ(FromBytes<Lists>(bytes), lists);
}

// Forty rows: a block of 32 and one of 8. Zeros take one byte a block, and so do differences that
// are zero.
TEST(PartBytes, HoldRowsInColumns) {
  std::vector<Line> lines;
  std::int64_t start = -4'000'000'000'000'000'000;
  for (int i = 0; i < 40; ++i) {
    lines.push_back({start, {i % 2 == 0 ? -i : 2'000'000'000, Colour::kBlue}, i == 39, 0.5 * i});
    start += i == 20 ? 7'999'999'999'999'999'000 : 1;
  }
  EXPECT_EQ(FromBytes<std::vector<Line>>(ToBytes(lines)), lines);
  const std::vector<Line> none(40), one(1, {1, {-1, Colour::kBlue}, true, 0});
  // Five columns of two blocks.
  EXPECT_EQ(ToBytes(none), Size(40) + std::string(10, '\0'));
  EXPECT_EQ(FromBytes<std::vector<Line>>(ToBytes(none)), none);
  // A number is twice its amount, one less below zero: 2, 1, 2, 2 and no bits at all.
  EXPECT_EQ(ToBytes(one), Size(1) + "\2\2\1\1\2\2\2\2\0"s);
  EXPECT_EQ(FromBytes<std::vector<Line>>(ToBytes(one)), one);
}

TEST(PartBytes, HoldAnyNumbersInLists) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min(),
                 kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> numbers = {kMost, kLeast, 0, kMost, -1, kLeast, kLeast};
  EXPECT_EQ(FromBytes<std::vector<std::int64_t>>(ToBytes(numbers)), numbers);
  const std::vector<std::uint64_t> large(70, ~std::uint64_t{0});
  EXPECT_EQ(FromBytes<std::vector<std::uint64_t>>(ToBytes(large)), large);
  EXPECT_LT(ToBytes(large).size(), 20u);
}

TEST(PartBytes, OfRowsThatNothingHasAreRefused) {
  using Lines = std::vector<Line>;
  const std::string of_one = Size(1) + "\2\2\1\1\2\2\2\2\0"s;
  EXPECT_NO_THROW(FromBytes<Lines>(of_one));
  const auto with = [&](std::size_t at, const std::string& column, std::size_t length = 2) {
    std::string bytes = of_one;
    return bytes.replace(at, length, column);
  };
  EXPECT_THROW(FromBytes<Lines>(with(1, "\x41\2")), Error) << "numbers of 65 bits";
  EXPECT_THROW(FromBytes<Lines>(with(1, "\x40" + std::string(8, '\xff'))), Error) << "a time";
  EXPECT_THROW(FromBytes<Lines>(with(3, "\x22\2\2\2\2\2")), Error) << "34 bits in 32";
  EXPECT_THROW(FromBytes<Lines>(with(5, "\3\4")), Error) << "an enumeration";
  EXPECT_THROW(FromBytes<Lines>(with(5, "\1\1")), Error) << "one below its first value";
  EXPECT_THROW(FromBytes<Lines>(with(7, "\3\4")), Error) << "a truth value";
  const std::string infinite = ToBytes(std::vector<std::uint64_t>{0x7ff0000000000000}).substr(1);
  EXPECT_THROW(FromBytes<Lines>(with(9, infinite, 1)), Error);
  for (std::size_t length = 0; length < of_one.size(); ++length)
    EXPECT_THROW(FromBytes<Lines>(of_one.substr(0, length)), Error) << length;
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
  const std::string many = "\xff\xff\xff\xff\xff\xff\xff\x7f"s;
  EXPECT_THROW(FromBytes<std::vector<std::int64_t>>(many), Error);
  EXPECT_THROW(FromBytes<std::vector<Line>>(many), Error);
  EXPECT_THROW(FromBytes<std::vector<bool>>(many), Error);
  EXPECT_THROW(FromBytes<std::vector<bool>>(std::string(20, '\xff')), Error) << "no size";
}

}  // namespace
}  // namespace mpa
