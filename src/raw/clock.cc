// SPDX-License-Identifier: Apache-2.0
// Clocks of the records.
#include "clock.h"

#include <algorithm>

#include "framework_clock.h"
#include "mpa/io/numbers.h"

namespace mpa::raw {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

TimeNs Clamp(Int128 ns) {
  constexpr Int128 kLimit = std::int64_t{1} << 62;
  return static_cast<TimeNs>(std::clamp(ns, -kLimit, kLimit));
}

Int128 Wide(std::uint64_t value) { return static_cast<Int128>(value); }

// The instant of the anchor on the host's monotonic clock.
Int128 Anchor(const Clock& clock) {
  const TimeNs drift = clock.host_hertz > 0 ? TicksToNs(clock.drift, clock.host_hertz) : 0;
  return static_cast<Int128>(clock.monotonic) + drift;
}

}  // namespace

std::int64_t HertzFromMegahertz(std::string_view text) {
  const std::int64_t hertz = io::ScaledDecimal(text, 6).value_or(0);
  constexpr std::int64_t kHighest = 100'000'000'000;
  return hertz > 0 && hertz <= kHighest ? hertz : 0;
}

TimeNs TicksToNs(Int128 ticks, std::int64_t hertz) {
  const std::int64_t whole = kNsPerSecond / hertz;
  if (whole * hertz == kNsPerSecond) return Clamp(ticks * whole);
  const Int128 scaled = ticks * kNsPerSecond;
  const Int128 quotient = scaled / hertz;
  return Clamp(scaled % hertz < 0 ? quotient - 1 : quotient);
}

void Clock::SetPlausible(TimeNs begin, TimeNs end) {
  constexpr TimeNs kHour = 3600 * kNsPerSecond, kLongestRun = 30 * 24 * kHour;
  earliest = begin - kHour;
  latest = (end < begin ? begin + kLongestRun : end) + kHour;
}

TimeNs Clock::HostNs(std::uint64_t stamp) const {
  if (host_hertz == 0) return Clamp(Wide(stamp) + offset);
  const TimeNs since = TicksToNs(Wide(stamp) - host_count, host_hertz);
  return Clamp(Anchor(*this) + since + offset);
}

TimeNs Clock::DeviceNs(std::uint64_t count) const {
  if (device_hertz == 0) return -1;
  const TimeNs since = TicksToNs(Wide(count) - device_count, device_hertz);
  return Clamp(Anchor(*this) + since + offset);
}

double Clock::DeviceDuration(std::uint64_t start, std::uint64_t end) const {
  if (device_hertz == 0) return 0;
  const Int128 ticks = Wide(end) - Wide(start);
  return static_cast<double>(ticks * kNsPerSecond) / static_cast<double>(device_hertz);
}

TimeNs Clock::FromStartMicros(std::uint64_t micros) const {
  return Clamp(Wide(micros) * 1000 + monotonic + offset);
}

TimeNs Clock::FromDeviceMonotonic(std::uint64_t ns) const {
  return Clamp(Wide(ns) + Anchor(*this) - device_monotonic + offset);
}

TimeNs FrameworkClock::Ns(std::int64_t stamp) const {
  if (!counter || hertz <= 0) return Clamp(static_cast<Int128>(stamp) + offset);
  const TimeNs since = TicksToNs(static_cast<Int128>(stamp) - count, hertz);
  return Clamp(static_cast<Int128>(since) + monotonic + offset);
}

}  // namespace mpa::raw
