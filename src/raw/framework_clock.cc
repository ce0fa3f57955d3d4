// SPDX-License-Identifier: Apache-2.0
// Whether the times of the framework are those of the collection.
#include "framework_clock.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "mpa/io/input_text.h"
#include "mpa/measure/quantiles.h"
#include "tlv.h"

namespace mpa::raw {
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
  const auto inside = std::count_if(stamps.begin(), stamps.end(), [&](std::int64_t stamp) {
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
        "the clock of FRAMEWORK is estimated, what profiler_info.json says does not suit the times "
        "of the host (syscnt_enable); copy the capture again",
        other.counter ? "stamps are ticks" : "stamps are ns");
    return other;
  }
  other = clock;
  other.offset += info.begin - clock.Ns(Median(std::move(stamps)));
  issues.Count(
      "the clock of FRAMEWORK is estimated so that its first operators begin with the collection; "
      "times of operators may be far off; copy the capture again",
      "host_start.log, profiler_info.json");
  return other;
}

}  // namespace mpa::raw
