// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/allocator_replay.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

// What the allocator rounds to, and the largest segment for small blocks.
constexpr std::int64_t kGrain = 512, kSmallSegment = std::int64_t{2} << 20;
// What is left of a large block is not split off where it is no larger.
constexpr std::int64_t kUnsplit = std::int64_t{1} << 20;
// Of so many failures the circumstances are kept.
constexpr std::size_t kMostFailures = 20;

std::int64_t Rounded(std::int64_t bytes) {
  return std::max(kGrain, (bytes + kGrain - 1) / kGrain * kGrain);
}

// The address ranges that the allocator has taken from the device, while time runs backwards.
class Reserved {
 public:
  struct Range {
    std::int64_t end = 0;
    bool is_large = false, is_expandable = false;
  };

  void Add(std::int64_t begin, std::int64_t bytes, bool is_large, bool is_expandable) {
    std::int64_t end = 0;
    if (bytes <= 0 || __builtin_add_overflow(begin, bytes, &end)) return;
    ranges_[begin] = {end, is_large, is_expandable};
    if (!is_expandable) return;
    Join(begin);
    const auto next = ranges_.find(end);
    if (next != ranges_.end()) Join(end);
  }

  // What of the range is reserved is not any more.
  void Take(std::int64_t begin, std::int64_t bytes) {
    std::int64_t end = 0;
    if (bytes <= 0 || __builtin_add_overflow(begin, bytes, &end)) return;
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != ranges_.end() && at->first < end) {
      const auto [first, range] = *at;
      at = ranges_.erase(at);
      if (first < begin) ranges_[first] = {begin, range.is_large, range.is_expandable};
      if (range.end > end) {
        ranges_[end] = range;
        break;
      }
    }
  }

  const std::map<std::int64_t, Range>& All() const { return ranges_; }

 private:
  // With the range that ends where this one begins.
  void Join(std::int64_t begin) {
    const auto at = ranges_.find(begin);
    if (at == ranges_.begin()) return;
    const auto before = std::prev(at);
    if (before->second.end != begin || !before->second.is_expandable) return;
    before->second.end = at->second.end;
    ranges_.erase(at);
  }

  std::map<std::int64_t, Range> ranges_;
};

// Plays the actions of one device backwards.
class Backwards {
 public:
  Backwards(const RankTrace& trace, AllocatorReplay& replay) : trace_(trace), replay_(replay) {}

  void AddSegment(std::size_t row);
  void AddBlock(std::size_t row);
  void Run();

 private:
  void Undo(std::size_t row, std::int64_t position);
  void UndoAllocation(std::size_t row, std::int64_t position);
  void UndoFree(std::size_t row, std::int64_t position);
  void Failed(std::size_t row, std::int64_t position);
  FreePieces FreeNow() const;

  const RankTrace& trace_;
  AllocatorReplay& replay_;
  Reserved reserved_;
  std::int64_t reserved_bytes_ = 0, in_use_ = 0;
  std::unordered_map<std::int64_t, std::size_t> open_;  // lives by address
  std::set<std::int64_t> streams_;
};

void Backwards::AddSegment(std::size_t row) {
  const MemorySegments& segments = trace_.memory_segments;
  if (!segments.is_workspace[row]) {
    reserved_.Add(segments.address[row], segments.bytes[row],
                  segments.is_large[row] && segments.pool[row] == StringId::kEmpty,
                  segments.is_expandable[row]);
  }
  reserved_bytes_ += segments.bytes[row];
  ++replay_.end.segments;
  if (segments.is_expandable[row]) replay_.end.is_expandable = true;
  replay_.end.reserved += segments.bytes[row];
  if (segments.is_workspace[row]) replay_.end.workspace += segments.bytes[row];
  streams_.insert(segments.stream[row]);
  replay_.end.streams = static_cast<std::int64_t>(streams_.size());
}

void Backwards::AddBlock(std::size_t row) {
  const MemoryBlocks& blocks = trace_.memory_blocks;
  if (blocks.state[row] == BlockState::kInactive) return;
  const std::int64_t asked = blocks.requested[row] >= 0 ? blocks.requested[row] : blocks.bytes[row];
  replay_.end.in_use += blocks.bytes[row];
  replay_.end.asked += asked;
  if (blocks.state[row] == BlockState::kAwaitingFree) replay_.end.awaiting_free += asked;
  open_[blocks.address[row]] = replay_.lives.size();
  in_use_ += asked;
  replay_.lives.push_back({.address = blocks.address[row],
                           .bytes = asked,
                           .occupied = blocks.bytes[row],
                           .stack = blocks.stack[row]});
}

