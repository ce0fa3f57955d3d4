// SPDX-License-Identifier: Apache-2.0
#include "collective_records.h"

#include <cmath>
#include <limits>

namespace mpa::raw {
namespace {

/// A number that fits into the tables; the largest one if the record has a larger number.
std::int64_t Signed(std::uint64_t number) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return number > std::uint64_t{kMost} ? kMost : static_cast<std::int64_t>(number);
}

}  // namespace

std::vector<PartInfo> ReadPartInfos(const HostInput& input) {
  constexpr std::string_view kStem = "additional.hccl_info";
  std::vector<PartInfo> infos;
  infos.reserve(CountRecords(input.files, kStem, kAdditionalSize));
  ForEachJudgedRecord<kAdditionalSize>(
      input, kStem, [&](const Record<kAdditionalSize>& record, const Slice&) {
        const HostRecordHead head = HeadOf(record);
        const double estimated = record.F64(88);
        infos.push_back({.time = input.clock.HostNs(head.time),
                         .thread = head.thread,
                         .name = record.U64(24),
                         .group = record.U64(40),
                         .local_rank = record.U32(48),
                         .remote_rank = record.U32(52),
                         .rank_size = record.U32(56),
                         .plane = record.U32(64),
                         .context = record.U32(68),
                         .notify = record.U64(72),
                         .estimated = std::isfinite(estimated) ? estimated : 0,
                         .bytes = Signed(record.U64(112)),
                         .data_type = record.U32(124),
                         .link = record.U32(128),
                         .transport = record.U32(132),
                         .rdma = record.U32(136)});
      });
  SortByTime(infos);
  return infos;
}

std::vector<CollectiveInfo> ReadCollectiveInfos(const HostInput& input) {
  std::vector<CollectiveInfo> infos;
  ForEachJudgedRecord<kCompactSize>(input, "compact.hccl_op_info",
                                    [&](const Record<kCompactSize>& record, const Slice&) {
                                      const HostRecordHead head = HeadOf(record);
                                      infos.push_back({.time = input.clock.HostNs(head.time),
                                                       .thread = head.thread,
                                                       .relay = (record.U8(24) & 1) != 0,
                                                       .retry = (record.U8(24) & 2) != 0,
                                                       .data_type = record.U8(25),
                                                       .algorithm = record.U64(26),
                                                       .group = record.U64(42),
                                                       .count = Signed(record.U64(34))});
                                    });
  SortByTime(infos);
  return infos;
}

}  // namespace mpa::raw
