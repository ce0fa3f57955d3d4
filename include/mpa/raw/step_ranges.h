// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/step_tables.h"

namespace mpa::raw {

struct Span {
  TimeNs start = -1, end = -1;

  bool Empty() const { return start < 0; }
  void Add(TimeNs from, TimeNs to) {
    start = Empty() ? from : std::min(start, from);
    end = std::max(end, to);
  }
};

/// A step, or all of a capture without steps.
struct StepRange {
  std::int32_t id = -1;    ///< -1: all of the capture
  TimeNs host_start = -1;  ///< -1: not known
  Span device;
};

/// The steps in their order, and a lookup of the step at a time.
class StepRanges {
 public:
  explicit StepRanges(std::vector<StepRange> steps);

  const std::vector<StepRange>& All() const { return steps_; }

  /// The first step that ends after `time` if it has begun; -1: none.
  std::ptrdiff_t At(TimeNs time) const;
  /// The number of that step; -1: none.
  std::int32_t IdAt(TimeNs time) const {
    const std::ptrdiff_t step = At(time);
    return step < 0 ? -1 : steps_[static_cast<std::size_t>(step)].id;
  }

 private:
  std::vector<StepRange> steps_;
  std::vector<TimeNs> ends_;  // the latest end up to each step
};

/// The steps that launched device work; the spans include the instants at which it ends.
StepRanges StepsOnDevice(const Steps& steps);

}  // namespace mpa::raw
