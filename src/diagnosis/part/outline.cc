// SPDX-License-Identifier: Apache-2.0
// What of a part all ranks of a large job are known by.

#include <map>
#include <utility>

#include "part_facts.h"

namespace mpa {
namespace {

// What a row takes beside itself while its rank is replayed: in the graph of the job, in two
// replays of that at a time, and in what the fixes take out. Measured on jobs of eight ranks of 57
// MB and of a thousand of 1 MB.
constexpr std::size_t kOfNode = 165, kOfEdge = 60, kOfShare = 40;

template <typename Row>
std::int64_t BytesOf(const std::vector<Row>& rows, std::size_t beside = 0) {
  return static_cast<std::int64_t>(rows.size() * (sizeof(Row) + beside));
}

std::int64_t BytesBesideOutline(const RankDiagnosis& part) {
  const RankGraph& graph = part.graph;
  return BytesOf(graph.nodes, kOfNode) + BytesOf(graph.edges, kOfEdge) + BytesOf(part.kinds) +
         BytesOf(part.origins) + BytesOf(part.shares, kOfShare) + BytesOf(part.between) +
         static_cast<std::int64_t>(part.places.Bytes()) + BytesOf(part.gaps) +
         BytesOf(part.scheduler.waits) + BytesOf(part.functions.calls) +
         BytesOf(part.functions.times) + BytesOf(part.blocked) + BytesOf(part.transfers) +
         BytesOf(part.long_tasks) + BytesOf(part.operators.of_node);
}

}  // namespace

void SumUp(RankDiagnosis& part) {
  PartNames names(part.names);
  std::vector<std::map<std::pair<bool, NameId>, TimeNs>> sums(part.steps.size());
  const auto add = [&](const GraphNode& node, bool on_host, NameId name, TimeNs time) {
    if (node.step >= 0 && static_cast<std::size_t>(node.step) < sums.size())
      sums[static_cast<std::size_t>(node.step)][{on_host, name}] += time;
  };
  for (const GraphNode& node : part.graph.nodes) {
    if (node.kind == NodeKind::kKernel) add(node, false, part.KindOf(node).type, node.dur);
  }
  for (const HostShare& share : part.shares) {
    add(part.graph.nodes[part.graph.edges[share.edge].node], true, names.Of(NameOf(share.category)),
        share.time);
  }
  for (std::size_t step = 0; step < sums.size(); ++step) {
    part.steps[step].work.clear();
    for (const auto& [work, time] : sums[step])
      part.steps[step].work.push_back({work.second, work.first, time});
  }
  part.whole_bytes = BytesBesideOutline(part);
}

RankDiagnosis OutlineOf(const RankDiagnosis& part) {
  RankDiagnosis outline;
  outline.is_outline = true;
  outline.source = part.source;
  outline.level = part.level;
  outline.capture = part.capture;
  outline.has_calls = part.has_calls;
  outline.breaks_off = part.breaks_off;
  outline.knows_garbage = part.knows_garbage;
  outline.has_stacks = part.has_stacks;
  outline.has_shapes = part.has_shapes;
  outline.has_host_ops = part.has_host_ops;
  outline.scheduler.recorded = part.scheduler.recorded;
  outline.scheduler.far_moves = part.scheduler.far_moves;
  outline.functions.recorded = part.functions.recorded;
  outline.is_compiled = part.is_compiled;
  outline.trains = part.trains;
  outline.steps = part.steps;
  outline.earlier = part.earlier;
  outline.operations = part.operations;
  outline.collectives = part.collectives;
  for (const RankCollective& collective : part.graph.collectives)
    outline.graph.collectives.push_back({0, 0, collective.row});
  outline.analyzers.lost_packets = part.analyzers.lost_packets;
  outline.settings = part.settings;
  outline.host = part.host;
  outline.chip = part.chip;
  outline.rated_mhz = part.rated_mhz;
  outline.memory = part.memory;
  outline.full_links = part.full_links;
  outline.counts_links = part.counts_links;
  outline.whole_bytes = part.whole_bytes;
  PartNames names(outline.names);
  const auto rename = [&](NameId& name) { name = names.Of(part.names[name]); };
  for (StepPart& step : outline.steps) {
    for (WorkSum& work : step.work) rename(work.name);
  }
  for (OperationPart& operation : outline.operations) {
    rename(operation.group);
    rename(operation.name);
    rename(operation.kind);
  }
  return outline;
}

}  // namespace mpa
