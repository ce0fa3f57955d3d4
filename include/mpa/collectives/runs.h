// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

/// The communication operators of a rank, as every command that compares ranks takes them.
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

/// All communication operators. Those whose group is not recorded have an empty one.
RankRuns CommunicationRuns(const RankTrace& trace);

/// How NCCL names the kernel of an all-to-all.
inline constexpr std::string_view kExchangeKind = "sendrecv";

/// Those that are not between two ranks. NPUs: of known groups. Traces of GPUs name no groups.
RankRuns CollectiveRuns(const RankTrace& trace);

}  // namespace mpa
