// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/device_tasks.h"

#include "mpa/base/text.h"

namespace mpa {

std::string_view WithoutQueueEntry(std::string_view type) {
  constexpr std::string_view kQueueEntry = "_SQE";
  if (type.ends_with(kQueueEntry)) type.remove_suffix(kQueueEntry.size());
  return type;
}

bool IsCopy(std::string_view name_or_type) {
  return IsOneOf(name_or_type,
                 {"MEMCPY_ASYNC", "SDMA_SQE", "PCIE_DMA_SQE", "SDMA", kGpuCopy, kGpuMemset});
}

CopyDirection CopyDirectionOf(std::int64_t operation) {
  switch (operation) {
    case 1:
    case 6:
      return CopyDirection::kToDevice;
    case 2:
    case 7:
      return CopyDirection::kToHost;
    case 3:
    case 5:
      return CopyDirection::kWithinDevice;
    default:
      return CopyDirection::kUnknown;
  }
}

CopyDirection CopyDirectionNamed(std::string_view operation) {
  if (operation.starts_with("host to device")) return CopyDirection::kToDevice;
  if (operation.starts_with("device to host")) return CopyDirection::kToHost;
  if (operation.ends_with("device to device")) return CopyDirection::kWithinDevice;
  return CopyDirection::kUnknown;
}

bool BoundsDeviceSpan(std::string_view type) {
  return !IsOneOf(type, {"KERNEL_AICORE", "KERNEL_AIVEC", "FFTS_PLUS", "KERNEL_MIX_AIC",
                         "KERNEL_MIX_AIV", "PROFILING_ENABLE", "PROFILING_DISABLE", kStreamMark});
}

bool IsWork(std::string_view name, std::string_view type) {
  if (name.empty()) return false;
  if (IsCopy(name) || IsCopy(type)) return true;
  const std::string_view kind = WithoutQueueEntry(type);
  return WithoutQueueEntry(name) != kind &&
         !IsOneOf(kind, {"EVENT_WAIT", "EVENT_RECORD", "NOTIFY_WAIT", "NOTIFY_RECORD",
                         "WRITE_VALUE", "PLACE_HOLDER"});
}

}  // namespace mpa
