// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// What the device did: tasks, runs, compiled models, and its memory.
namespace mpa {

/// Between which memories a copy moves data.
enum class CopyDirection : std::uint8_t { kUnknown, kToDevice, kToHost, kWithinDevice };

/// Everything that occupied a device stream: kernels, copies, event waits, markers.
struct DeviceTasks : TableBase<DeviceTasks> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};  ///< databases record it of copies only
    StringId type{};  ///< AI_CORE, KERNEL_AIVEC, EVENT_WAIT_SQE, SDMA_SQE, gpu_memcpy, ...
    std::int64_t task_id = -1;
    std::int64_t stream = -1;
    std::int64_t link = -1;
    /// The fraction of the duration that `dur` cannot hold, in ns: some versions write finer
    /// durations.
    double dur_rest = 0;
    std::int64_t connection = -1;  ///< the host call that launched it, see HostCalls
    std::int64_t model = -1;       ///< compiled model or graph that it is part of
    CopyDirection direction{};     ///< of a copy, where the capture tells
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name, type;
  std::vector<std::int64_t> task_id, stream, link;
  std::vector<double> dur_rest;
  std::vector<std::int64_t> connection, model;
  std::vector<CopyDirection> direction;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.type, t.task_id, t.stream, t.link, t.dur_rest,
                    t.connection, t.model, t.direction);
  }
};

/// The kind of a device run.
enum class DeviceRunKind : std::uint8_t { kKernel, kCollective };

/// What the devices computed and communicated, as the timeline shows it, with the host call that
/// launched it and the compiled model it belongs to. Waits, copies and marks are left out. Unlike
/// Kernels it needs no file other than the timeline.
struct DeviceRuns : TableBase<DeviceRuns> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};
    DeviceRunKind kind{};
    std::int64_t connection = -1;  ///< see HostCalls
    std::int64_t model = -1;       ///< -1: launched by itself, not as part of a model
    std::int64_t pid = -1;         ///< process that owns the work; -1: the capture does not say
    std::int64_t device = -1;      ///< number of the device
    std::int64_t stream = -1;      ///< of a kernel
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<DeviceRunKind> kind;
  std::vector<std::int64_t> connection, model, pid, device, stream;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.kind, t.connection, t.model, t.pid, t.device,
                    t.stream);
  }
};

/// Runs of compiled models on the device (the track "Step Trace" of text captures).
struct ModelIterations : TableBase<ModelIterations> {
  struct Row {
    TimeNs start = 0, dur = 0;
    std::int64_t model = -1;
    std::int64_t iteration = -1;  ///< counted for each model; HostCalls.request names it
  };
  std::vector<TimeNs> start, dur;
  std::vector<std::int64_t> model, iteration;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.model, t.iteration);
  }
};

/// What the device did according to the profiler's own overlap analysis.
enum class Activity : std::uint8_t { kComputing, kCommunication, kExposedCommunication, kFree };

struct Overlaps : TableBase<Overlaps> {
  struct Row {
    TimeNs start = 0, dur = 0;
    Activity activity{};
  };
  std::vector<TimeNs> start, dur;
  std::vector<Activity> activity;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.activity);
  }
};

/// Device memory over time, as the allocators report it.
struct MemorySamples : TableBase<MemorySamples> {
  struct Row {
    TimeNs time = 0;
    StringId component{};  ///< PTA, GE, APP, ...
    std::int64_t reserved_bytes = 0;
    std::int64_t allocated_bytes = -1;  ///< of those, what tensors hold; -1: not recorded
  };
  std::vector<TimeNs> time;
  std::vector<StringId> component;
  std::vector<std::int64_t> reserved_bytes, allocated_bytes;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.component, t.reserved_bytes, t.allocated_bytes);
  }
};

/// The life of one allocation of an operator.
struct Allocations : TableBase<Allocations> {
  struct Row {
    StringId name{};
    std::int64_t bytes = 0;
    TimeNs allocated = -1, released = -1;
  };
  std::vector<StringId> name;
  std::vector<std::int64_t> bytes;
  std::vector<TimeNs> allocated, released;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.name, t.bytes, t.allocated, t.released);
  }
};

}  // namespace mpa
