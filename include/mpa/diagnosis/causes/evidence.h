// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// The leaves of the accounting that a finding is about; empty for one about collectives.
std::vector<Leaf> LeavesOf(const FoundCause& finding);

class GraphIndex;

/// Turns what findings take out of the graph into places of the captures.
class EvidenceFinder {
 public:
  /// Refers to the job, which must outlive it.
  explicit EvidenceFinder(const Job& job);
  ~EvidenceFinder();

  /// Gives the finding its places, the one that takes most time first. `about`: of the host's work
  /// on the edges that the fix shortens, these classes; of all if it is empty.
  void Find(const WhatIf& what_if, const std::vector<Leaf>& about, FoundCause& finding);

 private:
  const Job& job_;
  std::unique_ptr<GraphIndex> index_;
};

}  // namespace mpa
