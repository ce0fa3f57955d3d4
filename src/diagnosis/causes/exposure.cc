// SPDX-License-Identifier: Apache-2.0
#include "exposure.h"

#include <algorithm>

namespace mpa {
namespace {

// Kernels of a rank on the clock of the job.
Intervals ComputedBy(const Job& job, std::size_t rank) {
  std::vector<Interval> rows;
  for (const GraphNode& node : job.Part(rank).graph.nodes) {
    if (node.kind != NodeKind::kKernel) continue;
    const TimeNs start = job.operations.clock[rank].Convert(node.start);
    rows.push_back({start, start + node.dur});
  }
  return Union(std::move(rows));
}

}  // namespace

Exposure::Exposure(const Job& job)
    : exposed_(job.operations.all.size(), 0), between_kernels_(job.operations.all.size(), false) {
  std::vector<Intervals> computes;
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
    computes.push_back(ComputedBy(job, rank));
  for (std::size_t i = 0; i < exposed_.size(); ++i) Measure(job, i, computes);
}

void Exposure::Measure(const Job& job, std::size_t operation,
                       const std::vector<Intervals>& computes) {
  const auto& members = job.operations.all[operation].joint.members;
  const ReplayGraph& graph = job.graph.graph;
  const TimeNs beside = Whole(job.rules.beside_ns);
  TimeNs sum = 0;
  std::size_t between = 0;
  for (const auto& member : members) {
    const RankCollective& row = job.Part(member.rank).graph.collectives[member.collective];
    const TimeNs arrive = graph.Start(job.graph.first_node[member.rank] + row.arrive);
    const TimeNs end = graph.Start(job.graph.first_node[member.rank] + row.leave);
    const TimeNs begin = std::min(end, std::max(arrive, graph.Start(job.graph.joints[operation])));
    const Intervals& computed = computes[member.rank];
    auto next = std::partition_point(computed.begin(), computed.end(),
                                     [&](const Interval& piece) { return piece.end <= arrive; });
    const bool is_preceded = next != computed.begin() && arrive - std::prev(next)->end <= beside;
    TimeNs exposed = end - begin, alone = end - arrive;
    for (; next != computed.end() && next->begin < end; ++next) {
      exposed -= std::max<TimeNs>(0, std::min(end, next->end) - std::max(begin, next->begin));
      alone -= std::min(end, next->end) - std::max(arrive, next->begin);
    }
    const bool is_followed = next != computed.end() && next->begin - end <= beside;
    sum += std::max<TimeNs>(0, exposed);
    const bool is_alone =
        static_cast<double>(alone) >= job.rules.alone_share * static_cast<double>(end - arrive);
    between += is_preceded && is_followed && is_alone ? 1 : 0;
  }
  if (members.empty()) return;
  exposed_[operation] = sum / static_cast<TimeNs>(members.size());
  between_kernels_[operation] = 2 * between > members.size();
}

bool Exposure::OnTheWay(const std::vector<std::size_t>& operations) const {
  const auto between = std::count_if(operations.begin(), operations.end(),
                                     [&](std::size_t i) { return between_kernels_[i]; });
  return 2 * static_cast<std::size_t>(between) > operations.size();
}

}  // namespace mpa
