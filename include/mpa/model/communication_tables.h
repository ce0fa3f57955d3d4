// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Collectives, their pieces, and the amounts they moved.
namespace mpa {

/// The name of the group for planes that belong to no group.
inline constexpr std::string_view kUnknownGroup = "Unknown Group";

/// Communication groups. Row number = group.
template <template <typename> class Of>
struct CommGroupFields {
  Of<StringId> name{};  ///< as the capture writes it ("Group 0 Communication", "host%eth_0")
  Of<StringId> process_group{};  ///< the job's own name for it ("dp", "tp"), if recorded
  Of<std::int32_t> ranks{};      ///< how many belong to it; 0: not recorded
};
struct CommGroups : Table<CommGroupFields> {};

/// Collective and point-to-point operations.
template <template <typename> class Of>
struct CommunicationFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};     ///< hcom_allReduce__868_0_1, ncclKernel_AllReduce_...
  Of<StringId> op_type{};  ///< hcom_allReduce_ (databases), otherwise as `name`
  Of<std::int32_t> group = Initially{-1};
  Of<std::int64_t> link = Initially{-1};
  Of<std::int64_t> op_id = Initially{-1};  ///< see CommTasks
  Of<double> dur_rest{};                   ///< see DeviceTasks
  Of<StringId> data_type{};  ///< of its elements, "FP16"; empty where the capture does not say
  Of<std::int64_t> count = Initially{-1};       ///< of elements
  Of<std::int64_t> connection = Initially{-1};  ///< the host call that launched it, see HostCalls
};
struct Communications : Table<CommunicationFields> {};

/// The pieces of collectives: Memcpy, Reduce_Inline, Notify_Wait, RDMASend, ... on a plane.
template <template <typename> class Of>
struct CommTaskFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};
  Of<std::int32_t> group = Initially{-1};
  Of<std::int64_t> plane = Initially{-1};
  Of<std::int64_t> op_id = Initially{-1};  ///< of its communication; -1: only the times relate them
  Of<double> dur_rest{};                   ///< see DeviceTasks
  /// Ranks are numbers within the group. A wait names the rank that it waits for; -1 if there is
  /// none or the capture does not say.
  Of<std::int32_t> own_rank = Initially{-1}, peer = Initially{-1};
  Of<std::int64_t> bytes = Initially{-1};
  Of<StringId> transport{};  ///< "SDMA", "RDMA", "LOCAL"
  Of<StringId> link_type{};  ///< "HCCS", "ON_CHIP", "PCIE", "ROCE", ...
  Of<StringId> rdma_type{};  ///< "RDMA_SEND_PAYLOAD", "RDMA_SEND_NOTIFY"; not in text captures
  Of<std::int64_t> notify = Initially{-1};  ///< the signal that is sent or awaited
  Of<std::int64_t> stream = Initially{-1};
};
struct CommTasks : Table<CommTaskFields> {};

enum class Transport : std::uint8_t { kRdma, kSdma };

/// Bytes moved by the collectives of one step over one kind of link.
template <template <typename> class Of>
struct TransferFields {
  Of<std::int32_t> step = Initially{-1};
  Of<Transport> transport{};
  Of<std::int64_t> bytes{};
  Of<TimeNs> time{};
};
struct Transfers : Table<TransferFields> {};

}  // namespace mpa
