// SPDX-License-Identifier: Apache-2.0
#include "trace_copies.h"

#include <algorithm>
#include <cstdint>

#include "mpa/model/queue_index.h"

namespace mpa::readers {
namespace {

// The flows that end at copies, each with the row of the copy, in order. One call may make several
// copies.
std::vector<std::pair<std::int64_t, std::size_t>> FlowsToCopies(
    std::vector<PlacedRow> copies, const std::vector<FlowPoint>& flows) {
  std::ranges::sort(copies);
  std::vector<std::pair<std::int64_t, std::size_t>> found;
  for (const FlowPoint& flow : flows) {
    if (!flow.is_end) continue;
    const PlacedRow place{{flow.pid, flow.tid, flow.time}, 0};
    const auto copy = std::lower_bound(copies.begin(), copies.end(), place);
    if (copy == copies.end() || copy->first != place.first) continue;
    found.emplace_back(flow.id, copy->second);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

void LinkDirectCopies(std::vector<PlacedRow> copies, const std::vector<FlowPoint>& runtime_flows,
                      RankTrace& trace) {
  const auto to_copies = FlowsToCopies(std::move(copies), runtime_flows);
  if (to_copies.empty()) return;
  const HostThreads threads(trace);
  const QueueIndex queue(trace.queued_work);
  for (const FlowPoint& flow : runtime_flows) {
    if (flow.is_end) continue;
    const std::int32_t track = threads.Find(flow.pid, flow.tid);
    if (track < 0 || queue.Find(track, flow.time)) continue;
    auto copy =
        std::lower_bound(to_copies.begin(), to_copies.end(), std::pair{flow.id, std::size_t{0}});
    for (; copy != to_copies.end() && copy->first == flow.id; ++copy) {
      const std::size_t row = copy->second;
      trace.device_tasks.link[row] = static_cast<std::int64_t>(trace.launches.Size());
      trace.launches.Append({.link = trace.device_tasks.link[row],
                             .host_time = flow.time,
                             .host_track = track,
                             .device_time = trace.device_tasks.start[row],
                             .stream = trace.device_tasks.stream[row]});
    }
  }
}

}  // namespace mpa::readers
