// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/clock_line.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

// No rules: how well a line can be fitted is a matter of the stamps. A drift is some 10 ppm, 10 us
// in a second, and what two ranks leave together they leave within some us: less time, or a smaller
// change, is not told from that noise.
constexpr TimeNs kMinSpan = 1'000'000'000;
constexpr TimeNs kMinDrift = 5'000;

// `samples` in order of time.
double DriftOf(const std::vector<ClockSample>& samples) {
  const TimeNs span = samples.empty() ? 0 : samples.back().own - samples.front().own;
  if (span <= kMinSpan) return 0;
  std::vector<double> slopes;
  const std::size_t half = samples.size() - samples.size() / 2;
  for (std::size_t i = 0; i + half < samples.size(); ++i) {
    const ClockSample &early = samples[i], &late = samples[i + half];
    if (late.own <= early.own) continue;
    slopes.push_back(static_cast<double>(late.difference - early.difference) /
                     static_cast<double>(late.own - early.own));
  }
  const double drift = Median(std::move(slopes));
  return std::abs(drift) * static_cast<double>(span) > static_cast<double>(kMinDrift) ? drift : 0;
}

// By the distances from the median, which outliers do not move.
TimeNs SigmaOf(const std::vector<TimeNs>& values, TimeNs median) {
  std::vector<TimeNs> distances;
  for (const TimeNs value : values) distances.push_back(std::abs(value - median));
  return Median(std::move(distances)) * 14826 / 10000;
}

}  // namespace

TimeNs ClockLine::Convert(TimeNs own) const {
  if (drift == 0) return own - offset;
  return own - offset - std::llround(drift * static_cast<double>(own - origin));
}

ClockLine ClockLine::Inverse() const { return {origin - offset, -offset, -drift / (1 - drift)}; }

ClockLine ClockLine::Then(const ClockLine& next) const {
  return {origin, origin - next.Convert(origin - offset), drift + next.drift - drift * next.drift};
}

ClockFit FitClockLine(std::vector<ClockSample> samples) {
  std::ranges::sort(samples, [](const ClockSample& a, const ClockSample& b) {
    return std::pair{a.own, a.difference} < std::pair{b.own, b.difference};
  });
  ClockFit fit;
  if (samples.empty()) return fit;
  fit.line.origin = samples[samples.size() / 2].own;
  fit.line.drift = DriftOf(samples);
  // What is left once the drift is taken out.
  const ClockLine drifting{fit.line.origin, 0, fit.line.drift};
  std::vector<TimeNs> rest;
  for (const ClockSample& sample : samples) {
    rest.push_back(sample.difference - (sample.own - drifting.Convert(sample.own)));
  }
  fit.line.offset = Median(rest);
  fit.sigma = SigmaOf(rest, fit.line.offset);
  return fit;
}

}  // namespace mpa
