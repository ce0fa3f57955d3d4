// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"
#include "mpa/raw/task_tables.h"

/// Collectives and their pieces (PROF_*).
namespace mpa::raw {

/// Collective and point-to-point operations. In order of issue.
struct Collectives : TableBase<Collectives> {
  struct Row {
    TimeNs start = 0, end = 0;  ///< first start to last end of its master parts
    double dur = 0;             ///< ns, exact
    StringId name{};            ///< "hcom_allReduce__586_0_1"
    StringId op_type{};         ///< "hcom_allReduce_"
    StringId group{};           ///< hash of the group name, decimal
    StringId group_name{};      ///< text of it; the hash again where the dictionary lacks it
    StringId algorithm{};       ///< "MESH-RING"; "N/A"
    std::int64_t data_type = 255;
    std::int64_t count = 0;  ///< elements
    std::int64_t relay = 0, retry = 0;
    std::int64_t rank_size = 0;
    std::int64_t device = 0;
    std::int64_t model = kNoModel;
    std::int32_t call = -1;  ///< row in HostCalls: its node range
    std::int64_t thread = -1;
  };
  std::vector<TimeNs> start, end;
  std::vector<double> dur;
  std::vector<StringId> name, op_type, group, group_name, algorithm;
  std::vector<std::int64_t> data_type, count, relay, retry, rank_size, device, model;
  std::vector<std::int32_t> call;
  std::vector<std::int64_t> thread;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.dur, t.name, t.op_type, t.group, t.group_name, t.algorithm,
                    t.data_type, t.count, t.relay, t.retry, t.rank_size, t.device, t.model, t.call,
                    t.thread);
  }
};

/// The pieces of collectives. In the order of their tasks.
struct CollectiveParts : TableBase<CollectiveParts> {
  struct Row {
    std::int32_t task = -1;        ///< row in Tasks
    std::int32_t collective = -1;  ///< row in Collectives
    StringId name{};               ///< "Memcpy", "Notify_Wait", "RDMASend"
    std::int64_t plane = -1;
    bool master = false;
    std::uint64_t notify = 0xFFFFFFFF;
    std::int64_t local_rank = 0;
    std::int64_t remote_rank = 0xFFFFFFFF;  ///< as recorded; 0xFFFFFFFF: none
    std::int64_t bytes = 0;
    // Numbers as recorded; the tables of names are in raw/enumerations.h.
    std::int64_t transport = -1, data_type = -1, link = -1, rdma = -1;
    double estimated = 0;  ///< duration estimated by the library, µs
    double bandwidth = 0;  ///< bytes per second
  };
  std::vector<std::int32_t> task, collective;
  std::vector<StringId> name;
  std::vector<std::int64_t> plane;
  std::vector<std::uint8_t> master;
  std::vector<std::uint64_t> notify;
  std::vector<std::int64_t> local_rank, remote_rank, bytes, transport, data_type, link, rdma;
  std::vector<double> estimated, bandwidth;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.task, t.collective, t.name, t.plane, t.master, t.notify, t.local_rank,
                    t.remote_rank, t.bytes, t.transport, t.data_type, t.link, t.rdma, t.estimated,
                    t.bandwidth);
  }
};

}  // namespace mpa::raw
