// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "mpa/model/device_tables.h"

namespace mpa {

/// The type of a task as the runtime calls it: "EVENT_WAIT" where the device says "EVENT_WAIT_SQE".
std::string_view WithoutQueueEntry(std::string_view type);

/// The types of copies and memsets of GPUs.
inline constexpr std::string_view kGpuCopy = "gpu_memcpy", kGpuMemset = "gpu_memset";

/// The type of a task that is no work: the time on a stream of a mark or range that the program set.
inline constexpr std::string_view kStreamMark = "MsTx";

/// True for the name or type of a task that copies between memories, or fills one.
bool IsCopy(std::string_view name_or_type);

/// From the vendor's number of what a copy does, as in ENUM_MEMCPY_OPERATION of databases.
CopyDirection CopyDirectionOf(std::int64_t operation);
/// The same from its name on the timeline: "host to device".
CopyDirection CopyDirectionNamed(std::string_view operation);

/// True for a task that does work for its launcher: a copy or a kernel. Only kernels have a name
/// that is not a type. Other tasks wait, signal or mark a place.
bool IsWork(std::string_view name, std::string_view type);

/// True for the type of a task that bounds the span of the device's work. Tasks of other types
/// bound it through the kernels and collectives they belong to, are the profiler's own switches, or
/// marks of the program.
bool BoundsDeviceSpan(std::string_view type);

}  // namespace mpa
