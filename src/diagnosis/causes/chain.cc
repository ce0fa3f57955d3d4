// SPDX-License-Identifier: Apache-2.0
// The chain of evidence of a finding.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "graph_index.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxPieces = 5;

// What the places of the job's graph are called.
class PlaceNamer {
 public:
  // `about`: the categories that the fix is about.
  PlaceNamer(const Job& job, const std::vector<TimeCategory>& about)
      : job_(job), about_(about), index_(job) {}

  PathPiece Of(const ReplayGraph::PathCut& cut) {
    const GraphIndex::OfOperation* operation =
        cut.edge == ReplayGraph::kNoEdge ? nullptr : index_.OperationAt(cut.edge);
    PathPiece piece{-1, "", cut.less};
    if (operation == nullptr || !operation->is_late)
      piece.rank = job_.ranks[index_.RankOf(cut.node)].rank;
    if (operation != nullptr) {
      const JointOperation::Member& first =
          job_.operations.all[operation->operation].joint.members[0];
      piece.name = job_.Part(first.rank).names[job_.PartOf(first).name];
    } else {
      piece.name = cut.edge == ReplayGraph::kNoEdge ? NameOfNode(cut.node) : NameOfEdge(cut.edge);
    }
    return piece;
  }

 private:
  std::string NameOfNode(ReplayGraph::Node node) const {
    const RankIndex rank = index_.RankOf(node);
    const RankDiagnosis& part = job_.Part(rank);
    const GraphNode& of_rank = part.graph.nodes[node - job_.graph.first_node[rank]];
    return of_rank.kind == NodeKind::kKernel ? part.TypeOf(of_rank)
                                             : std::string(NameOf(of_rank.category));
  }

  // A call that waits, else the longest work of the host, such as the fix is about if there is any.
  std::string NameOfEdge(ReplayGraph::Edge edge) {
    const HostShare* longest = nullptr;
    std::string name;
    if (const auto at = index_.RankAt(edge)) {
      const auto& [rank, number] = *at;
      const RankDiagnosis& part = job_.Part(rank);
      index_.Of(rank).shares.ForEach(number, [&](std::uint32_t i) {
        const HostShare& share = part.shares[i];
        const bool fits = IsOf(about_, share.category);
        const bool longest_fits = longest != nullptr && IsOf(about_, longest->category);
        if (longest == nullptr || (fits != longest_fits ? fits : share.time > longest->time))
          longest = &share;
      });
      index_.Of(rank).blocked.ForEach(number, [&](std::uint32_t i) {
        const BlockedPart& call = part.blocked[i];
        const std::string& place = part.names[call.place];
        name = place.empty() ? part.names[call.name] : place;
      });
    }
    if (!name.empty()) return name;
    return std::string(NameOf(longest == nullptr ? TimeCategory::kUnknown : longest->category));
  }

  const Job& job_;
  const std::vector<TimeCategory>& about_;
  GraphIndex index_;
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
             const StepReplays::Removals& fixes, std::size_t number, FindingChain& chain) {
  if (job.steps == 0 || job.graph.graph.Nodes() == 0) return;
  const StepReplays::Removals made(fixes.begin(),
                                   fixes.begin() + static_cast<std::ptrdiff_t>(number));
  const TimeNs from =
      job.first_step == 0 ? job.graph.steps.begin : EndOf(job, job.first_step - 1, made).second;
  const auto last = EndOf(job, job.steps - 1, made).first;
  PlaceNamer names(job, about);
  std::map<std::pair<RankId, std::string>, TimeNs> pieces;
  for (const ReplayGraph::PathCut& cut :
       job.graph.graph.Shortened(last, from, made, *fixes[number])) {
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

void AddChain(const Job& job, const StepReplays::Removals& fixes, std::size_t number,
              Finding& found) {
  FindingChain chain;
  if (found.late) chain.late = ExplainLateRank(job, *found.late, found);
  chain.stalls = found.stalls;
  if (found.Is(kRankLate)) ExplainUncaptured(job, found, chain);
  AddPath(job, CategoriesOfFix(found), fixes, number, chain);
  found.chain = std::move(chain);
}

}  // namespace mpa
