// SPDX-License-Identifier: Apache-2.0
// Operators that the model computes in several kernels although one of torch_npu does it at once.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cause.h"
#include "fusion_targets.h"
#include "issuing.h"
#include "mpa/base/text.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

class FusionCauses {
 public:
  FusionCauses(const Job& job, std::vector<Cause>& causes) : job_(job), causes_(causes) {}

  void Find() {
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) taken_.emplace_back(job_.Part(rank).graph.nodes.size(), false);
    for (const FusionTarget& target : FusionTargets()) {
      if (!target.kernels.empty()) Add(target);
    }
    AddChains();
  }

 private:
  struct Found {
    double time = 0, count = 0;
    Removal removal, bound;
  };

  void Add(const FusionTarget& target) {
    Found found;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) FindIn(rank, target, found);
    AddFound(target.place, std::move(found));
  }

  void AddFound(std::string_view place, Found found) {
    const auto steps = static_cast<double>(job_.ranks.size() * std::max<std::size_t>(1, job_.steps));
    if (found.count == 0 || found.time / steps < job_.rules.unfused_share * static_cast<double>(job_.step_time)) return;
    Cause cause = NewCause(job_, "op.unfused", place);
    cause.finding.metrics.push_back({"calls_per_step", found.count / steps, "count"});
    cause.finding.metrics.push_back({"time_per_step", found.time / steps, "ns"});
    cause.what_if.expect = std::move(found.removal);
    cause.what_if.bound = std::move(found.bound);
    causes_.push_back(std::move(cause));
  }

  static bool IsItem(const FusionPiece& item, std::string_view type) {
    return std::any_of(item.begin(), item.end(), [&](std::string_view begin) { return type.starts_with(begin); });
  }

  // Kernels in the order of their stream; conversions of types may stand between the pieces.
  void FindIn(std::size_t rank, const FusionTarget& target, Found& found) {
    const RankDiagnosis& part = job_.Part(rank);
    std::vector<std::string> types;
    for (const KernelKind& kind : part.kinds) types.push_back(ToLower(part.names[kind.type]));
    std::vector<std::uint32_t> kernels;
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      if (part.graph.nodes[i].kind == NodeKind::kKernel && part.graph.nodes[i].step >= 0) kernels.push_back(i);
    }
    const auto type_of = [&](std::size_t at) -> const std::string& { return types[static_cast<std::size_t>(part.graph.nodes[kernels[at]].row)]; };
    std::vector<std::uint32_t> pieces;
    for (std::size_t at = 0; at < kernels.size(); ++at) {
      pieces.clear();
      std::size_t next = at, item = 0;
      for (; next < kernels.size() && item < target.kernels.size(); ++next) {
        if (IsItem(target.kernels[item], type_of(next))) {
          ++item;
        } else if (item == 0 || part.graph.nodes[kernels[next]].leaf != Leaf::kFormat) {
          break;
        }
        pieces.push_back(kernels[next]);
      }
      if (item < target.kernels.size()) continue;
      Take(rank, pieces, found);
      at = next - 1;
    }
  }

  // The fused kernel takes as long as the longest piece: it reads and writes once.
  void Take(std::size_t rank, const std::vector<std::uint32_t>& pieces, Found& found) {
    const auto& nodes = job_.Part(rank).graph.nodes;
    const std::uint32_t longest = LongestOf(pieces, nodes);
    for (const std::uint32_t piece : pieces) {
      taken_[rank][piece] = true;
      found.time += static_cast<double>(nodes[piece].dur);
      if (piece != longest) found.removal.durations.push_back({job_.graph.first_node[rank] + piece, nodes[piece].dur});
    }
    ++found.count;
  }

  static std::uint32_t LongestOf(const std::vector<std::uint32_t>& kernels, const std::vector<GraphNode>& nodes) {
    return *std::max_element(kernels.begin(), kernels.end(), [&](std::uint32_t a, std::uint32_t b) { return nodes[a].dur < nodes[b].dur; });
  }

  // Vector kernels in a row that work on equal tensors. They compute something else each: the same again
  // and again is done to several tensors.
  void AddChains() {
    Found found;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) FindChains(rank, found);
    AddFound("elementwise", std::move(found));
  }

  void FindChains(std::size_t rank, Found& found) const {
    const RankDiagnosis& part = job_.Part(rank);
    std::map<std::string_view, std::int32_t> numbers;
    std::vector<std::int32_t> tensor;  // by kind: the first one that it reads; -1: not recorded
    for (const KernelKind& kind : part.kinds) {
      const std::string_view shapes = part.names[kind.shapes];
      const std::string_view first = shapes.substr(0, shapes.find(';'));
      const bool is_known = kind.bytes > 0 && !first.empty();
      tensor.push_back(is_known ? numbers.try_emplace(first, static_cast<std::int32_t>(numbers.size())).first->second : -1);
    }
    const IssuingWork issuing(part);
    const TimeNs start = StartOfKernel(part);
    std::vector<std::uint32_t> chain;
    std::int32_t of_chain = -1, step = -1;
    const auto type_of = [&](std::uint32_t i) { return part.kinds[static_cast<std::size_t>(part.graph.nodes[i].row)].type; };
    const auto end_chain = [&] {
      const bool is_one = IsAtLeast(chain.size(), job_.rules.unfused_chain) &&
                          std::any_of(chain.begin(), chain.end(), [&](std::uint32_t i) { return type_of(i) != type_of(chain[0]); });
      if (is_one) TakeChain(rank, chain, start, issuing, found);
      chain.clear();
    };
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.kind != NodeKind::kKernel || node.step < 0) continue;
      const bool is_piece = node.leaf == Leaf::kVector && !node.in_optimizer && !taken_[rank][i];
      const std::int32_t own = is_piece ? tensor[static_cast<std::size_t>(node.row)] : -1;
      if (own < 0 || own != of_chain || node.step != step) end_chain();
      of_chain = own;
      step = node.step;
      if (own >= 0) chain.push_back(i);
    }
    end_chain();
  }

  // What a kernel takes before it computes: less than that none does.
  static TimeNs StartOfKernel(const RankDiagnosis& part) {
    std::vector<TimeNs> durations;
    for (const GraphNode& node : part.graph.nodes) {
      if (node.kind == NodeKind::kKernel && node.leaf == Leaf::kVector) durations.push_back(node.dur);
    }
    return durations.empty() ? 0 : ValueOfRank(durations, NearestRank(durations.size(), 1));
  }

  // One kernel starts once, and its host asks for one; at best it reads and writes once, too.
  void TakeChain(std::size_t rank, const std::vector<std::uint32_t>& chain, TimeNs start, const IssuingWork& issuing, Found& found) const {
    const auto& nodes = job_.Part(rank).graph.nodes;
    const std::uint32_t first_node = job_.graph.first_node[rank], first_edge = job_.graph.first_edge[rank];
    const std::uint32_t longest = LongestOf(chain, nodes);
    for (const std::uint32_t piece : chain) {
      found.time += static_cast<double>(nodes[piece].dur);
      if (piece != longest) {
        found.removal.durations.push_back({first_node + piece, std::min(start, nodes[piece].dur)});
        found.bound.durations.push_back({first_node + piece, nodes[piece].dur});
      }
      if (piece == chain.front()) continue;
      for (Removal* removal : {&found.removal, &found.bound}) {
        removal->prompt.push_back(first_node + piece);
        for (const Removal::Edge& work : issuing.Of(piece)) removal->waits.push_back({first_edge + work.edge, work.less});
      }
    }
    ++found.count;
  }

  const Job& job_;
  std::vector<Cause>& causes_;
  std::vector<std::vector<bool>> taken_;  // by rank and node: a piece of a pattern
};

}  // namespace

void FindFusionCauses(const Job& job, std::vector<Cause>& causes) { FusionCauses(job, causes).Find(); }

}  // namespace mpa
