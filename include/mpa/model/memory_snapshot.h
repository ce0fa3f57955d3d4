// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Snapshots of the framework's allocator: what it holds, and what it did before (`_dump_snapshot`
/// of torch and torch_npu).
namespace mpa {

/// The files. Row number = snapshot.
template <template <typename> class Of>
struct MemorySnapshotFields {
  Of<StringId> file{};                         ///< its name
  Of<StringId> settings{};                     ///< of the allocator, "max_split_size_mb:128"
  Of<std::int64_t> max_split = Initially{-1};  ///< larger blocks are not split; -1: no limit known
};
struct MemorySnapshots : Table<MemorySnapshotFields> {};

/// The calls in which memory was allocated or released, as a tree. Row number = stack: the call and
/// those around it.
template <template <typename> class Of>
struct MemoryCallFields {
  Of<std::int32_t> caller = Initially{-1};  ///< row of the call around it, which comes before
  Of<StringId> file{}, function{};
  Of<std::int32_t> line = Initially{-1};
};
struct MemoryCalls : Table<MemoryCallFields> {};

/// What the allocator took from the device. Row number = segment.
template <template <typename> class Of>
struct MemorySegmentFields {
  Of<std::int32_t> snapshot{};
  Of<std::int64_t> device = Initially{-1};
  Of<std::int64_t> address{}, bytes{};
  Of<std::int64_t> stream = Initially{-1};
  Of<StringId> pool{};       ///< "0,1" of a graph; empty: that of all others
  Of<bool> is_large{};       ///< of the pool for large blocks
  Of<bool> is_expandable{};  ///< grows in place, so free ends of it can be returned
  Of<bool> is_workspace{};   ///< scratch memory of operators: in use, whatever its block says
  Of<std::int32_t> stack = Initially{-1};  ///< row of the calls
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
  Of<std::int32_t> segment = Initially{-1};
  Of<std::int64_t> address{}, bytes{};
  Of<std::int64_t> requested = Initially{-1};  ///< by the program; -1: not recorded
  Of<BlockState> state{};
  Of<std::int32_t> stack = Initially{-1};  ///< row of the calls
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

/// What the allocator did, those of a device oldest first; the oldest may be lost. `bytes` of
/// allocations and releases are what the program asked for.
template <template <typename> class Of>
struct MemoryActionFields {
  Of<std::int32_t> snapshot{};
  Of<std::int32_t> device = Initially{-1};
  Of<MemoryAction> action{};
  Of<std::int64_t> address{}, bytes{};
  Of<std::int64_t> stream = Initially{-1};
  Of<TimeNs> time = Initially{-1};         ///< -1: not recorded
  Of<std::int32_t> stack = Initially{-1};  ///< row of the calls
};
struct MemoryActions : Table<MemoryActionFields> {};

}  // namespace mpa
