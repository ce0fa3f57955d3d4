// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "mpa/model/memory_snapshot.h"

namespace mpa::readers {

/// The words of memory snapshots: the keys of their dicts, then values.
enum class Word : std::uint8_t {
  kUnknown,
  kAction,
  kAddr,
  kDeviceFree,
  kSize,
  kStream,
  kTimeUs,
  kFrames,
  kAddress,
  kRequestedSize,
  kState,
  kHistory,
  kRealSize,
  kDevice,
  kTotalSize,
  kAllocatedSize,
  kActiveSize,
  kSegmentType,
  kSegmentPoolId,
  kIsExpandable,
  kBlocks,
  kFilename,
  kName,
  kLine,
  kSegments,
  kDeviceTraces,
  kAllocatorSettings,
  kMaxSplitSize,
  kCudaConf,
  kNpuConf,
  kConf,
  kLastKey = kConf,

  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kSnapshot,
  kOom,
  kWorkspaceSnapshot,
  kEmptyCache,
  kLarge,
  kActiveAllocated,
  kActivePendingFree,
  kActiveAwaitingFree,
  kInactive,
};
inline constexpr std::size_t kKeys = static_cast<std::size_t>(Word::kLastKey) + 1;

Word WordOf(std::string_view text);
/// Empty for other words.
std::optional<MemoryAction> ActionOf(Word word);
std::optional<BlockState> StateOf(Word word);

}  // namespace mpa::readers
