// SPDX-License-Identifier: Apache-2.0
// Clocks of the records.
#include "clock.h"

#include <algorithm>
#include <utility>

#include "mpa/io/input_text.h"
#include "mpa/io/numbers.h"
#include "mpa/measure/quantiles.h"
#include "tlv.h"

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
  constexpr TimeNs kHour = 3600 * kNsPerSecond, kMaxRun = 30 * 24 * kHour;
  earliest = begin - kHour;
  latest = (end < begin ? begin + kMaxRun : end) + kHour;
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
  const bool ticks = counter && hertz > 0;
  const FrameworkClock* anchor = this;
  for (const FrameworkClock& next : later) {
    if (stamp >= (ticks ? next.count : next.monotonic)) anchor = &next;
  }
  if (!ticks) return Clamp(static_cast<Int128>(stamp) + anchor->offset);
  const TimeNs since = TicksToNs(static_cast<Int128>(stamp) - anchor->count, hertz);
  return Clamp(static_cast<Int128>(since) + anchor->monotonic + anchor->offset);
}

// Whether the times of the framework are those of the collection.

namespace {

// Begins of the first operators, as they are recorded.
std::vector<std::int64_t> FirstStamps(const std::filesystem::path& file) {
  constexpr std::size_t kBytes = 64 << 10;
  constexpr std::size_t kStamp = 8;
  constexpr std::uint16_t kOperator = 1;
  std::vector<std::int64_t> stamps;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return stamps;
  const std::string start = io::ReadStart(file, kBytes);
  ForEachTlv(start, [&](std::uint16_t type, std::string_view value) {
    if (type == kOperator && value.size() >= kStamp) {
      stamps.push_back(Record<kStamp>(value.data()).I64(0));
    }
  });
  return stamps;
}

bool SuitsCollection(const FrameworkClock& clock, const std::vector<std::int64_t>& stamps,
                     const SessionInfo& info) {
  constexpr TimeNs kMinute = 60'000'000'000;
  const auto inside = std::ranges::count_if(stamps, [&](std::int64_t stamp) {
    const TimeNs time = clock.Ns(stamp);
    return time >= info.begin - kMinute && (info.end < 0 || time <= info.end + kMinute);
  });
  return static_cast<std::size_t>(inside) * 2 >= stamps.size();
}

}  // namespace

FrameworkClock FittingClock(const FrameworkClock& clock, const SessionInfo& info, Issues& issues) {
  if (info.begin < 0) return clock;
  std::vector<std::int64_t> stamps = FirstStamps(info.framework / "torch.op_range");
  if (stamps.empty() || SuitsCollection(clock, stamps, info)) return clock;
  FrameworkClock other = clock;
  other.counter = !clock.counter;
  if (SuitsCollection(other, stamps, info)) {
    issues.Count(
        "the clock of FRAMEWORK is estimated, what profiler_info.json says does not suit the times"
        " of the host (syscnt_enable); copy the capture again",
        other.counter ? "stamps are ticks" : "stamps are ns");
    return other;
  }
  other = clock;
  other.later.clear();
  other.offset += info.begin - clock.Ns(Median(std::move(stamps)));
  issues.Count(
      "the clock of FRAMEWORK is estimated so that its first operators begin with the collection;"
      " times of operators may be far off; copy the capture again",
      "host_start.log, profiler_info.json");
  return other;
}

}  // namespace mpa::raw
