// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "mpa/model/device_tasks.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// True for a device task that copies between memories and is no part of a collective: databases
/// name such copies only, and the timeline calls copies of collectives by other names.
inline bool IsMemoryCopy(const RankTrace& trace, std::size_t task) {
  return trace.strings.View(trace.device_tasks.name[task]) == "MEMCPY_ASYNC";
}

/// What kind of task it is, under one name in all formats: "MEMCPY_ASYNC", "EVENT_WAIT".
inline std::string_view TaskKind(const RankTrace& trace, std::size_t task) {
  if (IsMemoryCopy(trace, task)) return "MEMCPY_ASYNC";
  const std::string_view type =
      WithoutQueueEntry(trace.strings.View(trace.device_tasks.type[task]));
  return type == "AI_CPU" ? "KERNEL_AICPU" : type;  // so it is called in databases
}

}  // namespace mpa
