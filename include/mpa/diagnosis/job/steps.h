// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/part.h"

namespace mpa {

/// Ranks whose steps belong together by position, as a job needs them. Captures that lost marks
/// have other steps than the rest.
struct CommonSteps {
  std::vector<DiagnosedRank> ranks;
  /// Ranks that have fewer than half of the steps or not those of the others, or whose captures
  /// break off where those of others do not: what they lack looks like less work.
  std::vector<RankId> left_out;
  std::vector<std::int32_t> not_on_all;  ///< ids of steps of the job that one of `ranks` lacks, or
                                         ///< that such steps separate
  std::list<RankDiagnosis> cut{};        ///< what `ranks` points to where steps had to go
};

/// The steps are those that at least half of the ranks have: of them the longest row that all of
/// `ranks` have.
CommonSteps FindCommonSteps(const std::vector<DiagnosedRank>& all);

/// The categories of steps, with communication divided that a rank alone cannot divide: in an
/// operation whose members were all captured a rank waits until the last one begins, and transfers
/// behind that (specification of the diagnosis, 1.4). The arguments have to outlive it.
class CategoryDivider {
 public:
  /// `operations`: of these ranks.
  CategoryDivider(const std::vector<DiagnosedRank>& ranks, const JobOperations& operations);

  /// `rank`: its position among the ranks.
  std::vector<TimeNs> Categories(RankIndex rank, const StepPart& step) const;

 private:
  const std::vector<DiagnosedRank>& ranks_;
  const JobOperations& operations_;
  std::vector<std::optional<TimeNs>> last_begin_;  ///< by operation
};

}  // namespace mpa
