// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mpa/diagnosis/replay.h"
#include "part.h"

namespace mpa {

/// What the host of a rank does to issue work of its device: on the way to the call for it, in that call,
/// and in the task queue with all that the call asked for.
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

}  // namespace mpa