void Backwards::UndoAllocation(std::size_t row, std::int64_t position) {
  const MemoryActions& actions = trace_.memory_actions;
  const auto found = open_.find(actions.address[row]);
  if (found == open_.end()) {
    ++replay_.contradictions;
    return;
  }
  AllocatorLife& life = replay_.lives[found->second];
  life.begin = position;
  if (actions.stack[row] >= 0) life.stack = actions.stack[row];
  in_use_ -= life.bytes;
  open_.erase(found);
}

void Backwards::UndoFree(std::size_t row, std::int64_t position) {
  const MemoryActions& actions = trace_.memory_actions;
  const auto [open, is_new] = open_.try_emplace(actions.address[row], replay_.lives.size());
  if (!is_new) {
    ++replay_.contradictions;
    return;
  }
  in_use_ += actions.bytes[row];
  replay_.lives.push_back({.end = position,
                           .address = actions.address[row],
                           .bytes = actions.bytes[row],
                           .occupied = Rounded(actions.bytes[row])});
}

FreePieces Backwards::FreeNow() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> held;  // begins and ends
  for (const auto& [address, life] : open_)
    held.emplace_back(address, address + replay_.lives[life].occupied);
  std::sort(held.begin(), held.end());
  FreePieces free;
  auto next = held.begin();
  for (const auto& one : reserved_.All()) {
    const Reserved::Range& range = one.second;
    while (next != held.end() && next->first < one.first) ++next;
    std::int64_t from = one.first;
    bool behind_block = false;
    const auto add = [&](std::int64_t to) {
      // A small rest behind a block is part of it.
      const bool is_rest = behind_block && !range.is_expandable && to - from <= kUnsplit;
      if (to > from && range.is_large && !is_rest) free.Add(to - from);
    };
    for (; next != held.end() && next->first < range.end; ++next) {
      add(next->first);
      from = std::max(from, next->second);
      behind_block = true;
    }
    add(range.end);
  }
  return free;
}

void Backwards::Failed(std::size_t row, std::int64_t position) {
  ++replay_.out_of_memory_count;
  if (replay_.out_of_memory.size() == kMostFailures) return;
  const MemoryActions& actions = trace_.memory_actions;
  replay_.out_of_memory.push_back({.position = position,
                                   .asked = actions.bytes[row],
                                   .device_free = actions.address[row],
                                   .in_use = in_use_,
                                   .reserved = reserved_bytes_,
                                   .free = FreeNow(),
                                   .stack = actions.stack[row]});
}

void Backwards::Undo(std::size_t row, std::int64_t position) {
  const MemoryActions& actions = trace_.memory_actions;
  const std::int64_t address = actions.address[row], bytes = actions.bytes[row];
  switch (actions.action[row]) {
    case MemoryAction::kAllocate:
      UndoAllocation(row, position);
      break;
    case MemoryAction::kFree:
      UndoFree(row, position);
      break;
    case MemoryAction::kSegmentAlloc:
    case MemoryAction::kSegmentMap:
      reserved_.Take(address, bytes);
      reserved_bytes_ -= bytes;
      break;
    case MemoryAction::kSegmentFree:
    case MemoryAction::kSegmentUnmap: {
      const bool is_expandable = actions.action[row] == MemoryAction::kSegmentUnmap;
      reserved_.Add(address, bytes, is_expandable || bytes > kSmallSegment, is_expandable);
      reserved_bytes_ += bytes;
      break;
    }
    case MemoryAction::kOutOfMemory:
      Failed(row, position);
      break;
    case MemoryAction::kRequestFree:
    case MemoryAction::kSnapshot:
      break;
  }
}

void Backwards::Run() {
  replay_.reserved.resize(replay_.actions);
  for (std::size_t i = replay_.actions; i-- > 0;) {
    replay_.reserved[i] = reserved_bytes_;
    Undo(replay_.first_action + i, static_cast<std::int64_t>(i));
  }
  replay_.reserved_before = reserved_bytes_;
  std::reverse(replay_.out_of_memory.begin(), replay_.out_of_memory.end());
  StableSort(replay_.lives, {}, &AllocatorLife::begin);
}

