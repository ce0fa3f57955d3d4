// SPDX-License-Identifier: Apache-2.0
// Replays of captured graphs.
#include "mpa/measure/graph_replays.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/device_tasks.h"

namespace mpa {
namespace {

// The launches that are calls which start a graph, with the calls.
std::vector<Replay> GraphCalls(const RankTrace& trace) {
  const HostOps& ops = trace.host_ops;
  NamedClasses starts_graph(trace.strings, StartsGraph);
  std::map<std::pair<std::int32_t, TimeNs>, std::uint32_t> calls;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (starts_graph.Of(ops.name[i]))
      calls[{ops.track[i], ops.start[i]}] = static_cast<std::uint32_t>(i);
  }
  std::vector<Replay> replays;
  if (calls.empty()) return replays;
  const Launches& launches = trace.launches;
  for (std::size_t i = 0; i < launches.Size(); ++i) {
    const auto call = calls.find({launches.host_track[i], launches.host_time[i]});
    if (call == calls.end()) continue;
    replays.push_back({.launch = static_cast<std::uint32_t>(i), .call = call->second});
  }
  return replays;
}

void Sort(std::vector<ReplayedWork>& work) {
  StableSort(work, [](const ReplayedWork& a, const ReplayedWork& b) {
    return std::tie(a.start, a.table, a.row) < std::tie(b.start, b.table, b.row);
  });
}

void AddTokens(const RankTrace& trace, std::vector<Replay>& replays) {
  const Nesting ops(OpSpans(trace));
  for (Replay& replay : replays) {
    for (std::int64_t around = ops.Parent(replay.call); around != Nesting::kNone;
         around = ops.Parent(static_cast<std::size_t>(around))) {
      const StringId name = trace.host_ops.name[static_cast<std::size_t>(around)];
      replay.tokens = TokensOfStep(trace.strings.View(name));
      if (replay.tokens >= 0) break;
    }
  }
}

}  // namespace

std::vector<Replay> FindReplays(const RankTrace& trace) {
  std::vector<Replay> replays = GraphCalls(trace);
  if (replays.empty()) return replays;
  std::unordered_map<std::int64_t, std::size_t> of_link;
  for (std::size_t i = 0; i < replays.size(); ++i)
    of_link[trace.launches.link[replays[i].launch]] = i;
  const auto add = [&](ReplayedWork::Table kind, const auto& table, auto is_taken,
                       std::vector<ReplayedWork> Replay::*list) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      const auto found = of_link.find(table.link[i]);
      if (table.link[i] < 0 || found == of_link.end() || !is_taken(i)) continue;
      std::int64_t stream = -1;
      if constexpr (requires { table.stream; }) stream = table.stream[i];
      (replays[found->second].*list)
          .push_back({kind, static_cast<std::uint32_t>(i), table.start[i], stream});
    }
  };
  const auto all = [](std::size_t) { return true; };
  add(ReplayedWork::Table::kKernels, trace.kernels, all, &Replay::kernels);
  add(ReplayedWork::Table::kCommunications, trace.communications, all, &Replay::kernels);
  add(
      ReplayedWork::Table::kTasks, trace.device_tasks,
      [&](std::size_t i) {
        const std::string_view type = trace.strings.View(trace.device_tasks.type[i]);
        return type == kGpuCopy || type == kGpuMemset;
      },
      &Replay::copies);
  std::erase_if(replays, [](const Replay& replay) { return replay.kernels.empty(); });
  for (Replay& replay : replays) {
    Sort(replay.kernels);
    Sort(replay.copies);
  }
  StableSort(replays, {},
             [&](const Replay& replay) { return trace.launches.host_time[replay.launch]; });
  AddTokens(trace, replays);
  return replays;
}

}  // namespace mpa
