// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/device_tables.h"
#include "mpa/model/host_tables.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What the framework recorded (FRAMEWORK), decoded and joined. Times are nanoseconds since the
/// epoch; -1: not known.
namespace mpa::raw {

/// Operators of the framework. In order of start, enclosing ones first. Details are as recorded,
/// empty where they were not: shapes "2,1024;64", types "long int;float", stacks with ';' between
/// the entries. Tracks are not set.
template <template <typename> class Of>
struct TorchOpFields {
  Of<std::int64_t> process = Initially{-1}, thread = Initially{-1};
  Of<std::int64_t> sequence = Initially{-1};  ///< of autograd; -1 none
  Of<std::int64_t> forward_thread{};          ///< of an operator of the backward pass, else 0
  /// Row of the innermost operator around it, on whatever thread it runs; -1: none. Earlier than
  /// its own row.
  Of<std::int32_t> parent = Initially{-1};
  Of<StringId> modules{};  ///< module hierarchy
  Of<StringId> extra{};    ///< "k:v;k:v;"
};
struct TorchOps : Table<HostOpFields, TorchOpFields> {};

/// One side of work handed over by the task queue. In order of start.
template <template <typename> class Of>
struct QueueRangeFields {
  Of<TimeNs> start{}, dur{};
  Of<bool> dequeue{};
  Of<std::int64_t> correlation{};  ///< the same on both sides
  Of<StringId> name{};  ///< bare name of the work; empty for an enqueue whose dequeue is lost
  Of<std::int64_t> process = Initially{-1}, thread = Initially{-1};
  Of<std::int32_t> op =
      Initially{-1};  ///< of an enqueue the operator in which it happened, row in TorchOps
  Of<std::int32_t> partner = Initially{-1};  ///< row of the other side, -1: lost
};
struct QueueRanges : Table<QueueRangeFields> {};

/// Calls of Python functions, of C functions from Python, and of modules. In order of start.
/// Tracks are not set.
template <template <typename> class Of>
struct PythonCallIdFields {
  Of<std::int64_t> process = Initially{-1}, thread = Initially{-1};
  Of<std::int64_t> id = Initially{-1}, parent_id = Initially{-1};  ///< as the timeline shows them
  Of<std::int64_t> module_id =
      Initially{-1};  ///< ordinal of the module in its class; -1: no module
};
struct PythonCalls : Table<PythonCallFields, PythonCallIdFields> {};

/// What the allocators of the framework did. In order of time.
template <template <typename> class Of>
struct AllocatorEventFields {
  Of<TimeNs> time{};
  Of<std::uint64_t> address{};
  Of<std::int64_t> bytes{};                            ///< negative: given back
  Of<std::int64_t> allocated{}, reserved{}, active{};  ///< bytes in all, after it
  Of<std::uint64_t> stream{};                          ///< pointer of the stream
  Of<std::int64_t> device_type = Initially{20}, device{};
  Of<std::int64_t> component{};  ///< 0 caching allocator, 1 workspace
  Of<std::int64_t> action{};     ///< 0 malloc, 1 free, 2 block free
  Of<std::int64_t> allocator{};  ///< 0 inner, 1 external
  Of<std::int64_t> process = Initially{-1}, thread = Initially{-1};
};
struct AllocatorEvents : Table<AllocatorEventFields> {};

/// Memory of the device that the framework listed as that of parameters, of their gradients, and of
/// states of optimizers (torch.param_tensor_info). One row for each address.
template <template <typename> class Of>
struct ListedTensorFields {
  Of<TensorRole> role{};
  Of<std::uint64_t> address{};  ///< of the storage
  Of<std::int64_t> bytes{};     ///< of all tensors in it
  Of<StringId> name{};          ///< "weight", "exp_avg"; empty: unknown
};
struct ListedTensors : Table<ListedTensorFields> {};

/// Pairs of operators of the forward and the backward pass, rows in TorchOps. Tracks are not set.
template <template <typename> class Of>
struct BackwardPairFields {
  Of<std::int64_t> sequence = Initially{-1};
  Of<std::int32_t> forward = Initially{-1}, backward = Initially{-1};
};
struct BackwardPairs : Table<BackwardLinkFields, BackwardPairFields> {};

/// Which device work an operator launched. In order of the operators; of one operator tasks in
/// order of start, then collectives.
template <template <typename> class Of>
struct DeviceLinkFields {
  Of<std::int32_t> op = Initially{-1};           ///< row in TorchOps
  Of<std::int64_t> correlation = Initially{-1};  ///< of the task queue; -1: launched without it
  Of<std::int32_t> task = Initially{-1};         ///< row in Tasks; -1: `collective` says
  Of<std::int32_t> collective = Initially{-1};   ///< row in Collectives
};
struct DeviceLinks : Table<DeviceLinkFields> {};

}  // namespace mpa::raw
