// SPDX-License-Identifier: Apache-2.0
// The words of memory snapshots, as torch and torch_npu write them.
#include "snapshot_words.h"

#include <algorithm>
#include <utility>

namespace mpa::readers {
namespace {

constexpr std::pair<std::string_view, Word> kWords[] = {
    {"action", Word::kAction},
    {"addr", Word::kAddr},
    {"device_free", Word::kDeviceFree},
    {"size", Word::kSize},
    {"stream", Word::kStream},
    {"time_us", Word::kTimeUs},
    {"frames", Word::kFrames},
    {"address", Word::kAddress},
    {"requested_size", Word::kRequestedSize},
    {"state", Word::kState},
    {"history", Word::kHistory},
    {"real_size", Word::kRealSize},
    {"device", Word::kDevice},
    {"total_size", Word::kTotalSize},
    {"allocated_size", Word::kAllocatedSize},
    {"active_size", Word::kActiveSize},
    {"segment_type", Word::kSegmentType},
    {"segment_pool_id", Word::kSegmentPoolId},
    {"is_expandable", Word::kIsExpandable},
    {"blocks", Word::kBlocks},
    {"filename", Word::kFilename},
    {"name", Word::kName},
    {"line", Word::kLine},
    {"segments", Word::kSegments},
    {"device_traces", Word::kDeviceTraces},
    {"allocator_settings", Word::kAllocatorSettings},
    {"max_split_size", Word::kMaxSplitSize},
    {"PYTORCH_CUDA_ALLOC_CONF", Word::kCudaConf},
    {"PYTORCH_NPU_ALLOC_CONF", Word::kNpuConf},
    {"PYTORCH_ALLOC_CONF", Word::kConf},
    {"alloc", Word::kAlloc},
    {"free_requested", Word::kFreeRequested},
    {"free_completed", Word::kFreeCompleted},
    {"free", Word::kFreeCompleted},
    {"segment_alloc", Word::kSegmentAlloc},
    {"segment_free", Word::kSegmentFree},
    {"segment_map", Word::kSegmentMap},
    {"segment_unmap", Word::kSegmentUnmap},
    {"snapshot", Word::kSnapshot},
    {"oom", Word::kOom},
    {"workspace_snapshot", Word::kWorkspaceSnapshot},
    {"empty_cache", Word::kEmptyCache},
    {"large", Word::kLarge},
    {"active_allocated", Word::kActiveAllocated},
    {"active_pending_free", Word::kActivePendingFree},
    {"active_awaiting_free", Word::kActiveAwaitingFree},
    {"inactive", Word::kInactive},
};

}  // namespace

Word WordOf(std::string_view text) {
  const auto* const found =
      std::ranges::find(kWords, text, &std::pair<std::string_view, Word>::first);
  return found == std::end(kWords) ? Word::kUnknown : found->second;
}

std::optional<MemoryAction> ActionOf(Word word) {
  switch (word) {
    case Word::kAlloc:
      return MemoryAction::kAllocate;
    case Word::kFreeRequested:
      return MemoryAction::kRequestFree;
    case Word::kFreeCompleted:
      return MemoryAction::kFree;
    case Word::kSegmentAlloc:
      return MemoryAction::kSegmentAlloc;
    case Word::kSegmentFree:
      return MemoryAction::kSegmentFree;
    case Word::kSegmentMap:
      return MemoryAction::kSegmentMap;
    case Word::kSegmentUnmap:
      return MemoryAction::kSegmentUnmap;
    case Word::kSnapshot:
      return MemoryAction::kSnapshot;
    case Word::kOom:
      return MemoryAction::kOutOfMemory;
    default:
      return std::nullopt;
  }
}

std::optional<BlockState> StateOf(Word word) {
  switch (word) {
    case Word::kActiveAllocated:
      return BlockState::kAllocated;
    case Word::kActivePendingFree:
    case Word::kActiveAwaitingFree:
      return BlockState::kAwaitingFree;
    case Word::kInactive:
      return BlockState::kInactive;
    default:
      return std::nullopt;
  }
}

}  // namespace mpa::readers
