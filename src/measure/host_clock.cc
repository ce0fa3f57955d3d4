// SPDX-License-Identifier: Apache-2.0
// How far the clocks of host and device are apart.
#include <algorithm>
#include <vector>

#include "mpa/measure/accounting.h"
#include "mpa/measure/device_items.h"
#include "mpa/measure/launch_calls.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr TimeNs kLargestOffset = 1'000'000;
constexpr std::size_t kFew = 1000;  // so few launches are all believed

}  // namespace

HostClock HostClockOf(const RankTrace& trace) { return HostClockOf(trace, FindDeviceItems(trace)); }

HostClock HostClockOf(const RankTrace& trace, std::span<const DeviceItem> items) {
  const LaunchCalls calls(trace);
  std::vector<TimeNs> delays;  // from the begin of the call to that of the kernel
  for (const DeviceItem& item : items) {
    if (!IsCompute(item.leaf)) continue;
    if (const auto call = calls.Find(item.connection)) delays.push_back(item.begin - call->begin);
  }
  if (delays.empty()) return {};
  const std::size_t rank = delays.size() <= kFew ? 0 : delays.size() / 1000;
  const TimeNs offset = std::max<TimeNs>(0, -ValueOfRank(delays, rank));
  return offset > kLargestOffset ? HostClock{0, false} : HostClock{offset, true};
}

}  // namespace mpa
