// SPDX-License-Identifier: Apache-2.0
// Operators that the model computes in several kernels although one of torch_npu does it at once.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cause.h"
#include "fusion_targets.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

class FusionCauses {
 public:
  FusionCauses(const Job& job, std::vector<Cause>& causes) : job_(job), causes_(causes) {}

  void Find() {
    for (const FusionTarget& target : FusionTargets()) {
      if (!target.kernels.empty()) Add(target);
    }
  }

 private:
  struct Found {
    double time = 0, count = 0;
    Removal removal;
  };

  void Add(const FusionTarget& target) {
    Found found;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) FindIn(rank, target, found);
    const auto steps = static_cast<double>(job_.ranks.size() * std::max<std::size_t>(1, job_.steps));
    if (found.count == 0 || found.time / steps < job_.rules.unfused_share * static_cast<double>(job_.step_time)) return;
    Cause cause = NewCause(job_, "op.unfused", target.place);
    cause.finding.metrics.push_back({"calls_per_step", found.count / steps, "count"});
    cause.finding.metrics.push_back({"time_per_step", found.time / steps, "ns"});
    cause.what_if.expect = std::move(found.removal);
    causes_.push_back(std::move(cause));
  }

  static bool IsItem(const FusionPiece& item, std::string_view type) {
    return std::any_of(item.begin(), item.end(), [&](std::string_view begin) { return type.starts_with(begin); });
  }

  // Kernels in the order of their stream; conversions of types may stand between the pieces.
  void FindIn(std::size_t rank, const FusionTarget& target, Found& found) const {
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
  void Take(std::size_t rank, const std::vector<std::uint32_t>& pieces, Found& found) const {
    const auto& nodes = job_.Part(rank).graph.nodes;
    const std::uint32_t longest = *std::max_element(pieces.begin(), pieces.end(), [&](std::uint32_t a, std::uint32_t b) { return nodes[a].dur < nodes[b].dur; });
    for (const std::uint32_t piece : pieces) {
      found.time += static_cast<double>(nodes[piece].dur);
      if (piece != longest) found.removal.durations.push_back({job_.graph.first_node[rank] + piece, nodes[piece].dur});
    }
    ++found.count;
  }

  const Job& job_;
  std::vector<Cause>& causes_;
};

}  // namespace

void FindFusionCauses(const Job& job, std::vector<Cause>& causes) { FusionCauses(job, causes).Find(); }

}  // namespace mpa
