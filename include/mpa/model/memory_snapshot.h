// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// A snapshot of the framework's allocator: what it holds, and what it did before (`_dump_snapshot`
/// of torch and torch_npu).
namespace mpa {

/// What the allocator took from the device. Row number = segment.
template <template <typename> class Of>
struct MemorySegmentFields {
  Of<std::int64_t> device = Initially{-1};
  Of<std::int64_t> address{}, bytes{};
  Of<std::int64_t> stream = Initially{-1};
  Of<bool> is_large{};       ///< of the pool for large blocks
  Of<bool> is_expandable{};  ///< grows in place, so free ends of it can be returned
};
struct MemorySegments : Table<MemorySegmentFields> {};

enum class BlockState : std::uint8_t {
  kAllocated,
  kAwaitingFree,  ///< released by the program, still used by another stream
  kInactive,      ///< free, within its segment
};

/// The pieces of the segments, in order of their addresses.
template <template <typename> class Of>
struct MemoryBlockFields {
  Of<std::int64_t> segment = Initially{-1};
  Of<std::int64_t> address{}, bytes{};
  Of<std::int64_t> requested = Initially{-1};  ///< by the program; -1: not recorded
  Of<BlockState> state{};
  Of<StringId> stack{};  ///< lines "file:line function", innermost first
};
struct MemoryBlocks : Table<MemoryBlockFields> {};

enum class MemoryAction : std::uint8_t {
  kAllocate,
  kRequestFree,   ///< the program released it
  kFree,          ///< it can be used again
  kSegmentAlloc,  ///< taken from the device
  kSegmentFree,   ///< given back to the device
  kSegmentMap,    ///< an expandable segment grew
  kSegmentUnmap,
  kSnapshot,
  kOutOfMemory,  ///< `address` is what the device had free
};

/// What the allocator did, oldest first; the oldest may be lost.
template <template <typename> class Of>
struct MemoryActionFields {
  Of<std::int64_t> device = Initially{-1};
  Of<MemoryAction> action{};
  Of<std::int64_t> address{}, bytes{};
  Of<std::int64_t> stream = Initially{-1};
  Of<TimeNs> time = Initially{-1};  ///< -1: not recorded
  Of<StringId> stack{};             ///< see MemoryBlocks
};
struct MemoryActions : Table<MemoryActionFields> {};

}  // namespace mpa
