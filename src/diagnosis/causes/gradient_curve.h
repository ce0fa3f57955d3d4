// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpa/diagnosis/part/part.h"

namespace mpa {

/// The kernels of a rank by step, in order of start.
class KernelsOfSteps {
 public:
  /// Refers to the part, which must outlive it.
  explicit KernelsOfSteps(const RankDiagnosis& part);
  std::span<const GraphNode* const> Of(std::int32_t step) const;

 private:
  std::vector<std::vector<const GraphNode*>> of_step_;
};

/// When the last backward pass of a step has made how much of the gradients, by the kernels that
/// add them to those of earlier passes. Large layers, as the embedding of a vocabulary, make them
/// unevenly.
class GradientCurve {
 public:
  /// Of one rank and its kernels of a `step`. `bytes`: of all gradients that are reduced. `until`:
  /// when the reduction of the last of them began, on the clock of the rank. `passes`: backward
  /// passes of a step.
  GradientCurve(const RankDiagnosis& part, std::span<const GraphNode* const> step, double bytes,
                std::int64_t passes, TimeNs until);

  /// False where such kernels, or their sizes, are not recorded for most of the bytes.
  bool IsKnown() const { return !made_.empty(); }
  /// How long before the end of the pass the first `bytes` are made, in time that the device
  /// computes. What no kernel adds counts as made at the end.
  TimeNs LeadOf(double bytes) const;

 private:
  struct Made {
    double bytes = 0;  // of this one and those before it
    TimeNs lead = 0;
  };
  std::vector<Made> made_;
  double slack_ = 0;  // sizes are rounded up for the reduction
};

}  // namespace mpa
