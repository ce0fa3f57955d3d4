// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "trace_fragment.h"

/// Which processes of trace_view.json hold the work of the device, and which threads the
/// collectives.
namespace mpa::readers {

/// The processes that hold device events, and the threads of the communication process.
struct Processes {
  std::optional<std::int64_t> hardware, communication, overlap;
  std::optional<std::int64_t> device;   ///< the one read of several
  std::set<std::int64_t> other_owners;  ///< the program's processes of other ranks
  std::map<std::int64_t, std::string> comm_thread_names;    ///< by tid
  std::map<std::int64_t, std::int64_t> comm_thread_places;  ///< sort index by tid
  std::map<std::int64_t, RuntimeProcess> runtime;           ///< by pid
};

/// Of several processes with one name the one with most events counts; those of other devices and
/// ranks are issues of the trace.
Processes FindProcesses(const std::vector<Metadata>& metadata,
                        const std::vector<DeviceEvent>& events, const StringPool& strings,
                        Issues& issues);

/// The groups of the communication process. Its threads come in display order: the thread of a
/// group's operations ("... Communication"), then the planes of the group.
class CommThreads {
 public:
  CommThreads(const Processes& processes, RankTrace& trace);

  struct Place {
    bool is_group = false;
    std::int32_t group = -1;
  };
  Place Of(std::int64_t tid);

 private:
  std::int32_t AddGroup(std::string_view name);
  /// Planes before any group, and threads without a name.
  std::int32_t UnknownGroup();

  RankTrace& trace_;
  std::unordered_map<std::int64_t, Place> groups_;
  std::int32_t current_ = -1;
  std::int32_t unknown_ = -1;
};

}  // namespace mpa::readers
