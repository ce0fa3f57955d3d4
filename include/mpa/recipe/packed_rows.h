// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpa/recipe/part_bytes.h"

namespace mpa {

/// Rows of a long list of which little is looked at. They lie in memory as they do in a part, in
/// blocks: in a quarter of the room, and a block is unpacked when it is read. In the field `kKey`
/// no row has a smaller number than the row before it.
template <RowInColumns Row, auto kKey>
class PackedRows {
 public:
  /// In a block. The first ones take more than the others: none is before them to differ from.
  static constexpr std::size_t kRows = 32 * part_bytes::kBlock;

  /// Keeps the block that it unpacked last: who reads forward unpacks each block once.
  class Reader {
   public:
    /// Refers to the rows, which must outlive it.
    explicit Reader(const PackedRows& rows) : rows_(&rows) {}

    /// Row i, until the next read.
    const Row& At(std::size_t i) {
      if (i / kRows != block_) {
        block_ = i / kRows;
        rows_->Unpack(block_, unpacked_);
      }
      return unpacked_[i % kRows];
    }

    /// Calls `visit` with each row that has this number in the field.
    template <typename Visit>
    void ForEachOf(std::uint32_t key, Visit visit) {
      // The first is in the block before the one that begins with it, or begins that one.
      const std::size_t size = rows_->size();
      std::size_t first = rows_->BlockBefore(key) * kRows, behind = std::min(first + kRows, size);
      while (first < behind) {
        const std::size_t middle = first + (behind - first) / 2;
        if (At(middle).*kKey < key)
          first = middle + 1;
        else
          behind = middle;
      }
      for (; first < size && At(first).*kKey == key; ++first) visit(At(first));
    }

   private:
    static constexpr auto kNone = static_cast<std::size_t>(-1);

    const PackedRows* rows_;
    std::size_t block_ = kNone;
    std::vector<Row> unpacked_;
  };

  /// For loops over all rows; what it gives is there until the next step.
  class Iterator {
   public:
    const Row& operator*() { return reader_.At(at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    friend class PackedRows;
    Iterator(const PackedRows& rows, std::size_t at) : reader_(rows), at_(at) {}

    Reader reader_;
    std::size_t at_;
  };

  void push_back(const Row& row) {
    last_.push_back(row);
    if (last_.size() < kRows) return;
    blocks_.push_back({last_.front().*kKey, ToBytes(last_)});
    blocks_.back().bytes.shrink_to_fit();
    last_.clear();
  }
  std::size_t size() const { return blocks_.size() * kRows + last_.size(); }
  /// What they take in memory.
  std::size_t Bytes() const {
    std::size_t bytes = last_.size() * sizeof(Row);
    for (const Block& block : blocks_) bytes += sizeof(block) + block.bytes.capacity();
    return bytes;
  }

  Iterator begin() const { return Iterator(*this, 0); }
  Iterator end() const { return Iterator(*this, size()); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(blocks_, last_);
    if constexpr (std::is_same_v<Archive, PartReader>) Check();
  }

 private:
  struct Block {
    std::uint32_t first = 0;  // the number of its first row
    std::string bytes{};
  };

  // The last that begins with a smaller number; 0: none does.
  std::size_t BlockBefore(std::uint32_t key) const {
    if (!last_.empty() && last_.front().*kKey < key) return blocks_.size();
    const auto from = std::ranges::lower_bound(blocks_, key, {}, &Block::first);
    return from == blocks_.begin() ? 0 : static_cast<std::size_t>(from - blocks_.begin()) - 1;
  }

  void Unpack(std::size_t block, std::vector<Row>& rows) const {
    rows = block < blocks_.size() ? FromBytes<std::vector<Row>>(blocks_[block].bytes) : last_;
  }

  void Check() const {
    std::vector<Row> rows;
    bool holds = last_.size() < kRows;
    for (std::size_t block = 0; block < blocks_.size() && holds; ++block) {
      Unpack(block, rows);
      holds = rows.size() == kRows && rows.front().*kKey == blocks_[block].first;
    }
    if (!holds) Fail(ErrorKind::kCorrupt, "the part holds a block of other rows");
  }

  std::vector<Block> blocks_;
  std::vector<Row> last_;  // of the block that is not full yet
};

}  // namespace mpa
