// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/issues.h"
#include "mpa/raw/session.h"

/// The clocks of a capture and the way from each to nanoseconds since the epoch: rounded down from
/// the exact rational value, clamped to what leaves room for differences of two times.
namespace mpa::raw {

__extension__ using Int128 = __int128;  ///< of GCC and Clang, not of the standard

/// Decimal text of MHz in Hz; 0 if it is not a usable frequency.
std::int64_t HertzFromMegahertz(std::string_view text);

/// `ticks` of a counter in ns, rounded down and clamped. `hertz` is positive.
TimeNs TicksToNs(Int128 ticks, std::int64_t hertz);

/// The instant at which one side (host or a device) read all clocks, and the frequencies of its
/// counters.
struct Clock {
  std::int64_t host_hertz = 0;    ///< 0: host stamps are monotonic ns, not ticks
  std::int64_t device_hertz = 0;  ///< 0: not known
  std::int64_t host_count = 0;    ///< host counter ...
  TimeNs monotonic = 0;           ///< ... and the host's monotonic clock
  std::int64_t drift = 0;         ///< ticks to add to the host's anchor (cntvct_diff)
  std::int64_t device_count = 0;  ///< device counter ...
  TimeNs device_monotonic = 0;    ///< ... and the device's monotonic clock
  TimeNs offset = 0;              ///< from the host's monotonic clock to the epoch
  /// The valid range for times of records: near the collection. Times outside it come from damaged
  /// records.
  TimeNs earliest = std::numeric_limits<TimeNs>::min();
  TimeNs latest = std::numeric_limits<TimeNs>::max();

  /// Sets `earliest` and `latest` for a collection; `end` may be -1: not known.
  void SetPlausible(TimeNs begin, TimeNs end);
  bool IsPlausible(TimeNs time) const { return time >= earliest && time <= latest; }

  TimeNs HostNs(std::uint64_t stamp) const;
  TimeNs DeviceNs(std::uint64_t count) const;
  /// Exact length of a range of device counts in ns.
  double DeviceDuration(std::uint64_t start, std::uint64_t end) const;
  TimeNs FromStartMicros(std::uint64_t micros) const;
  TimeNs FromDeviceMonotonic(std::uint64_t ns) const;
};

/// The clock of the FRAMEWORK files: host counter ticks, or monotonic nanoseconds where the host
/// has no counter.
struct FrameworkClock {
  bool counter = false;    ///< time stamps are ticks
  std::int64_t hertz = 0;  ///< of the counter
  std::int64_t count = 0;  ///< anchor in ticks ...
  TimeNs monotonic = 0;    ///< ... and the same instant in monotonic ns
  TimeNs offset = 0;       ///< from monotonic to the epoch
  /// See Clock.
  TimeNs earliest = std::numeric_limits<TimeNs>::min();
  TimeNs latest = std::numeric_limits<TimeNs>::max();
  bool IsPlausible(TimeNs time) const { return time >= earliest && time <= latest; }
  /// The anchors of later collections, in order; each holds for the stamps from it on.
  std::vector<FrameworkClock> later = {};

  /// Nanoseconds since the epoch, rounded down.
  TimeNs Ns(std::int64_t stamp) const;
};

/// `clock` if, according to it, the first operators of FRAMEWORK began while the collection ran.
/// Otherwise the clock with the other unit of stamps, or one by which they begin when the
/// collection did; the correction is counted.
FrameworkClock FittingClock(const FrameworkClock& clock, const SessionInfo& info, Issues& issues);

}  // namespace mpa::raw
