// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

/// Communication operators that several ranks ran together, put together from what each rank
/// recorded. Every command that compares runs of ranks takes them from here.
namespace mpa {

/// The communication operators of one rank in order of start. Texts are positions in `texts`.
struct RankRuns {
  struct Row {
    std::uint32_t group = 0, name = 0, type = 0, data_type = 0;
    TimeNs start = 0, dur = 0;
    std::int64_t count = -1;       ///< of elements; -1: not recorded
    std::int32_t operation = -1;   ///< row of the rank's communications
    std::int32_t step = -1;        ///< as the recipe sets it; -1: not looked at
    std::int32_t group_ranks = 0;  ///< that belong to the group; 0: not recorded
    bool p2p = false;              ///< between two ranks
  };
  std::vector<std::string> texts;
  std::vector<Row> rows;
};

template <class Archive>
void serialize(Archive& archive, RankRuns::Row& row) {
  archive(row.group, row.name, row.type, row.data_type, row.start, row.dur, row.count,
          row.operation, row.step, row.group_ranks, row.p2p);
}
template <class Archive>
void serialize(Archive& archive, RankRuns& part) {
  archive(part.texts, part.rows);
}

/// All communication operators. Those whose group is not recorded have an empty one.
RankRuns CommunicationRuns(const RankTrace& trace);

/// How NCCL names the kernel of an all-to-all.
inline constexpr std::string_view kExchangeKind = "sendrecv";

/// Those that are not between two ranks. NPUs: of known groups. Traces of GPUs name no groups.
RankRuns CollectiveRuns(const RankTrace& trace);

/// A run of an operator on one rank.
struct RunMember {
  std::size_t rank = 0;  ///< position of the rank's part
  const RankRuns::Row* row = nullptr;
};

/// A run of an operator with the ranks that took part, in order of their parts.
struct JointRun {
  std::string group, name;
  std::vector<RunMember> members;
};

struct JointRuns {
  std::vector<JointRun> all;  ///< by group and name as first seen, then by occurrence
  /// Names that the ranks of their group ran a different number of times: which runs belong
  /// together is not known, and none of them is in `all`.
  std::size_t uneven = 0;
};

/// The n-th run of a name in a group on one rank belongs to the n-th on every other. The parts have
/// to outlive what is returned.
JointRuns JoinRuns(const std::vector<const RankRuns*>& parts);

}  // namespace mpa
