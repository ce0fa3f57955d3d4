// SPDX-License-Identifier: Apache-2.0
// Operators that the model computes in several kernels although one could do it at once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "finder.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kUnfusedShare{"share", 0.02, 0, 1,
                                  "the pieces take at least this share of the step"},
    kUnfusedChain{"chain", 3, 2, kMaxCalls,
                  "at least this many vector kernels in a row on equal tensors could be one"};

constexpr std::string_view kElementwise = "elementwise";

// Kernels in the order of a rank that one kernel could replace: nodes of its graph.
struct FusibleRun {
  std::size_t rank = 0;  ///< by position
  std::vector<std::uint32_t> kernels;
};

bool IsPiece(const FusionPiece& piece, std::string_view type) {
  return std::ranges::any_of(piece,
                             [&](std::string_view begin) { return type.starts_with(begin); });
}

// The kernels of one rank.
class FusibleKernels {
 public:
  FusibleKernels(const RankDiagnosis& part, std::size_t rank, const Thresholds& thresholds)
      : part_(part),
        nodes_(part.graph.nodes),
        rank_(rank),
        thresholds_(thresholds),
        taken_(nodes_.size(), false) {
    for (const KernelKind& kind : part.kinds) types_.push_back(ToLower(part.names[kind.type]));
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].kind == NodeKind::kKernel && nodes_[i].step >= 0) kernels_.push_back(i);
    }
  }

  // In the order of their stream; conversions of types may stand between the pieces.
  void AddPattern(const FusionTarget& target, std::vector<FusibleRun>& runs) const {
    std::vector<std::uint32_t> pieces;
    for (std::size_t at = 0; at < kernels_.size(); ++at) {
      pieces.clear();
      std::size_t next = at, item = 0;
      for (; next < kernels_.size() && item < target.kernels.size(); ++next) {
        const GraphNode& node = nodes_[kernels_[next]];
        if (IsPiece(target.kernels[item], types_[static_cast<std::size_t>(node.row)])) {
          ++item;
        } else if (item == 0 || node.category != TimeCategory::kFormat) {
          break;
        }
        pieces.push_back(kernels_[next]);
      }
      if (item < target.kernels.size()) continue;
      runs.push_back({rank_, pieces});
      at = next - 1;
    }
  }

  void Take(const FusibleRun& run) {
    for (const std::uint32_t kernel : run.kernels) taken_[kernel] = true;
  }

  // They compute something else each: the same again and again is done to several tensors. What
  // needs the result of a collective can't be one kernel with what comes before.
  void AddChains(std::vector<FusibleRun>& runs) const {
    const std::vector<std::int32_t> tensors = Tensors();
    const std::vector<bool> needs_collective = NeedCollective();
    std::vector<std::uint32_t> chain;
    std::int32_t of_chain = -1, step = -1;
    const auto type_of = [&](std::uint32_t i) { return part_.KindOf(nodes_[i]).type; };
    const auto end_chain = [&] {
      const bool is_one = IsAtLeast(chain.size(), thresholds_[kUnfusedChain]) &&
                          std::ranges::any_of(chain, [&](std::uint32_t i) {
                            return type_of(i) != type_of(chain[0]);
                          });
      if (is_one) runs.push_back({rank_, chain});
      chain.clear();
    };
    for (const std::uint32_t i : kernels_) {
      const GraphNode& node = nodes_[i];
      const bool is_piece =
          node.category == TimeCategory::kVector && !node.in_optimizer && !taken_[i];
      const std::int32_t own = is_piece ? tensors[static_cast<std::size_t>(node.row)] : -1;
      if (own < 0 || own != of_chain || node.step != step || needs_collective[i]) end_chain();
      of_chain = own;
      step = node.step;
      if (own >= 0) chain.push_back(i);
    }
    end_chain();
  }

 private:
  // By kind: a number for the first tensor that it reads; -1: not recorded.
  std::vector<std::int32_t> Tensors() const {
    std::map<std::string_view, std::int32_t> numbers;
    std::vector<std::int32_t> tensors;
    for (const KernelKind& kind : part_.kinds) {
      const std::string_view shapes = part_.names[kind.shapes];
      const std::string_view first = shapes.substr(0, shapes.find(';'));
      const bool is_known = kind.bytes > 0 && !first.empty();
      tensors.push_back(
          is_known
              ? numbers.try_emplace(first, static_cast<std::int32_t>(numbers.size())).first->second
              : -1);
    }
    return tensors;
  }

  // By node: kernels that a collective releases, also by way of a wait on their stream.
  std::vector<bool> NeedCollective() const {
    std::vector<bool> waits(nodes_.size(), false), needs(nodes_.size(), false);
    const auto is = [&](std::uint32_t node, NodeKind kind) { return nodes_[node].kind == kind; };
    for (const GraphEdge& edge : part_.graph.edges) {
      if (is(edge.on, NodeKind::kLeave))
        (is(edge.node, NodeKind::kWait) ? waits : needs)[edge.node] = true;
    }
    for (const GraphEdge& edge : part_.graph.edges) {
      if (waits[edge.on]) needs[edge.node] = true;
    }
    return needs;
  }

  const RankDiagnosis& part_;
  const std::vector<GraphNode>& nodes_;
  const std::size_t rank_;
  const Thresholds& thresholds_;
  std::vector<std::string> types_;  // by kind, in lower case
  std::vector<std::uint32_t> kernels_;
  std::vector<bool> taken_;  // by node: a piece of a pattern
};

