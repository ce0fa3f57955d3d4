// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/measure/op_tree.h"

namespace mpa::memory_timeline {

/// The part of a training step in which an operator runs.
enum class Phase : std::uint8_t { kForward, kLoading, kBackward, kOptimizer };

/// What surrounds each operator of a rank. Rows are those of the host operators.
struct Surroundings {
  explicit Surroundings(const OpTree& ops);

  /// The outermost operator around it; steps, ranges and Optimizer.step are none.
  std::vector<std::int64_t> outer;
  std::vector<Phase> phase;
  std::vector<std::int64_t> optimizer;  ///< the Optimizer.step around it, -1: none
  std::int64_t first_optimizer = -1;    ///< the first Optimizer.step of the capture
  /// By outermost operator: it copied from the host to the device.
  std::vector<bool> copies_in;
};

}  // namespace mpa::memory_timeline
