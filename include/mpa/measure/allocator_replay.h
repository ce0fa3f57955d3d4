// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"

/// The history of a memory snapshot, played backwards from what the allocator held in the end. The
/// beginning of a history may be lost, its end never is.
namespace mpa {

/// The end of what was held to the last.
inline constexpr std::int64_t kHeldToTheEnd = std::numeric_limits<std::int64_t>::max();

/// An allocation. Positions are those of the actions of its device, from 0; -1: before them.
struct AllocatorLife {
  std::int64_t begin = -1, end = kHeldToTheEnd;  ///< held from `begin` on, not any more at `end`
  std::int64_t address = 0;
  std::int64_t bytes = 0;     ///< that the program asked for
  std::int64_t occupied = 0;  ///< of the segment, at least
  std::int32_t stack = -1;    ///< row of the calls

  bool Holds(std::int64_t position) const { return begin <= position && position < end; }
};

/// Free pieces of the segments. Only those of the common pool for large blocks serve a large
/// allocation; pools of graphs and small blocks keep theirs.
struct FreePieces {
  std::int64_t bytes = 0, pieces = 0, largest = 0;

  void Add(std::int64_t piece) {
    bytes += piece;
    ++pieces;
    if (piece > largest) largest = piece;
  }
};

/// An allocation that failed, and what there was at that time.
struct OutOfMemory {
  std::int64_t position = 0;
  std::int64_t asked = 0;
  std::int64_t device_free = -1;  ///< bytes that no process had taken
  std::int64_t in_use = 0, reserved = 0;
  FreePieces free{};  ///< of segments for large blocks
  std::int32_t stack = -1;
};

/// What a device held in the end.
struct HeldAtEnd {
  std::int64_t segments = 0, reserved = 0;
  std::int64_t in_use = 0;         ///< bytes of the blocks in use, as large as they are
  std::int64_t asked = 0;          ///< bytes that the program asked for of them
  std::int64_t awaiting_free = 0;  ///< of those bytes, what the program released already
  std::int64_t workspace = 0;      ///< bytes of the segments for scratch memory of operators
  std::int64_t unsplit = 0;        ///< free bytes of segments that are free as a whole
  FreePieces free;                 ///< large pieces within segments that are in use
  FreePieces small_free;           ///< the same of segments for small blocks and pools of graphs
  bool is_expandable = false;      ///< of the segments, any
  std::int64_t streams = 0;        ///< a free piece serves its own stream only
};

/// The allocator of one device in one snapshot.
struct AllocatorReplay {
  std::int32_t snapshot = 0;
  std::int64_t device = -1;
  std::size_t first_action = 0, actions = 0;  ///< rows of the actions
  std::vector<AllocatorLife> lives{};         ///< in order of their begins
  std::vector<std::int64_t> reserved{};       ///< after each action
  std::int64_t reserved_before = 0;
  HeldAtEnd end{};
  std::int64_t out_of_memory_count = 0;
  std::vector<OutOfMemory> out_of_memory{};  ///< the last ones, in order
  /// Actions that what is held in the end contradicts: allocations of what was never released and
  /// is not held, releases of what is held.
  std::int64_t contradictions = 0;

  /// Bytes asked for by what was held before the history.
  std::int64_t Before() const;
};

/// In order of snapshots and devices. Devices without anything are left out.
std::vector<AllocatorReplay> ReplayAllocators(const RankTrace& trace);

/// Bytes asked for after each action; position 0 is before the first one.
std::vector<std::int64_t> InUseOverTime(const AllocatorReplay& replay);

/// Where the program allocated.
struct AllocationSite {
  /// "aten::zeros", or where the stack does not tell, the innermost function of Python.
  std::string function{};
  /// The function of the program itself, where it is another, "train_step"; or, of what Python did
  /// not call, the node of the backward pass.
  std::string within{};
  std::string line{};  ///< of the program itself: "train.py:90"; empty: unknown

  friend auto operator<=>(const AllocationSite&, const AllocationSite&) = default;
};

/// Finds the sites of call stacks. Refers to the rank.
class AllocationSites {
 public:
  explicit AllocationSites(const RankTrace& trace) : trace_(trace) {}
  /// Of a row of the calls; of -1 an empty one.
  const AllocationSite& Of(std::int32_t stack);

 private:
  const RankTrace& trace_;
  std::vector<std::optional<AllocationSite>> sites_;  // by row
  AllocationSite none_;
};

}  // namespace mpa
