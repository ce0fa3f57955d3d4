// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// Collectives, their pieces, and the amounts they moved.
namespace mpa {

/// The name of the group for planes that belong to no group.
inline constexpr std::string_view kUnknownGroup = "Unknown Group";

/// Communication groups. Row number = group.
struct CommGroups : TableBase<CommGroups> {
  struct Row {
    StringId name{};           ///< as the capture writes it ("Group 0 Communication", "host%eth_0")
    StringId process_group{};  ///< the job's own name for it ("dp", "tp"), if recorded
    std::int32_t ranks = 0;    ///< how many belong to it; 0: not recorded
  };
  std::vector<StringId> name, process_group;
  std::vector<std::int32_t> ranks;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.name, t.process_group, t.ranks);
  }
};

/// Collective and point-to-point operations.
struct Communications : TableBase<Communications> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};     ///< hcom_allReduce__868_0_1, ncclKernel_AllReduce_...
    StringId op_type{};  ///< hcom_allReduce_ (databases), otherwise as `name`
    std::int32_t group = -1;
    std::int64_t link = -1;
    std::int64_t op_id = -1;  ///< see CommTasks
    double dur_rest = 0;      ///< see DeviceTasks
    StringId data_type{};     ///< of its elements, "FP16"; empty where the capture does not say
    std::int64_t count = -1;  ///< of elements
    std::int64_t connection = -1;  ///< the host call that launched it, see HostCalls
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name, op_type;
  std::vector<std::int32_t> group;
  std::vector<std::int64_t> link, op_id;
  std::vector<double> dur_rest;
  std::vector<StringId> data_type;
  std::vector<std::int64_t> count, connection;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.op_type, t.group, t.link, t.op_id, t.dur_rest,
                    t.data_type, t.count, t.connection);
  }
};

/// The pieces of collectives: Memcpy, Reduce_Inline, Notify_Wait, RDMASend, ... on a plane.
struct CommTasks : TableBase<CommTasks> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};
    std::int32_t group = -1;
    std::int64_t plane = -1;
    std::int64_t op_id = -1;  ///< of its communication; -1: only the times relate them
    double dur_rest = 0;      ///< see DeviceTasks
    /// Ranks are numbers within the group. A wait names the rank that it waits for; -1 if there is
    /// none or the capture does not say.
    std::int32_t own_rank = -1, peer = -1;
    std::int64_t bytes = -1;
    StringId transport{};      ///< "SDMA", "RDMA", "LOCAL"
    StringId link_type{};      ///< "HCCS", "ON_CHIP", "PCIE", "ROCE", ...
    StringId rdma_type{};      ///< "RDMA_SEND_PAYLOAD", "RDMA_SEND_NOTIFY"; not in text captures
    std::int64_t notify = -1;  ///< the signal that is sent or awaited
    std::int64_t stream = -1;
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int32_t> group;
  std::vector<std::int64_t> plane, op_id;
  std::vector<double> dur_rest;
  std::vector<std::int32_t> own_rank, peer;
  std::vector<std::int64_t> bytes;
  std::vector<StringId> transport, link_type, rdma_type;
  std::vector<std::int64_t> notify, stream;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.group, t.plane, t.op_id, t.dur_rest, t.own_rank,
                    t.peer, t.bytes, t.transport, t.link_type, t.rdma_type, t.notify, t.stream);
  }
};

enum class Transport : std::uint8_t { kRdma, kSdma };

/// Bytes moved by the collectives of one step over one kind of link.
struct Transfers : TableBase<Transfers> {
  struct Row {
    std::int32_t step = -1;
    Transport transport{};
    std::int64_t bytes = 0;
    TimeNs time = 0;
  };
  std::vector<std::int32_t> step;
  std::vector<Transport> transport;
  std::vector<std::int64_t> bytes;
  std::vector<TimeNs> time;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.step, t.transport, t.bytes, t.time);
  }
};

}  // namespace mpa
