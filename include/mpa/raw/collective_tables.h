// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"
#include "mpa/raw/task_tables.h"

/// Collectives and their pieces (PROF_*).
namespace mpa::raw {

/// Collective and point-to-point operations. In order of issue.
template <template <typename> class Of>
struct CollectiveFields {
  Of<TimeNs> start{}, end{};  ///< first start to last end of its master parts
  Of<double> dur{};           ///< ns, exact
  Of<StringId> name{};        ///< "hcom_allReduce__586_0_1"
  Of<StringId> op_type{};     ///< "hcom_allReduce_"
  Of<StringId> group{};       ///< hash of the group name, decimal
  Of<StringId> group_name{};  ///< text of it; the hash again where the dictionary lacks it
  Of<StringId> algorithm{};   ///< "MESH-RING"; "N/A"
  Of<std::int64_t> data_type = Initially{255};
  Of<std::int64_t> count{};  ///< elements
  Of<std::int64_t> relay{}, retry{};
  Of<std::int64_t> rank_size{};
  Of<std::int64_t> device{};
  Of<std::int64_t> model = Initially{kNoModel};
  Of<std::int32_t> call = Initially{-1};  ///< row in HostCalls: its node range
  Of<std::int64_t> thread = Initially{-1};
};
struct Collectives : Table<CollectiveFields> {};

/// The pieces of collectives. In the order of their tasks.
template <template <typename> class Of>
struct CollectivePartFields {
  Of<std::int32_t> task = Initially{-1};        ///< row in Tasks
  Of<std::int32_t> collective = Initially{-1};  ///< row in Collectives
  Of<StringId> name{};                          ///< "Memcpy", "Notify_Wait", "RDMASend"
  Of<std::int64_t> plane = Initially{-1};
  Of<bool> master{};
  Of<std::uint64_t> notify = Initially{0xFFFFFFFF};
  Of<std::int64_t> local_rank{};
  Of<std::int64_t> remote_rank = Initially{0xFFFFFFFF};  ///< as recorded; 0xFFFFFFFF: none
  Of<std::int64_t> bytes{};
  // Numbers as recorded; the tables of names are in raw/enumerations.h.
  Of<std::int64_t> transport = Initially{-1}, data_type = Initially{-1}, link = Initially{-1},
                   rdma = Initially{-1};
  Of<double> estimated{};  ///< duration estimated by the library, µs
  Of<double> bandwidth{};  ///< bytes per second
};
struct CollectiveParts : Table<CollectivePartFields> {};

}  // namespace mpa::raw