using Key = std::pair<std::int32_t, std::int64_t>;  // snapshot and device

// What is free in the end. Rows of the blocks follow each other by segment.
void MeasureFree(const RankTrace& trace, const std::map<Key, std::size_t>& places,
                 std::vector<AllocatorReplay>& replays) {
  const MemorySegments& segments = trace.memory_segments;
  const MemoryBlocks& blocks = trace.memory_blocks;
  std::vector<FreePieces> free(segments.Size());
  std::vector<bool> in_use(segments.Size());
  for (std::size_t row = 0; row < blocks.Size(); ++row) {
    const auto segment = static_cast<std::size_t>(blocks.segment[row]);
    if (blocks.state[row] == BlockState::kInactive) {
      free[segment].Add(blocks.bytes[row]);
    } else {
      in_use[segment] = true;
    }
  }
  for (std::size_t row = 0; row < segments.Size(); ++row) {
    if (segments.is_workspace[row]) continue;
    HeldAtEnd& end = replays[places.at({segments.snapshot[row], segments.device[row]})].end;
    if (!in_use[row] && !segments.is_expandable[row]) {
      end.unsplit += free[row].bytes;
      continue;
    }
    const bool is_common = segments.is_large[row] && segments.pool[row] == StringId::kEmpty;
    FreePieces& pieces = is_common ? end.free : end.small_free;
    pieces.bytes += free[row].bytes;
    pieces.pieces += free[row].pieces;
    pieces.largest = std::max(pieces.largest, free[row].largest);
  }
}

}  // namespace

std::int64_t AllocatorReplay::Before() const {
  std::int64_t bytes = 0;
  for (const AllocatorLife& life : lives) {
    if (life.begin >= 0) break;
    bytes += life.bytes;
  }
  return bytes;
}

std::vector<AllocatorReplay> ReplayAllocators(const RankTrace& trace) {
  std::map<Key, std::size_t> places;
  const MemoryActions& actions = trace.memory_actions;
  const MemorySegments& segments = trace.memory_segments;
  const MemoryBlocks& blocks = trace.memory_blocks;
  std::map<Key, std::pair<std::size_t, std::size_t>> rows;  // first action and how many
  for (std::size_t row = 0; row < segments.Size(); ++row)
    rows.try_emplace({segments.snapshot[row], segments.device[row]});
  for (std::size_t row = 0; row < actions.Size(); ++row) {
    auto& [first, count] = rows[{actions.snapshot[row], actions.device[row]}];
    if (count++ == 0) first = row;
  }
  std::vector<AllocatorReplay> replays;
  for (const auto& [key, range] : rows) {
    places.emplace(key, replays.size());
    replays.push_back({.snapshot = key.first,
                       .device = key.second,
                       .first_action = range.first,
                       .actions = range.second});
  }
  std::vector<Backwards> players;
  players.reserve(replays.size());
  for (AllocatorReplay& replay : replays) players.emplace_back(trace, replay);
  const auto of_segment = [&](std::size_t row) {
    return places.at({segments.snapshot[row], segments.device[row]});
  };
  for (std::size_t row = 0; row < segments.Size(); ++row) players[of_segment(row)].AddSegment(row);
  for (std::size_t row = 0; row < blocks.Size(); ++row)
    players[of_segment(static_cast<std::size_t>(blocks.segment[row]))].AddBlock(row);
  for (Backwards& player : players) player.Run();
  MeasureFree(trace, places, replays);
  return replays;
}

std::vector<std::int64_t> InUseOverTime(const AllocatorReplay& replay) {
  std::vector<std::int64_t> bytes(replay.actions + 1);
  for (const AllocatorLife& life : replay.lives) {
    bytes[static_cast<std::size_t>(life.begin + 1)] += life.bytes;
    if (life.end != kHeldToTheEnd) bytes[static_cast<std::size_t>(life.end + 1)] -= life.bytes;
  }
  for (std::size_t i = 1; i < bytes.size(); ++i) bytes[i] += bytes[i - 1];
  return bytes;
}

}  // namespace mpa
