// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/base/time.h"

/// Two clocks against each other: how far they are apart, and how that changes.
namespace mpa {

/// How moments of one clock, the own one, are those of another.
struct ClockLine {
  TimeNs origin = 0;  ///< of the own clock, where the two differ by `offset`
  TimeNs offset = 0;  ///< own time less the other one, in ns
  double drift = 0;   ///< by what share of the own time the difference grows; 1e-6 is 1 ppm

  /// The moment on the other clock.
  TimeNs Convert(TimeNs own) const;
  /// From the other clock to the own one.
  ClockLine Inverse() const;
  /// From the own clock to what `next` leads to.
  ClockLine Then(const ClockLine& next) const;
};

/// A moment on the own clock, and by how much it is ahead of the other one there.
struct ClockSample {
  TimeNs own = 0, difference = 0;
};

struct ClockFit {
  ClockLine line;
  TimeNs sigma = 0;  ///< spread of the differences around the line, as a standard deviation
};

/// The line through the differences. Clocks are taken to drift when the samples span more than 1 s,
/// and the slope makes more than 5 us of it (specification of the diagnosis, 2.2); else the offset
/// is the median and the same everywhere. The slope is the median of those between the n-th sample
/// of the first half and the n-th of the second (Theil's incomplete method), so a quarter of the
/// samples may be wrong, and the time is that of sorting them.
ClockFit FitClockLine(std::vector<ClockSample> samples);

}  // namespace mpa
