// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/launch_chain.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mpa/measure/launch_calls.h"
#include "mpa/measure/leaf.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"

namespace mpa {

LaunchChains::LaunchChains(const RankTrace& trace)
    : trace_(trace),
      calls_(trace),
      queue_(trace.queued_work),
      launches_(trace),
      ops_(SpansOf(trace.host_ops)),
      by_demand_(trace.queued_work.Size()) {
  const QueuedWork& work = trace.queued_work;
  std::iota(by_demand_.begin(), by_demand_.end(), 0u);
  std::stable_sort(by_demand_.begin(), by_demand_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair{work.queued_track[a], work.queued[a]} <
           std::pair{work.queued_track[b], work.queued[b]};
  });
}

std::optional<LaunchChain> LaunchChains::Find(const DeviceItem& item, TimeNs begin) const {
  if (const auto call = calls_.Find(item.connection)) {
    if (call->track >= 0) return FromCall(*call);
  }
  if (item.model >= 0 && item.connection < 0) {
    if (const auto call = calls_.LastGraph(begin)) return FromCall(*call);
  }
  return FromOperator(item.link);
}

std::optional<LaunchChain> LaunchChains::FromCall(const LaunchCall& call) const {
  LaunchChain chain{.asked = call.begin,
                    .taken = call.begin,
                    .launched = call.end,
                    .asking_track = call.track,
                    .launching_track = call.track,
                    .call_begin = call.begin,
                    .complete = call.row >= 0};
  if (const auto row = queue_.Find(call.track, call.begin)) {
    const QueuedWork& work = trace_.queued_work;
    chain.taken = work.start[*row];
    chain.asked = work.queued[*row] + work.queued_dur[*row];
    chain.asking_track = work.queued_track[*row];
  }
  return chain;
}

std::optional<LaunchChain> LaunchChains::FromOperator(std::int64_t link) const {
  const auto launch = launches_.Find(link);
  if (!launch) return std::nullopt;
  const std::int32_t track = trace_.launches.host_track[*launch];
  const TimeNs time = trace_.launches.host_time[*launch];
  const std::int64_t op = ops_.Find(track, time);
  const TimeNs op_end = op == Nesting::kNone ? time : ops_.At(static_cast<std::size_t>(op)).end;
  LaunchChain chain{.asked = time,
                    .taken = time,
                    .launched = op_end,
                    .asking_track = track,
                    .launching_track = track,
                    .call_begin = time};
  const QueuedWork& work = trace_.queued_work;
  const auto row =
      std::partition_point(by_demand_.begin(), by_demand_.end(), [&](std::uint32_t at) {
        return std::pair{work.queued_track[at], work.queued[at]} < std::pair{track, time};
      });
  if (row != by_demand_.end() && work.queued_track[*row] == track && work.queued[*row] <= op_end) {
    chain.asked = work.queued[*row] + work.queued_dur[*row];
    chain.taken = chain.call_begin = work.start[*row];
    chain.launched = work.start[*row] + work.dur[*row];
    chain.launching_track = work.track[*row];
    chain.queued = static_cast<std::int32_t>(*row);
  }
  return chain;
}

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
