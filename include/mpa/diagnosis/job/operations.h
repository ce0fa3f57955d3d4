// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/collectives/clock_line.h"
#include "mpa/collectives/lateness.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/findings/rules.h"
#include "mpa/diagnosis/job/job_graph.h"
#include "mpa/diagnosis/part/part.h"

namespace mpa {

/// What the ranks did together.
struct JobOperation {
  JointOperation joint;
  std::string group;  ///< the job's name for it, "dp", else the capture's
  std::string kind;   ///< "allreduce"
  std::int32_t step = -1;
  std::vector<std::int64_t>
      members;  ///< ranks of the job by their number in the group; empty: unknown
  /// The ranks of its group recorded it a different number of times: nothing is said of it across
  /// ranks.
  bool is_apart = false;
};

struct DiagnosedRank {
  std::int64_t rank = -1;
  const RankDiagnosis* part = nullptr;
};

struct JobOperations {
  std::vector<JobOperation> all;
  std::vector<ClockLine> clock;  ///< by rank: from its clock to the first rank's
  Lateness lateness;             ///< of its collectives
  /// By rank: ranks that did nothing together, not even through others, are on different islands.
  std::vector<std::size_t> island;
  std::vector<std::vector<std::size_t>> of_rank;  ///< position in `all` by rank and its collective
};

/// The rank of the job that has this number in the group of the operation; the number itself where
/// the group's ranks are not recorded.
std::int64_t RankInJob(const JobOperation& operation, std::int32_t number);

/// Of the late members of the operation those that have one of these ranks; null: none. Empty:
/// those of which it is not recorded which they are.
const LateMembers* FindLate(const JobOperation& operation, const std::vector<std::int64_t>& ranks);

JobOperations JoinOperations(const std::vector<DiagnosedRank>& ranks, const Rules& rules);

/// True for operations that no member leaves before all have come.
bool IsBarrierKind(const std::string& kind);
/// True for operations between two ranks.
bool IsPairKind(const std::string& kind);

}  // namespace mpa
