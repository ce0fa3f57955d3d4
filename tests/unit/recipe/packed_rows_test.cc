// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/packed_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace mpa {
namespace {

struct Piece {
  static constexpr bool kInColumns = true;
  std::uint32_t share = 0;
  std::int64_t time = 0;
  bool operator==(const Piece&) const = default;
};
using Pieces = PackedRows<Piece, &Piece::share>;

// Shares of 1, 2, .., 9, 1, 2, .. rows; the number of a share is even.
std::vector<Piece> Rows(std::size_t count) {
  std::vector<Piece> rows;
  for (std::uint32_t share = 0; rows.size() < count; share += 2) {
    for (std::uint32_t i = 0; i <= share / 2 % 9 && rows.size() < count; ++i)
      rows.push_back({share, 1'000'000'007 * static_cast<std::int64_t>(rows.size())});
  }
  return rows;
}

Pieces Packed(const std::vector<Piece>& rows) {
  Pieces packed;
  for (const Piece& row : rows) packed.push_back(row);
  return packed;
}

std::vector<Piece> All(const Pieces& packed) {
  std::vector<Piece> rows;
  for (const Piece& row : packed) rows.push_back(row);
  return rows;
}

TEST(PackedRows, GiveBackWhatTheyTook) {
  for (const std::size_t count : {0, 1, 1023, 1024, 1025, 2048, 3000}) {
    const std::vector<Piece> rows = Rows(count);
    const Pieces packed = Packed(rows);
    EXPECT_EQ(packed.size(), count);
    EXPECT_EQ(All(packed), rows);
    const auto read = FromBytes<Pieces>(ToBytes(packed));
    EXPECT_EQ(read.size(), count);
    EXPECT_EQ(All(read), rows);
  }
}

TEST(PackedRows, FindTheRowsOfANumber) {
  std::vector<Piece> rows = Rows(2000);
  for (int i = 0; i < 3000; ++i) rows.push_back({1000, i});  // some blocks have one number alone
  rows.push_back({1001, 0});
  const Pieces packed = Packed(rows);
  Pieces::Reader reader(packed);
  for (std::uint32_t share = 0; share < 1005; ++share) {
    std::vector<Piece> expected, found;
    for (const Piece& row : rows) {
      if (row.share == share) expected.push_back(row);
    }
    reader.ForEachOf(share, [&](const Piece& row) { found.push_back(row); });
    EXPECT_EQ(found, expected) << share;
  }
}

// Any byte may be another.
TEST(PackedRows, RefuseDamagedBytes) {
  const std::string bytes = ToBytes(Packed(Rows(1030)));
  for (std::size_t at = 0; at < bytes.size(); at += at < 100 ? 1 : 37) {
    for (const int other : {0, 1, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(other);
      try {
        const auto read = FromBytes<Pieces>(damaged);
        EXPECT_EQ(All(read).size(), read.size());
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << at;
      }
    }
  }
}

}  // namespace
}  // namespace mpa
