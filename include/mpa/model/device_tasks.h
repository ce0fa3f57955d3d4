// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpa {

/// The type of a task as the runtime calls it: "EVENT_WAIT" where the device says "EVENT_WAIT_SQE".
std::string_view WithoutQueueEntry(std::string_view type);

/// True for the name or type of a task that copies between memories.
bool IsCopy(std::string_view name_or_type);

/// True for a task that does work for its launcher: a copy or a kernel. Only kernels have a name
/// that is not a type. Other tasks wait, signal or mark a place.
bool IsWork(std::string_view name, std::string_view type);

/// True for the type of a task that bounds the span of the device's work. Tasks of other types
/// bound it through the kernels and collectives they belong to, or are the profiler's own switches.
bool BoundsDeviceSpan(std::string_view type);

}  // namespace mpa
