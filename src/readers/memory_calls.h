// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "mpa/model/memory_snapshot.h"

namespace mpa::readers {

/// A line of a call stack.
struct CallFrame {
  StringId file{}, function{};
  std::int32_t line = -1;

  friend auto operator<=>(const CallFrame&, const CallFrame&) = default;
};

/// Puts call stacks into a table, where those that begin alike share rows.
class CallTree {
 public:
  /// Appends to the table; it shares no rows with what is there.
  explicit CallTree(MemoryCalls& calls) : calls_(calls), frame_of_row_(calls.Size()) {}

  /// The number of a frame.
  std::uint32_t Number(const CallFrame& frame);
  /// The row of a stack, by the numbers of its frames, innermost first; -1 for an empty one. Throws
  /// Error (kCorrupt) when there are more calls than rows can be counted.
  std::int32_t Row(std::span<const std::uint32_t> frames);
  /// The number of the innermost frame of a stack.
  std::uint32_t FrameOf(std::int32_t row) const {
    return frame_of_row_[static_cast<std::size_t>(row)];
  }

 private:
  // Spreads numbers that follow each other.
  struct Hash {
    std::size_t operator()(std::uint64_t key) const {
      key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
      key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
      return key ^ (key >> 31);
    }
  };
  bool IsRow(std::int32_t row, std::span<const std::uint32_t> frames) const;
  std::int32_t Called(std::int32_t caller, std::uint32_t frame);

  MemoryCalls& calls_;
  std::vector<CallFrame> frames_;
  std::map<CallFrame, std::uint32_t> numbers_;
  std::vector<std::uint32_t> frame_of_row_;                       // zeros for the rows of others
  std::unordered_map<std::uint64_t, std::int32_t, Hash> rows_;    // by caller and frame
  std::unordered_map<std::uint64_t, std::int32_t, Hash> stacks_;  // by a hash of the frames
};

}  // namespace mpa::readers
