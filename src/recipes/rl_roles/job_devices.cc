// SPDX-License-Identifier: Apache-2.0
#include "job_devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "mpa/collectives/rank_clocks.h"
#include "role_names.h"

namespace mpa::rl_roles {
namespace {

std::vector<std::int64_t> CountRanks(const Ranks& ranks) {
  std::int64_t of_replica = 1;
  for (const auto& [rank, capture] : ranks) {
    if (capture.directories.replica >= 0) of_replica = std::max(of_replica, rank + 1);
  }
  std::vector<std::int64_t> counted;
  for (const auto& [rank, capture] : ranks) {
    const std::int64_t replica = std::max<std::int64_t>(0, capture.directories.replica);
    counted.push_back(rank >= 0 ? replica * of_replica + rank : rank);
  }
  return counted;
}

// Where every process sees one device alone, all numbers of devices are the same.
bool DevicesAreNumbered(const Ranks& ranks, const std::vector<std::int64_t>& counted) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::int64_t> rank_of;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const CaptureRoles& capture = ranks[i].part;
    if (capture.runs.empty()) continue;
    if (capture.device < 0) return false;
    const auto [found, added] =
        rank_of.insert({{capture.directories.role, capture.host, capture.device}, counted[i]});
    if (!added && found->second != counted[i]) return false;
  }
  return true;
}

bool Generates(const CaptureRoles& capture) {
  return std::ranges::any_of(
      capture.runs, [](const RoleRun& run) { return KindOf(run.role) == RoleKind::kRollout; });
}

// One device does not spend half of a role in another one as well.
bool RolloutIsApart(const Ranks& ranks, const std::vector<CapturedOn>& on) {
  std::map<std::size_t, std::vector<const CaptureRoles*>> of_device;
  for (std::size_t i = 0; i < ranks.size(); ++i) of_device[on[i].device].push_back(&ranks[i].part);
  const auto overlap = [](const RoleRun& a, const RoleRun& b) {
    const TimeNs common = std::min(a.end, b.end) - std::max(a.begin, b.begin);
    return 2 * common > std::min(a.end - a.begin, b.end - b.begin);
  };
  const auto are_apart = [&](const CaptureRoles& a, const CaptureRoles& b) {
    return Generates(a) && !Generates(b) && std::ranges::any_of(a.runs, [&](const RoleRun& one) {
             return std::ranges::any_of(b.runs,
                                        [&](const RoleRun& other) { return overlap(one, other); });
           });
  };
  return std::ranges::any_of(of_device, [&](const auto& device) {
    return std::ranges::any_of(device.second, [&](const CaptureRoles* one) {
      return std::ranges::any_of(
          device.second, [&](const CaptureRoles* other) { return are_apart(*one, *other); });
    });
  });
}

}  // namespace

std::vector<CapturedOn> FindDevices(const Ranks& ranks) {
  const std::vector<std::int64_t> counted = CountRanks(ranks);
  const bool numbered = DevicesAreNumbered(ranks, counted);
  const auto find = [&](bool is_apart) {
    std::map<std::tuple<std::string, std::int64_t, std::size_t, bool>, std::size_t> devices;
    std::vector<CapturedOn> on;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const CaptureRoles& capture = ranks[i].part;
      const std::int64_t number = numbered ? capture.device : counted[i];
      const auto [device, added] =
          devices.insert({{numbered ? capture.host : std::string(), number, number < 0 ? i : 0,
                           is_apart && Generates(capture)},
                          devices.size()});
      on.push_back({device->second, counted[i]});
    }
    return on;
  };
  std::vector<CapturedOn> on = find(false);
  return RolloutIsApart(ranks, on) ? find(true) : on;
}

// The clocks of hosts.

namespace {

struct Edge {
  std::string host, other;
  ClockLine line;  // from the clock of `host` to that of `other`
};

// Ranks that run collectives together: those of one directory, each once.
std::vector<std::vector<const CaptureRoles*>> JobsOf(
    const std::vector<const CaptureRoles*>& captures) {
  std::map<std::pair<std::string, std::size_t>, std::vector<const CaptureRoles*>> jobs;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> seen;
  for (const CaptureRoles* capture : captures) {
    const std::size_t number = seen[{capture->group, capture->collectives.rank}]++;
    jobs[{capture->group, number}].push_back(capture);
  }
  std::vector<std::vector<const CaptureRoles*>> all;
  for (auto& [key, job] : jobs) all.push_back(std::move(job));
  return all;
}

void AddEdges(const std::vector<const CaptureRoles*>& job, std::vector<Edge>& edges) {
  JobCollectives ranks;
  for (const CaptureRoles* capture : job) ranks.emplace_back(capture->collectives);
  const RankClocks clocks = AlignClocks(ranks, JoinInstances(ranks));
  constexpr TimeNs kMaxSpread = 1'000'000;  // what is less sure does not compare clocks
  for (std::size_t i = 0; i < job.size(); ++i) {
    const RankClock& clock = clocks.clocks[i];
    if (!clock.known || clock.sigma > kMaxSpread || job[i]->host == job[clock.root]->host) continue;
    edges.push_back({job[i]->host, job[clock.root]->host, clock.line});
    edges.push_back({job[clock.root]->host, job[i]->host, clock.line.Inverse()});
  }
}

}  // namespace

TimeNs HostClocks::Convert(const std::string& host, TimeNs own) const {
  const auto found = lines.find(host);
  return found == lines.end() ? own : found->second.Convert(own);
}

HostClocks AlignHosts(const std::vector<const CaptureRoles*>& captures) {
  HostClocks clocks;
  std::set<std::string> hosts;
  for (const CaptureRoles* capture : captures) hosts.insert(capture->host);
  if (hosts.size() < 2) return clocks;
  std::vector<Edge> edges;
  for (const auto& job : JobsOf(captures)) AddEdges(job, edges);
  std::vector<std::string> reached = {captures.front()->host};
  clocks.lines[reached.front()] = {};
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const std::string from = reached[at];
    for (const Edge& edge : edges) {
      if (edge.other != from || clocks.lines.contains(edge.host)) continue;
      clocks.lines[edge.host] = edge.line.Then(clocks.lines[from]);
      reached.push_back(edge.host);
    }
  }
  for (const std::string& host : hosts) {
    if (!clocks.lines.contains(host)) clocks.unaligned.push_back(host);
  }
  return clocks;
}

}  // namespace mpa::rl_roles
