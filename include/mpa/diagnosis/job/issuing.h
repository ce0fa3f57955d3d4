// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "mpa/base/on_demand.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/diagnosis/replay/replay.h"

namespace mpa {

/// What the host of a rank does to issue work of its device: on the way to the call for it, in that
/// call, and in the task queue with all that the call asked for. Where the host stood still on the
/// way, only what it usually takes for this operator: the rest is not what issuing costs.
class IssuingWork {
 public:
  explicit IssuingWork(const RankDiagnosis& part);

  /// Edges of the rank's graph with the work on them that issues this node of it, a kernel or the
  /// arrival at a collective, in ns.
  std::span<const Removal::Edge> Of(std::uint32_t node) const;

 private:
  std::vector<std::uint32_t> issued_;  // nodes, ascending
  std::vector<Removal::Edge> work_;    // of the node at the same place
};

/// The same of all ranks of a job; each is found when it is first asked for, by any thread.
class IssuingOfRanks {
 public:
  /// The ranks have to outlive it.
  explicit IssuingOfRanks(const std::vector<DiagnosedRank>& ranks) {
    for (const DiagnosedRank& rank : ranks)
      by_rank_.emplace_back([&rank] { return IssuingWork(*rank.part); });
  }

  /// `rank`: by position.
  const IssuingWork& operator[](RankIndex rank) const { return *by_rank_[rank]; }

 private:
  std::deque<OnDemand<IssuingWork>> by_rank_;  // deque: they cannot be moved
};

}  // namespace mpa
