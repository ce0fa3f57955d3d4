// SPDX-License-Identifier: Apache-2.0
// The calls that launch kernels: how long they take, and what stands behind them.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/measure/quantiles.h"
#include "part_facts.h"

namespace mpa {
namespace {

bool LaunchesKernel(std::string_view name) {
  return IsOneOf(name, {"Node@launch", "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel",
                        "cuLaunchKernelEx"});
}

// Launching a collective takes many times as long as launching a kernel.
std::set<std::int64_t> ConnectionsOfCollectives(const RankTrace& trace) {
  std::set<std::int64_t> connections(trace.communications.connection.begin(),
                                     trace.communications.connection.end());
  connections.erase(-1);
  return connections;
}

bool WaitsForStream(std::string_view name) {
  return name.find("Synchronize") != std::string_view::npos;
}

}  // namespace

void AddLaunches(const RankTrace& trace, const HostSteps& steps, RankDiagnosis& part) {
  const HostCalls& calls = trace.host_calls;
  const std::set<std::int64_t> collectives = ConnectionsOfCollectives(trace);
  std::vector<std::vector<TimeNs>> durations(part.steps.size());  // by step
  struct Event {
    TimeNs start;
    bool launches;
  };
  std::map<std::int32_t, std::vector<Event>> events;  // by thread
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    const std::string_view name = trace.strings.View(calls.name[i]);
    const bool launches = LaunchesKernel(name) && !collectives.contains(calls.connection[i]);
    if (!launches && !WaitsForStream(name)) continue;
    events[calls.track[i]].push_back({calls.start[i], launches});
    if (!launches) continue;
    const auto step =
        steps.Count() == 0 ? std::optional<std::size_t>(0) : steps.OfHostTime(calls.start[i]);
    if (step && *step < durations.size()) durations[*step].push_back(calls.dur[i]);
  }
  for (std::size_t step = 0; step < durations.size(); ++step) {
    if (durations[step].empty()) continue;
    StepPart& of = part.steps[step];
    of.launches = static_cast<std::int64_t>(durations[step].size());
    of.launch_time = std::accumulate(durations[step].begin(), durations[step].end(), TimeNs{0});
    of.launch_median = Median(durations[step]);
    of.launch_decile = ValueOfRank(durations[step], NearestRank(durations[step].size(), 90));
  }
  for (auto& [track, of_track] : events) {
    std::stable_sort(of_track.begin(), of_track.end(),
                     [](const Event& a, const Event& b) { return a.start < b.start; });
  }
  for (std::size_t i = 0; i < part.blocked.size() && i < part.graph.blocked.size(); ++i) {
    const auto of_track = events.find(part.graph.blocked[i].track);
    if (of_track == events.end()) continue;
    const auto at = std::partition_point(
        of_track->second.begin(), of_track->second.end(),
        [&](const Event& event) { return event.start < part.blocked[i].start; });
    part.blocked[i].behind_launch = at != of_track->second.begin() && std::prev(at)->launches;
  }
}

}  // namespace mpa
