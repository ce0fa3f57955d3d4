// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/host_tables.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What the program and CANN did on the host (PROF_*).
namespace mpa::raw {

/// The levels of host calls, as api_event.data numbers them.
enum class Level : std::int32_t {
  kDpu = 4000,
  kProfiling = 4500,
  kRuntime = 5000,
  kCommunication = 5500,
  kNode = 10000,
  kModel = 15000,
  kAcl = 20000,
  kTx = 20500,
  kPta = 25000,
  kPytorch = 30000,
};

/// Calls of CANN on the host. In order of start, then of the deeper level last; the row number is
/// the connection of what a call launched. Names are those of the type dictionary: "aclnnAdd",
/// "launch", "master". Items are texts as recorded: op (node), sub-task (communication), or empty;
/// requests are of the level of models. The columns track, model and connection are not set.
template <template <typename> class Of>
struct HostCallLevelFields {
  Of<Level> level{};
  Of<std::uint32_t> type{};     ///< number within the level; of acl calls type >> 16 is the mode
  Of<std::uint64_t> item_id{};  ///< as recorded: hash of `item`, or number of the model
  Of<std::int64_t> thread = Initially{-1};
  Of<bool> launches{};  ///< an arrow HostToDevice begins at `start`, see page of the format
};
struct HostCalls : Table<HostCallFields, HostCallLevelFields> {};

/// What the program did with its queues of input data. In order of time.
template <template <typename> class Of>
struct InputQueueFields {
  Of<TimeNs> time{};
  Of<StringId> action{};    ///< "Last queue dequeue"
  Of<StringId> source{};    ///< "iterator_default"
  Of<std::int64_t> size{};  ///< entries in the queue
  Of<std::int64_t> device{};
};
struct InputQueue : Table<InputQueueFields> {};

/// Marks and ranges that the program set (mstx, tx). In order of start. Kinds, tracks and links are
/// not set.
template <template <typename> class Of>
struct MarkFields {
  Of<std::int64_t> event_type{};  ///< 0 marker, 1 push/pop, 2 start/end, 3 marker_ex
  Of<std::int64_t> mark_id{};
  Of<std::int64_t> process = Initially{-1}, thread = Initially{-1};
  // Of its side on the device; -1: it has none.
  Of<std::int64_t> device = Initially{-1}, device_stream = Initially{-1},
                   device_task = Initially{-1};
};
struct Marks : Table<MstxEventFields, MarkFields> {};

}  // namespace mpa::raw
