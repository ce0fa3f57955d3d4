// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What the device did: tasks, runs, compiled models, and its memory.
namespace mpa {

/// Between which memories a copy moves data.
enum class CopyDirection : std::uint8_t { kUnknown, kToDevice, kToHost, kWithinDevice };

/// Everything that occupied a device stream: kernels, copies, event waits, markers.
template <template <typename> class Of>
struct DeviceTaskFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};  ///< databases record it of copies only
  Of<StringId> type{};  ///< AI_CORE, KERNEL_AIVEC, EVENT_WAIT_SQE, SDMA_SQE, gpu_memcpy, ...
  Of<std::int64_t> task_id = Initially{-1};
  Of<std::int64_t> stream = Initially{-1};
  Of<std::int64_t> link = Initially{-1};
  /// The fraction of the duration that `dur` cannot hold, in ns: some versions write finer
  /// durations.
  Of<double> dur_rest{};
  Of<std::int64_t> connection = Initially{-1};  ///< the host call that launched it, see HostCalls
  Of<std::int64_t> model = Initially{-1};       ///< compiled model or graph that it is part of
  Of<std::int64_t> number = Initially{-1};  ///< on its stream; of a graph the same in each replay
  Of<CopyDirection> direction{};            ///< of a copy, where the capture tells
};
struct DeviceTasks : Table<DeviceTaskFields> {};

/// The kind of a device run.
enum class DeviceRunKind : std::uint8_t { kKernel, kCollective };

/// What the devices computed and communicated, as the timeline shows it, with the host call that
/// launched it and the compiled model it belongs to. Waits, copies and marks are left out. Unlike
/// Kernels it needs no file other than the timeline.
template <template <typename> class Of>
struct DeviceRunFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};
  Of<DeviceRunKind> kind{};
  Of<std::int64_t> connection = Initially{-1};  ///< see HostCalls
  Of<std::int64_t> model = Initially{-1};       ///< -1: launched by itself, not as part of a model
  Of<std::int64_t> pid =
      Initially{-1};  ///< process that owns the work; -1: the capture does not say
  Of<std::int64_t> device = Initially{-1};  ///< number of the device
  Of<std::int64_t> stream = Initially{-1};  ///< of a kernel
};
struct DeviceRuns : Table<DeviceRunFields> {};

/// Runs of compiled models on the device (the track "Step Trace" of text captures).
template <template <typename> class Of>
struct ModelIterationFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> model = Initially{-1};
  Of<std::int64_t> iteration =
      Initially{-1};  ///< counted for each model; HostCalls.request names it
};
struct ModelIterations : Table<ModelIterationFields> {};

/// What the device did according to the profiler's own overlap analysis; of one device and activity
/// the intervals are disjoint.
enum class Activity : std::uint8_t { kComputing, kCommunication, kExposedCommunication, kFree };

template <template <typename> class Of>
struct OverlapFields {
  Of<TimeNs> start{}, dur{};
  Of<Activity> activity{};
  Of<std::int64_t> device = Initially{-1};  ///< raw captures alone may hold several
};
struct Overlaps : Table<OverlapFields> {};

/// Device memory over time, as the allocators report it.
template <template <typename> class Of>
struct MemorySampleFields {
  Of<TimeNs> time{};
  Of<StringId> component{};  ///< PTA, GE, APP, ...
  Of<std::int64_t> reserved_bytes{};
  Of<std::int64_t> allocated_bytes =
      Initially{-1};  ///< of those, what tensors hold; -1: not recorded
};
struct MemorySamples : Table<MemorySampleFields> {};

/// The life of one allocation of an operator.
template <template <typename> class Of>
struct AllocationFields {
  Of<StringId> name{};
  Of<std::int64_t> bytes{};
  Of<TimeNs> allocated = Initially{-1}, released = Initially{-1};
};
struct Allocations : Table<AllocationFields> {};

}  // namespace mpa
