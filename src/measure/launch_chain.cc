// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/launch_chain.h"

#include <algorithm>
#include <iterator>

#include "mpa/measure/accounting.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/time_category.h"

namespace mpa {
namespace {

// Rows by connection; of several rows with one connection the first counts.
template <typename Table>
std::vector<std::pair<std::int64_t, std::uint32_t>> RowsByConnection(const Table& table) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> rows;
  rows.reserve(table.Size());
  for (std::size_t i = 0; i < table.Size(); ++i) {
    if (table.connection[i] < 0) continue;
    rows.emplace_back(table.connection[i], static_cast<std::uint32_t>(i));
  }
  if (!std::ranges::is_sorted(rows)) std::ranges::sort(rows);
  return rows;
}

std::optional<std::uint32_t> RowOf(const std::vector<std::pair<std::int64_t, std::uint32_t>>& rows,
                                   std::int64_t connection) {
  const auto found = std::lower_bound(rows.begin(), rows.end(), std::pair{connection, 0u});
  if (connection < 0 || found == rows.end() || found->first != connection) return std::nullopt;
  return found->second;
}

}  // namespace

LaunchCalls::LaunchCalls(const RankTrace& trace)
    : trace_(trace),
      calls_(RowsByConnection(trace.host_calls)),
      stamps_(RowsByConnection(trace.call_stamps)) {
  const HostCalls& calls = trace.host_calls;
  NamedClasses starts_graph(trace.strings, StartsGraph);
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    if (starts_graph.Of(calls.name[i])) graphs_.push_back(static_cast<std::uint32_t>(i));
  }
  std::ranges::stable_sort(
      graphs_, [&](std::uint32_t a, std::uint32_t b) { return calls.start[a] < calls.start[b]; });
}

LaunchCall LaunchCalls::Call(std::uint32_t row) const {
  const HostCalls& calls = trace_.host_calls;
  return {calls.start[row], calls.start[row] + calls.dur[row], calls.track[row],
          static_cast<std::int32_t>(row)};
}

std::optional<LaunchCall> LaunchCalls::Find(std::int64_t connection) const {
  if (const auto row = RowOf(calls_, connection)) return Call(*row);
  if (const auto row = RowOf(stamps_, connection)) {
    const CallStamps& stamps = trace_.call_stamps;
    return LaunchCall{stamps.time[*row], stamps.time[*row], stamps.track[*row], -1};
  }
  return std::nullopt;
}

std::optional<LaunchCall> LaunchCalls::LastGraph(TimeNs time) const {
  const auto after = std::partition_point(graphs_.begin(), graphs_.end(), [&](std::uint32_t row) {
    return trace_.host_calls.start[row] <= time;
  });
  if (after == graphs_.begin()) return std::nullopt;
  return Call(*std::prev(after));
}

// How far the clocks of host and device are apart.

namespace {

constexpr TimeNs kLargestOffset = 1'000'000;
constexpr std::size_t kFew = 1000;  // so few launches are all believed

}  // namespace

HostClock HostClockOf(const RankTrace& trace) { return HostClockOf(trace, FindDeviceItems(trace)); }

HostClock HostClockOf(const RankTrace& trace, std::span<const DeviceItem> items) {
  const LaunchCalls calls(trace);
  std::vector<TimeNs> delays;  // from the begin of the call to that of the kernel
  for (const DeviceItem& item : items) {
    if (!IsCompute(item.category)) continue;
    if (const auto call = calls.Find(item.connection)) delays.push_back(item.begin - call->begin);
  }
  if (delays.empty()) return {};
  const std::size_t rank = delays.size() <= kFew ? 0 : delays.size() / 1000;
  const TimeNs offset = std::max<TimeNs>(0, -ValueAtPosition(delays, rank));
  return offset > kLargestOffset ? HostClock{0, false} : HostClock{offset, true};
}

LaunchChains::LaunchChains(const RankTrace& trace)
    : trace_(trace),
      calls_(trace),
      queue_(trace.queued_work),
      launches_(trace),
      ops_([&trace] { return Nesting(OpSpans(trace)); }),
      by_demand_(RowsBy<std::uint32_t>(trace.queued_work.Size(), [&](std::uint32_t row) {
        return std::pair{trace.queued_work.queued_track[row], trace.queued_work.queued[row]};
      })) {}

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
  std::int32_t track = trace_.launches.host_track[*launch];
  TimeNs time = trace_.launches.host_time[*launch];
  // The work of a graph is asked for by the call that launches the graph.
  if (const std::int32_t replay = trace_.launches.replay[*launch]; replay >= 0) {
    track = trace_.graph_replays.track[static_cast<std::size_t>(replay)];
    time = trace_.graph_replays.start[static_cast<std::size_t>(replay)];
  }
  const std::int64_t op = ops_->Find(track, time);
  const TimeNs op_end = op == Nesting::kNone ? time : ops_->At(static_cast<std::size_t>(op)).end;
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
  const Nesting ops(OpSpans(trace));
  const LaunchIndex launches(trace);
  const LaunchCalls calls(trace);
  std::vector<Dispatch> dispatches;
  for (const DeviceItem& item : FindDeviceItems(trace)) {
    Dispatch& dispatch = dispatches.emplace_back(Dispatch{.work = item});
    if (const auto launch = launches.Find(item.link)) {
      dispatch.op = ops.Find(trace.launches.host_track[*launch], trace.launches.host_time[*launch]);
    }
    if (const auto call = calls.Find(item.connection)) dispatch.call = call->row;
  }
  return dispatches;
}

bool RunsCompiledCode(const RankTrace& trace) {
  NamedClasses<bool> is_compiled(trace.strings, [](std::string_view name) {
    return name.starts_with("Torch-Compiled Region") || name.starts_with("CompiledFunction") ||
           name.starts_with("triton_") || StartsGraph(name);
  });
  const auto any = [&](const std::vector<StringId>& names) {
    return std::ranges::any_of(names, [&](StringId name) { return is_compiled.Of(name); });
  };
  return any(trace.host_ops.name) || any(trace.host_calls.name) || any(trace.kernels.name);
}

}  // namespace mpa
