// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/causes/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "finders.h"
#include "mpa/base/parallel.h"
#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/job/issuing.h"

namespace mpa {

Cause NewCause(const Job& job, std::string_view id, std::string_view place) {
  Cause cause;
  const CatalogueEntry& entry = EntryOf(id);
  cause.finding.id = id;
  cause.finding.key = place.empty() ? std::string(id) : fmt::format("{}/{}", id, place);
  cause.finding.kind = entry.kind;
  cause.finding.steps = job.CountedIds();
  cause.finding.confidence = job.CountedSteps() >= 3 ? Certainty::kHigh : Certainty::kMedium;
  cause.what_if.opportunity = entry.kind == FindingKind::kOpportunity;
  return cause;
}

void ShortenOperation(const Job& job, std::size_t operation, TimeNs time, Removal& removal) {
  for (const ReplayGraph::Edge edge : job.graph.leaves[operation])
    removal.waits.push_back({edge, time});
}

void DropIssuing(const Job& job, std::size_t rank, std::span<const Removal::Edge> issuing,
                 double share, Removal& removal) {
  for (const Removal::Edge& work : issuing)
    removal.waits.push_back({job.graph.first_edge[rank] + work.edge, ShareOf(work.less, share)});
}

void DropWait(const Job& job, std::size_t rank, const BlockedPart& call, Removal& removal) {
  const std::uint32_t first = job.graph.first_edge[rank];
  removal.cuts.push_back(first + call.edge);
  if (call.own > 0) removal.waits.push_back({first + call.own_edge, call.own});
}

void AddWait(const RankDiagnosis& part, const BlockedPart& call, AdviceFacts& facts) {
  const RankGraph& graph = part.graph;
  const Leaf awaited = graph.nodes[graph.edges[call.edge].on].leaf;
  // Operators that read numbers synchronise, too; the program has no say in how.
  const bool is_operator = part.names[call.place].find("::") != std::string::npos;
  if (call.leaf == Leaf::kHostCopy) {
    if (awaited == Leaf::kCopyOut) facts.copying_out += call.dur;
    if (awaited == Leaf::kCopyIn) facts.copying_in += call.dur;
  } else if (call.leaf == Leaf::kExplicitSync && !is_operator) {
    facts.synchronising += call.dur;
  } else {
    facts.reading += call.dur;
  }
}

void DropDeviceWork(const Job& job, std::size_t rank, std::uint32_t node, Removal& removal) {
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
  for (const ReplayGraph::Edge edge : job.graph.leaves[operation])
    post = std::max(post, job.graph.graph.Weight(edge));
  return post;
}

TimeNs LeastGain(const Rules& rules, TimeNs step) {
  return std::max(Whole(rules.least_ns), ShareOf(step, rules.least_share));
}

TimeNs PerStep(const Job& job, TimeNs time) {
  return time / static_cast<TimeNs>(std::max<std::size_t>(1, job.CountedSteps()));
}

std::vector<Cause> FindCauses(const Job& job) {
  using Causes = std::vector<Cause>;
  IssuingOfRanks issuing(job.ranks);
  // Those of a group run in turn: one may look at what those before it found.
  const std::array<std::function<void(Causes&)>, 4> groups = {
      [&](Causes& found) {
        FindRankCauses(job, found);
        FindUncapturedCauses(job, found);
      },
      [&](Causes& found) {
        const LinkSpeeds speeds(job);
        FindSlowLinks(job, speeds, found);
        FindCommunicationCauses(job, speeds, issuing, found);
        FindDataParallelCauses(job, issuing, found);
        FindSlowPorts(job, found);
        FindSlowGroups(job, found);
        FindPipelineCauses(job, found);
      },
      [&](Causes& found) {
        FindHostCauses(job, found);
        FindLaunchCauses(job, found);
        FindHostHabits(job, found);
      },
      [&](Causes& found) {
        FindTransferCauses(job, found);
        FindDeviceCauses(job, issuing, found);
        FindFusionCauses(job, issuing, found);
        FindOperatorCauses(job, found);
      }};
  std::array<Causes, groups.size()> of_group;
  ParallelFor(groups.size(), [&](std::size_t group) { groups[group](of_group[group]); });
  Causes causes;
  for (Causes& found : of_group) {
    causes.insert(causes.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
  }
  return causes;
}

}  // namespace mpa
