// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

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
/// the connection of what a call launched.
struct HostCalls : TableBase<HostCalls> {
  struct Row {
    TimeNs start = 0, end = 0;
    Level level{};
    std::uint32_t type = 0;     ///< number within the level; of acl calls type >> 16 is the mode
    StringId name{};            ///< by the type dictionary: "aclnnAdd", "launch", "master"
    StringId item{};            ///< text of the item: op (node), sub-task (communication); or empty
    std::uint64_t item_id = 0;  ///< as recorded: hash of `item`, or number of the model
    std::int64_t request = -1;  ///< model level: iteration
    std::int64_t thread = -1;
    bool launches = false;  ///< an arrow HostToDevice begins at `start`, see page of the format
  };
  std::vector<TimeNs> start, end;
  std::vector<Level> level;
  std::vector<std::uint32_t> type;
  std::vector<StringId> name, item;
  std::vector<std::uint64_t> item_id;
  std::vector<std::int64_t> request, thread;
  std::vector<std::uint8_t> launches;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.level, t.type, t.name, t.item, t.item_id, t.request, t.thread,
                    t.launches);
  }
};

/// What the program did with its queues of input data. In order of time.
struct InputQueue : TableBase<InputQueue> {
  struct Row {
    TimeNs time = 0;
    StringId action{};      ///< "Last queue dequeue"
    StringId source{};      ///< "iterator_default"
    std::int64_t size = 0;  ///< entries in the queue
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<StringId> action, source;
  std::vector<std::int64_t> size, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.action, t.source, t.size, t.device);
  }
};

/// Marks and ranges that the program set (mstx, tx). In order of start.
struct Marks : TableBase<Marks> {
  struct Row {
    TimeNs start = 0, end = 0;
    std::int64_t event_type = 0;  ///< 0 marker, 1 push/pop, 2 start/end, 3 marker_ex
    std::int64_t mark_id = 0;
    StringId domain{};  ///< "default"
    StringId message{};
    std::int64_t process = -1, thread = -1;
    // Where it has a side on the device; -1 otherwise.
    TimeNs device_start = -1, device_end = -1;
    std::int64_t device = -1, device_stream = -1, device_task = -1;
  };
  std::vector<TimeNs> start, end;
  std::vector<std::int64_t> event_type, mark_id;
  std::vector<StringId> domain, message;
  std::vector<std::int64_t> process, thread;
  std::vector<TimeNs> device_start, device_end;
  std::vector<std::int64_t> device, device_stream, device_task;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.event_type, t.mark_id, t.domain, t.message, t.process,
                    t.thread, t.device_start, t.device_end, t.device, t.device_stream,
                    t.device_task);
  }
};

}  // namespace mpa::raw
