// SPDX-License-Identifier: Apache-2.0
#include "host_stretches.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

// A step of at least so many stretches is one of many operators.
constexpr std::size_t kManyOfStep = 10;

// Of two in the middle the greater one.
TimeNs MiddleOf(std::vector<TimeNs>& times) {
  return times.empty() ? 0 : ValueAtPosition(times, PercentileIndexAbove(times.size(), 50));
}

bool IssuesWork(NodeKind kind) { return kind == NodeKind::kLaunch || kind == NodeKind::kQueue; }

}  // namespace

HostStretches::HostStretches(const Job& job, RankIndex rank)
    : part_(job.Part(rank)), last_issue_(std::numeric_limits<TimeNs>::max()) {
  std::unordered_map<std::uint32_t, TimeNs> stretches;  // by edge
  std::map<TimeCategory, std::vector<TimeNs>> times;
  for (const HostShare& share : part_.shares) {
    stretches[share.edge] += share.time;
    times[share.category].push_back(share.time);
  }
  std::vector<TimeNs> all;
  for (const auto& [edge, time] : stretches) all.push_back(time);
  whole_ = MiddleOf(all);
  for (auto& [category, of_class] : times) {
    of_class_[category] = MiddleOf(of_class);
    if (of_class.size() < kManyOfStep * std::max<std::size_t>(1, part_.steps.size())) continue;
    of_class.resize(std::max(of_class.size(), stretches.size()));
    of_all_[category] = MiddleOf(of_class);
  }
  bool any = false;
  for (const GraphNode& node : part_.graph.nodes) {
    if (!IssuesWork(node.kind)) continue;
    last_issue_ = any ? std::max(last_issue_, node.start) : node.start;
    any = true;
  }
}

bool HostStretches::IsBehindAll(std::uint32_t edge) const {
  return part_.graph.nodes[part_.graph.edges[edge].node].start > last_issue_;
}

}  // namespace mpa
