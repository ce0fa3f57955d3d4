// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "host_records.h"

/// The host's records of collectives.
namespace mpa::raw {

/// A part of a collective (hccl_info). Numbers as recorded.
struct PartInfo {
  TimeNs time = 0;
  std::int64_t thread = -1;
  std::uint64_t name = 0, group = 0;  ///< hashes
  std::uint32_t local_rank = 0, remote_rank = 0, rank_size = 0;
  std::uint32_t plane = 0, context = 0;
  std::uint64_t notify = 0;
  double estimated = 0;  ///< µs
  std::int64_t bytes = 0;
  std::uint32_t data_type = 0, link = 0, transport = 0, rdma = 0;
};
/// In order of time.
std::vector<PartInfo> ReadPartInfos(const HostInput& input);

/// Parameters of a collective (hccl_op_info).
struct CollectiveInfo {
  TimeNs time = 0;
  std::int64_t thread = -1;
  bool relay = false, retry = false;
  std::uint8_t data_type = 0;
  std::uint64_t algorithm = 0, group = 0;  ///< hashes
  std::int64_t count = 0;                  ///< elements
};
/// In order of time.
std::vector<CollectiveInfo> ReadCollectiveInfos(const HostInput& input);

}  // namespace mpa::raw
