// SPDX-License-Identifier: Apache-2.0
// The chain of evidence of a finding.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxPieces = 5;

// What the places of the job's graph are called.
class PlaceNamer {
 public:
  // `about`: the categories that the fix is about.
  PlaceNamer(const Job& job, const std::vector<TimeCategory>& about) : job_(job) {
    for (std::size_t i = 0; i < job.graph.categories.size(); ++i) {
      for (const ReplayGraph::Edge edge : job.graph.categories[i]) operations_[edge] = i;
      for (const ReplayGraph::Edge edge : job.graph.late[i]) operations_[edge] = i;
    }
    for (RankIndex rank; rank < job.ranks.size(); ++rank) {
      for (const HostShare& share : job.Part(rank).shares) {
        HostShare& longest =
            shares_.try_emplace(job.graph.first_edge[rank] + share.edge, share).first->second;
        const bool fits = IsOf(about, share.category), longest_fits = IsOf(about, longest.category);
        if (fits != longest_fits ? fits : share.time > longest.time) longest = share;
      }
      for (const BlockedPart& call : job.Part(rank).blocked)
        blocked_[job.graph.first_edge[rank] + call.edge] = &call;
    }
  }

  PathPiece Of(const ReplayGraph::PathCut& cut) const {
    if (cut.edge == ReplayGraph::kNoEdge) return OfNode(cut);
    if (const auto operation = operations_.find(cut.edge); operation != operations_.end())
      return OfOperation(operation->second, cut);
    const RankIndex rank = RankOf(cut.node);
    PathPiece piece{job_.ranks[rank].rank, std::string(NameOf(TimeCategory::kUnknown)), cut.less};
    const auto share = shares_.find(cut.edge);
    if (share != shares_.end()) piece.name = NameOf(share->second.category);
    if (const auto call = blocked_.find(cut.edge); call != blocked_.end()) {
      const auto& names = job_.Part(rank).names;
      const std::string& place = names[call->second->place];
      piece.name = place.empty() ? names[call->second->name] : place;
    }
    return piece;
  }

 private:
  // Of a node of the rank itself.
  std::size_t RankOf(ReplayGraph::Node node) const {
    const auto& first = job_.graph.first_node;
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), node) -
                                    first.begin()) -
           1;
  }

  PathPiece OfNode(const ReplayGraph::PathCut& cut) const {
    const RankIndex rank = RankOf(cut.node);
    const RankDiagnosis& part = job_.Part(rank);
    const GraphNode& node = part.graph.nodes[cut.node - job_.graph.first_node[rank]];
    PathPiece piece{job_.ranks[rank].rank, std::string(NameOf(node.category)), cut.less};
    if (node.kind == NodeKind::kKernel) piece.name = part.TypeOf(node);
    return piece;
  }

  PathPiece OfOperation(std::size_t operation, const ReplayGraph::PathCut& cut) const {
    const JointOperation::Member& first = job_.operations.all[operation].joint.members[0];
    PathPiece piece{-1, job_.Part(first.rank).names[job_.PartOf(first).name], cut.less};
    const auto& late = job_.graph.late[operation];
    if (std::ranges::find(late, cut.edge) == late.end())
      piece.rank = job_.ranks[RankOf(cut.node)].rank;
    return piece;
  }

  const Job& job_;
  std::map<ReplayGraph::Edge, std::size_t> operations_;
  std::map<ReplayGraph::Edge, HostShare> shares_;
  std::map<ReplayGraph::Edge, const BlockedPart*> blocked_;
};

// The node of a step that ends last, and when.
std::pair<ReplayGraph::Node, TimeNs> EndOf(const Job& job, std::size_t step,
                                           const std::vector<const Removal*>& made) {
  const ReplayGraph& graph = job.graph.graph;
  const std::vector<TimeNs> start = graph.Replay(made);
  std::vector<TimeNs> less(graph.Nodes(), 0);
  for (const Removal* removal : made) {
    for (const auto& node : removal->durations) less[node.node] += node.less;
  }
  std::pair<ReplayGraph::Node, TimeNs> last{0, job.graph.steps.begin};
  for (std::size_t i = 0; i <= step; ++i) {
    for (const ReplayGraph::Node node : job.graph.steps.last[i]) {
      const TimeNs end = start[node] + std::max<TimeNs>(0, graph.Duration(node) - less[node]);
      if (end > last.second) last = {node, end};
    }
  }
  return last;
}

void AddPath(const Job& job, const std::vector<TimeCategory>& about,
             const std::vector<const WhatIf*>& what_ifs, std::size_t finding, FindingChain& chain) {
  if (job.steps == 0 || job.graph.graph.Nodes() == 0) return;
  std::vector<const Removal*> made;
  for (std::size_t i = 0; i < finding; ++i) made.push_back(&what_ifs[i]->expect);
  const TimeNs from =
      job.first_step == 0 ? job.graph.steps.begin : EndOf(job, job.first_step - 1, made).second;
  const auto last = EndOf(job, job.steps - 1, made).first;
  const PlaceNamer names(job, about);
  std::map<std::pair<RankId, std::string>, TimeNs> pieces;
  for (const ReplayGraph::PathCut& cut :
       job.graph.graph.Shortened(last, from, made, what_ifs[finding]->expect)) {
    const PathPiece piece = names.Of(cut);
    pieces[{piece.rank, piece.name}] += piece.less;
  }
  const auto steps = static_cast<TimeNs>(job.CountedSteps());
  for (const auto& [place, less] : pieces)
    chain.path.push_back({place.first, place.second, less / steps});
  StableSort(chain.path, std::greater{}, &PathPiece::less);
  chain.more_path = chain.path.size() - std::min(chain.path.size(), kMaxPieces);
  chain.path.resize(chain.path.size() - chain.more_path);
}

}  // namespace

void AddChain(const Job& job, const Cause& cause, const std::vector<const WhatIf*>& what_ifs,
              std::size_t finding, Diagnosis& diagnosis) {
  FoundCause& found = diagnosis.findings[finding];
  FindingChain chain;
  if (cause.late) chain.late = ExplainLateRank(job, *cause.late, found);
  chain.stalls = cause.stalls;
  if (found.Is(kRankLate)) ExplainUncaptured(job, found, chain);
  AddPath(job, cause.late ? cause.late->categories : CategoriesOf(found), what_ifs, finding, chain);
  found.chain = std::move(chain);
}

}  // namespace mpa
