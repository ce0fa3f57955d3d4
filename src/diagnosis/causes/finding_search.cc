// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/causes/finding_search.h"

#include <algorithm>

#include "mpa/base/rank.h"

namespace mpa {

Finding NewFinding(const Job& job, const FindingType& type, std::string_view place) {
  Finding found;
  found.type = &type;
  found.key = type.id;
  if (!place.empty()) found.key.append("/").append(place);
  found.kind = type.kind;
  found.steps = job.CountedIds();
  found.confidence = job.CountedSteps() >= 3 ? Certainty::kHigh : Certainty::kMedium;
  found.what_if.opportunity = type.kind == FindingKind::kOpportunity;
  return found;
}

void ShortenOperation(const Job& job, std::size_t operation, TimeNs time, Removal& removal) {
  for (const ReplayGraph::Edge edge : job.graph.categories[operation])
    removal.waits.push_back({edge, time});
}

void DropIssuing(const Job& job, RankIndex rank, std::span<const Removal::Edge> issuing,
                 double share, Removal& removal) {
  for (const Removal::Edge& work : issuing)
    removal.waits.push_back({job.graph.first_edge[rank] + work.edge, ShareOf(work.less, share)});
}

void DropWait(const Job& job, RankIndex rank, const BlockedPart& call, Removal& removal) {
  const std::uint32_t first = job.graph.first_edge[rank];
  removal.cuts.push_back(first + call.edge);
  if (call.own > 0) removal.waits.push_back({first + call.own_edge, call.own});
}

void AddWait(const RankDiagnosis& part, const BlockedPart& call, AdviceFacts& facts) {
  const RankGraph& graph = part.graph;
  const TimeCategory awaited = graph.nodes[graph.edges[call.edge].on].category;
  // Operators that read numbers synchronise, too; the program has no say in how.
  const bool is_operator = part.names[call.place].find("::") != std::string::npos;
  if (call.category == TimeCategory::kHostCopy) {
    if (graph.nodes[graph.edges[call.edge].on].pinned) facts.copying_pinned += call.dur;
    if (awaited == TimeCategory::kCopyOut) facts.copying_out += call.dur;
    if (awaited == TimeCategory::kCopyIn) facts.copying_in += call.dur;
  } else if (call.category == TimeCategory::kExplicitSync && !is_operator) {
    facts.synchronising += call.dur;
  } else {
    facts.reading += call.dur;
  }
}

void DropDeviceWork(const Job& job, RankIndex rank, std::uint32_t node, Removal& removal) {
  const std::uint32_t number = job.graph.first_node[rank] + node;
  removal.durations.push_back({number, job.Part(rank).graph.nodes[node].dur});
  removal.prompt.push_back(number);
}

bool IsReduction(const JobOperation& operation) {
  return operation.kind == "allreduce" || operation.kind == "reducescatter" ||
         operation.kind == "allgather";
}

TimeNs PostOf(const Job& job, std::size_t operation) {
  TimeNs post = 0;
  for (const ReplayGraph::Edge edge : job.graph.categories[operation])
    post = std::max(post, job.graph.graph.Weight(edge));
  return post;
}

TimeNs LeastGain(const Thresholds& thresholds, TimeNs step) {
  return std::max(Whole(thresholds[kMinNs]), ShareOf(step, thresholds[kMinShare]));
}

TimeNs PerStep(const Job& job, TimeNs time) {
  return time / static_cast<TimeNs>(std::max<std::size_t>(1, job.CountedSteps()));
}

}  // namespace mpa
