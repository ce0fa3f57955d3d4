// SPDX-License-Identifier: Apache-2.0
// Call stacks as a tree. Most stacks of a snapshot were seen before; a hash of the frames finds
// them without a walk through the tree.
#include "memory_calls.h"

#include <algorithm>
#include <limits>

#include "mpa/base/error.h"

namespace mpa::readers {

std::uint32_t CallTree::Number(const CallFrame& frame) {
  const auto [found, is_new] =
      numbers_.try_emplace(frame, static_cast<std::uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(frame);
  return found->second;
}

std::int32_t CallTree::Row(std::span<const std::uint32_t> frames) {
  if (frames.empty()) return -1;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t key = frames.size();
  for (const std::uint32_t frame : frames) key = (key ^ frame) * kOdd;
  const auto [known, is_new] = stacks_.try_emplace(key, -1);
  if (!is_new && IsRow(known->second, frames)) return known->second;
  std::int32_t row = -1;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) row = Called(row, *frame);
  known->second = row;
  return row;
}

bool CallTree::IsRow(std::int32_t row, std::span<const std::uint32_t> frames) const {
  for (const std::uint32_t frame : frames) {
    if (row < 0 || frame_of_row_[static_cast<std::size_t>(row)] != frame) return false;
    row = calls_.caller[static_cast<std::size_t>(row)];
  }
  return row < 0;
}

std::int32_t CallTree::Called(std::int32_t caller, std::uint32_t frame) {
  if (calls_.Size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    Fail(ErrorKind::kCorrupt, "more than 2 billion calls");
  const auto next = static_cast<std::int32_t>(calls_.Size());
  const std::uint64_t key = (std::uint64_t{static_cast<std::uint32_t>(caller)} << 32) | frame;
  const auto [found, is_new] = rows_.try_emplace(key, next);
  if (is_new) {
    const CallFrame& call = frames_[frame];
    calls_.Append(
        {.caller = caller, .file = call.file, .function = call.function, .line = call.line});
    frame_of_row_.push_back(frame);
  }
  return found->second;
}

}  // namespace mpa::readers
