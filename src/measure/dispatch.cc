// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/dispatch.h"

#include "mpa/measure/launch_calls.h"
#include "mpa/measure/leaf.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"

namespace mpa {

std::vector<Dispatch> FindDispatches(const RankTrace& trace) {
  const Nesting ops(SpansOf(trace.host_ops));
  const LaunchIndex launches(trace);
  const LaunchCalls calls(trace);
  std::vector<Dispatch> dispatches;
  for (const DeviceItem& item : FindDeviceItems(trace)) {
    if (!IsCompute(item.leaf) && item.leaf != Leaf::kUnsplit) continue;
    Dispatch& dispatch = dispatches.emplace_back(Dispatch{.work = item});
    if (const auto launch = launches.Find(item.link)) {
      dispatch.op = ops.Find(trace.launches.host_track[*launch], trace.launches.host_time[*launch]);
    }
    if (const auto call = calls.Find(item.connection)) dispatch.call = call->row;
  }
  return dispatches;
}

}  // namespace mpa
