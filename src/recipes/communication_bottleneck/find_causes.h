// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "part.h"

namespace mpa::bottleneck {

/// When something counts. Times are ns.
struct Limits {
  double slow_npu_happen = 0.05;         ///< part of the duration by which ranks have to differ
  double diff_waiting_time = 100'000;    ///< by which work waits longer on the device
  double start_ns_shifted = 1'000'000;   ///< by which ranks differ that are together
  double device_bound_proportion = 0.5;  ///< part of the work that has to wait so
};

enum class Bound : std::uint8_t { kNone, kDevice, kHost, kUnknown };

/// What made a communication operator long.
struct SlowRun {
  std::string name;             ///< of the operator
  std::int32_t operation = -1;  ///< row of the communications
  TimeNs start = 0, dur = 0;    ///< on the rank that is explained
  std::optional<std::int64_t> slow,
      fast;  ///< the rank that came last, and the one that waited most
  Bound bound = Bound::kNone;
  std::string reason;

  TimeNs End() const { return start + dur; }
};

/// The longest operators of the rank at `target`, the longest first.
std::vector<SlowRun> FindCauses(const Ranks& ranks, std::size_t target, std::size_t most,
                                const Limits& limits);

/// An event that two ranks have, and how much the slow one lags.
struct Lag {
  std::string name;
  TimeNs diff = 0;
};

/// Where a slow rank fell behind.
struct Lags {
  Lag duration;  ///< the event that took longest compared with the fast rank
  Lag start;     ///< the event that began latest
};

/// Pairs the events before `slow_end` and `fast_end` by name, from the last ones back to where both
/// ranks were together: the slow one at most `together` behind. Empty where they never were.
/// `shift`: what the clock of the fast rank is ahead.
std::optional<Lags> FindLags(const PackedEvents& slow, TimeNs slow_end, const PackedEvents& fast,
                             TimeNs fast_end, TimeNs shift, TimeNs together);

}  // namespace mpa::bottleneck