// What is computed in pieces, by its place in the key of a finding: the patterns of
// FusionTargets(), and as `elementwise` other vector kernels in a row on equal tensors. Whose
// pieces take less of a step than the rule `share` says is left out. `step`: ns.
std::map<std::string_view, std::vector<FusibleRun>> FindFusible(
    const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds, TimeNs step) {
  std::map<std::string_view, std::vector<FusibleRun>> found;
  std::vector<FusibleKernels> kernels;
  double steps = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    kernels.emplace_back(*ranks[rank].part, rank, thresholds);
    steps += static_cast<double>(ranks[rank].part->steps.size());
  }
  const auto matters = [&](const std::vector<FusibleRun>& runs) {
    double time = 0;
    for (const FusibleRun& run : runs) {
      for (const std::uint32_t kernel : run.kernels)
        time += static_cast<double>(ranks[run.rank].part->graph.nodes[kernel].dur);
    }
    return !runs.empty() && time >= thresholds[kUnfusedShare] * static_cast<double>(step) * steps;
  };
  for (const FusionTarget& target : FusionTargets()) {
    if (target.kernels.empty()) continue;
    std::vector<FusibleRun> runs;
    for (const FusibleKernels& of_rank : kernels) of_rank.AddPattern(target, runs);
    if (!matters(runs)) continue;
    for (const FusibleRun& run : runs) kernels[run.rank].Take(run);
    found[target.place] = std::move(runs);
  }
  std::vector<FusibleRun> chains;
  for (const FusibleKernels& of_rank : kernels) of_rank.AddChains(chains);
  if (matters(chains)) found[kElementwise] = std::move(chains);
  return found;
}

class FusionCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    for (const auto& [place, runs] : FindFusible(job_.ranks, job_.thresholds, job_.step_time)) {
      Cause cause = NewCause(job_, kOpUnfused, place);
      AddMetrics(runs, cause);
      if (place == kElementwise) {
        TakeChains(runs, cause.what_if);
      } else {
        for (const FusibleRun& run : runs) TakePattern(run, cause.what_if.expect);
      }
      causes_.push_back(std::move(cause));
    }
  }

 private:
  const std::vector<GraphNode>& NodesOf(const FusibleRun& run) const {
    return job_.Part(run.rank).graph.nodes;
  }

  void AddMetrics(const std::vector<FusibleRun>& runs, Cause& cause) const {
    const auto steps =
        static_cast<double>(job_.ranks.size() * std::max<std::size_t>(1, job_.steps));
    double time = 0;
    for (const FusibleRun& run : runs) {
      for (const std::uint32_t kernel : run.kernels)
        time += static_cast<double>(NodesOf(run)[kernel].dur);
    }
    cause.finding.Measure(kCallsPerStep, static_cast<double>(runs.size()) / steps);
    cause.finding.Measure(kTimePerStep, time / steps);
  }

  std::uint32_t LongestOf(const FusibleRun& run) const {
    const auto& nodes = NodesOf(run);
    return *std::ranges::max_element(run.kernels, {},
                                     [&](std::uint32_t a) { return nodes[a].dur; });
  }

  // The fused kernel takes as long as the longest piece: it reads and writes once.
  void TakePattern(const FusibleRun& run, Removal& removal) const {
    const std::uint32_t longest = LongestOf(run);
    for (const std::uint32_t piece : run.kernels) {
      if (piece != longest)
        removal.durations.push_back(
            {job_.graph.first_node[run.rank] + piece, NodesOf(run)[piece].dur});
    }
  }

  void TakeChains(const std::vector<FusibleRun>& runs, WhatIf& what_if) const {
    for (std::size_t first = 0; first < runs.size();) {
      const RankDiagnosis& part = job_.Part(runs[first].rank);
      const TimeNs start = StartOfKernel(part);
      std::size_t next = first;
      for (; next < runs.size() && runs[next].rank == runs[first].rank; ++next)
        TakeChain(runs[next], start, what_if);
      first = next;
    }
  }

  // What a kernel takes before it computes: less than that none does.
  static TimeNs StartOfKernel(const RankDiagnosis& part) {
    std::vector<TimeNs> durations;
    for (const GraphNode& node : part.graph.nodes) {
      if (node.kind == NodeKind::kKernel && node.category == TimeCategory::kVector)
        durations.push_back(node.dur);
    }
    return durations.empty() ? 0 : ValueOfRank(durations, NearestRank(durations.size(), 1));
  }

  // One kernel starts once, and its host asks for one; at best it reads and writes once, too.
  void TakeChain(const FusibleRun& run, TimeNs start, WhatIf& what_if) const {
    const auto& nodes = NodesOf(run);
    const std::uint32_t first_node = job_.graph.first_node[run.rank];
    const std::uint32_t longest = LongestOf(run);
    for (const std::uint32_t piece : run.kernels) {
      if (piece != longest) {
        what_if.expect.durations.push_back({first_node + piece, std::min(start, nodes[piece].dur)});
        what_if.bound.durations.push_back({first_node + piece, nodes[piece].dur});
      }
      if (piece == run.kernels.front()) continue;
      for (Removal* removal : {&what_if.expect, &what_if.bound}) {
        removal->prompt.push_back(first_node + piece);
        DropIssuing(job_, run.rank, issuing_[run.rank].Of(piece), 1, *removal);
      }
    }
  }
};

}  // namespace

const FindingInfo kOpUnfused = Opportunity(
    Area::kDevices, "op.unfused", {"model"}, {"operators run unfused", "可融合的算子分散执行"},
    {.problem = kFusibleProblem,
     .categories = ComputeCategories(),
     .needs = {Record::kShapes, Record::kTensors},
     .find = FindBy<FusionCauses>,
     .advice = {{{{"use npu_rms_norm, npu_swiglu or the like (check the precision)",
                   "使用 npu_rms_norm、npu_swiglu 等融合算子（注意验证精度）"},
                  Change("operators in pieces", "fused operators of torch_npu")},
                 If(IsNotCompiled, {{"else torch.compile", "否则使用 torch.compile"},
                                    Change("other operators in pieces", "torch.compile")})},
                {If(IsNotCompiled,
                    {{"use torch.compile or fused operators (check the precision)",
                      "使用 torch.compile 或融合算子（注意验证精度）"},
                     Change("operators in pieces", "torch.compile or fused operators")}),
                 If(IsCompiled,
                    {{"use fused operators (check the precision)", "使用融合算子（注意验证精度）"},
                     Change("operators in pieces", "fused operators")})}},
     .thresholds = {&kUnfusedShare, &kUnfusedChain}});

}  // namespace mpa
