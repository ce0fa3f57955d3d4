// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// What the framework recorded (FRAMEWORK), decoded and joined. Times are nanoseconds since the
/// epoch; -1: not known.
namespace mpa::raw {

/// Operators of the framework. In order of start, enclosing ones first.
struct TorchOps : TableBase<TorchOps> {
  struct Row {
    TimeNs start = 0, end = 0;
    StringId name{};
    std::int64_t process = -1, thread = -1;
    std::int64_t sequence = -1;       ///< of autograd; -1 none
    std::int64_t forward_thread = 0;  ///< of an operator of the backward pass, else 0
    std::int64_t scope = 0;
    /// Row of the innermost operator around it, on whatever thread it runs; -1: none. Earlier than
    /// its own row.
    std::int32_t parent = -1;
    // As recorded, empty where it was not.
    StringId shapes{};   ///< "2,1024;64"
    StringId types{};    ///< "long int;float"
    StringId stack{};    ///< entries separated by ';'
    StringId modules{};  ///< module hierarchy
    StringId extra{};    ///< "k:v;k:v;"
  };
  std::vector<TimeNs> start, end;
  std::vector<StringId> name;
  std::vector<std::int64_t> process, thread, sequence, forward_thread, scope;
  std::vector<std::int32_t> parent;
  std::vector<StringId> shapes, types, stack, modules, extra;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.name, t.process, t.thread, t.sequence, t.forward_thread,
                    t.scope, t.parent, t.shapes, t.types, t.stack, t.modules, t.extra);
  }
};

/// One side of work handed over by the task queue. In order of start.
struct QueueRanges : TableBase<QueueRanges> {
  struct Row {
    TimeNs start = 0, end = 0;
    bool dequeue = false;
    std::int64_t correlation = 0;  ///< the same on both sides
    StringId name{};  ///< bare name of the work; empty for an enqueue whose dequeue is lost
    std::int64_t process = -1, thread = -1;
    std::int32_t op = -1;     ///< of an enqueue the operator in which it happened, row in TorchOps
    std::int32_t other = -1;  ///< row of the other side, -1: lost
  };
  std::vector<TimeNs> start, end;
  std::vector<std::uint8_t> dequeue;
  std::vector<std::int64_t> correlation;
  std::vector<StringId> name;
  std::vector<std::int64_t> process, thread;
  std::vector<std::int32_t> op, other;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.dequeue, t.correlation, t.name, t.process, t.thread, t.op,
                    t.other);
  }
};

/// Calls of Python functions, of C functions from Python, and of modules. In order of start.
struct PythonCalls : TableBase<PythonCalls> {
  struct Row {
    TimeNs start = 0, end = 0;
    StringId name{};  ///< "train.py(52): train_step", "nn.Module: Linear_0"
    std::int64_t process = -1, thread = -1;
    std::int64_t id = -1, parent_id = -1;  ///< as the timeline shows them
    std::int64_t module_id = -1;           ///< ordinal of the module in its class; -1: no module
  };
  std::vector<TimeNs> start, end;
  std::vector<StringId> name;
  std::vector<std::int64_t> process, thread, id, parent_id, module_id;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.name, t.process, t.thread, t.id, t.parent_id, t.module_id);
  }
};

/// Garbage collections of Python.
struct Collections : TableBase<Collections> {
  struct Row {
    TimeNs start = 0, end = 0;
    std::int64_t process = -1;
  };
  std::vector<TimeNs> start, end;
  std::vector<std::int64_t> process;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.process);
  }
};

/// What the allocators of the framework did. In order of time.
struct AllocatorEvents : TableBase<AllocatorEvents> {
  struct Row {
    TimeNs time = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;                                ///< negative: given back
    std::int64_t allocated = 0, reserved = 0, active = 0;  ///< bytes in all, after it
    std::uint64_t stream = 0;                              ///< pointer of the stream
    std::int64_t device_type = 20, device = 0;
    std::int64_t component = 0;  ///< 0 caching allocator, 1 workspace
    std::int64_t action = 0;     ///< 0 malloc, 1 free, 2 block free
    std::int64_t allocator = 0;  ///< 0 inner, 1 external
    std::int64_t process = -1, thread = -1;
  };
  std::vector<TimeNs> time;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> bytes, allocated, reserved, active;
  std::vector<std::uint64_t> stream;
  std::vector<std::int64_t> device_type, device, component, action, allocator, process, thread;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.address, t.bytes, t.allocated, t.reserved, t.active, t.stream,
                    t.device_type, t.device, t.component, t.action, t.allocator, t.process,
                    t.thread);
  }
};

/// Iterations, "ProfilerStep#<id>". In order of start.
struct Steps : TableBase<Steps> {
  struct Row {
    std::int64_t id = -1;
    TimeNs start = 0, end = 0;  ///< on the host
    /// From the first device work that it launched to the end of the last, at least to `end`; -1:
    /// it launched none.
    TimeNs device_start = -1, device_end = -1;
    std::int32_t op = -1;  ///< row in TorchOps
  };
  std::vector<std::int64_t> id;
  std::vector<TimeNs> start, end, device_start, device_end;
  std::vector<std::int32_t> op;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.id, t.start, t.end, t.device_start, t.device_end, t.op);
  }
};

/// Pairs of operators of the forward and the backward pass, rows in TorchOps.
struct BackwardPairs : TableBase<BackwardPairs> {
  struct Row {
    std::int64_t sequence = -1;
    std::int32_t forward = -1, backward = -1;
  };
  std::vector<std::int64_t> sequence;
  std::vector<std::int32_t> forward, backward;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.sequence, t.forward, t.backward);
  }
};

/// Which device work an operator launched. In order of the operators; of one operator tasks in
/// order of start, then collectives.
struct DeviceLinks : TableBase<DeviceLinks> {
  struct Row {
    std::int32_t op = -1;           ///< row in TorchOps
    std::int64_t correlation = -1;  ///< of the task queue; -1: launched without it
    std::int32_t task = -1;         ///< row in Tasks; -1: `collective` says
    std::int32_t collective = -1;   ///< row in Collectives
  };
  std::vector<std::int32_t> op;
  std::vector<std::int64_t> correlation;
  std::vector<std::int32_t> task, collective;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.op, t.correlation, t.task, t.collective);
  }
};

}  // namespace mpa::raw
