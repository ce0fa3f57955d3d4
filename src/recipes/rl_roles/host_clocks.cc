// SPDX-License-Identifier: Apache-2.0
// The clocks of hosts.
#include <algorithm>
#include <set>
#include <utility>

#include "job_devices.h"
#include "mpa/collectives/rank_clocks.h"

namespace mpa::rl_roles {
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
  constexpr TimeNs kMostSpread = 1'000'000;  // what is less sure does not compare clocks
  for (std::size_t i = 0; i < job.size(); ++i) {
    const RankClock& clock = clocks.clocks[i];
    if (!clock.known || clock.sigma > kMostSpread || job[i]->host == job[clock.root]->host)
      continue;
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
