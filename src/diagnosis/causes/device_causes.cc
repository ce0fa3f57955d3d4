// SPDX-License-Identifier: Apache-2.0
// What the devices compute on all ranks that could be computed faster.
#include <string>
#include <vector>

#include "finders.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/mfu/shapes.h"

namespace mpa {
namespace {

class DeviceCauses {
 public:
  DeviceCauses(const Job& job, IssuingOfRanks& issuing, std::vector<Cause>& causes)
      : job_(job), issuing_(issuing), causes_(causes) {}

  void Find() {
    AddLeaves("op.aicpu", {Leaf::kAiCpu}, job_.rules.aicpu_gain, false);
    AddLeaves("op.format", {Leaf::kFormat, Leaf::kMove}, job_.rules.format_gain, true);
    AddAttention();
  }

 private:
  const KernelKind& KindOf(std::size_t rank, const GraphNode& node) const {
    return job_.Part(rank).kinds[static_cast<std::size_t>(node.row)];
  }
  const std::string& TypeOf(std::size_t rank, const GraphNode& node) const {
    return job_.Part(rank).names[KindOf(rank, node).type];
  }

  // True for a type that the ranks of the role have in common, so that its usual time is not 0:
  // that is their lower quartile, see Normal(). What single ranks have more is a matter of these
  // ranks.
  bool IsCommon(std::size_t rank, const GraphNode& node) const {
    const std::size_t ranks = job_.RoleOf(rank).size();
    return ranks < 2 ||
           job_.UsualOf(rank, static_cast<std::size_t>(node.step), TypeOf(rank, node)).ranks * 4 >
               ranks;
  }

  // At most, the kernel does not run at all.
  void Remove(std::size_t rank, std::uint32_t node, double share, Cause& cause) const {
    const TimeNs dur = job_.Part(rank).graph.nodes[node].dur;
    cause.what_if.expect.durations.push_back(
        {job_.graph.first_node[rank] + node, ShareOf(dur, share)});
    DropDeviceWork(job_, rank, node, cause.what_if.bound);
  }

  // What does not run is not asked for.
  void RemoveCall(std::size_t rank, std::uint32_t node, double share, Removal& removal) const {
    DropIssuing(job_, rank, issuing_[rank].Of(node), share, removal);
  }

  // What is part of one kernel is neither started nor asked for.
  void JoinToBefore(std::size_t rank, std::uint32_t node, Cause& cause) const {
    for (Removal* removal : {&cause.what_if.expect, &cause.what_if.bound}) {
      removal->prompt.push_back(job_.graph.first_node[rank] + node);
      RemoveCall(rank, node, 1, *removal);
    }
  }

  // A fix removes a share of their time. `gone`: by doing without as many of them, not by faster
  // ones.
  void AddLeaves(std::string_view id, const std::vector<Leaf>& leaves, double share, bool gone) {
    Cause cause = NewCause(job_, id);
    TimeNs time = 0;
    std::int64_t count = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const auto& nodes = job_.Part(rank).graph.nodes;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        const GraphNode& node = nodes[i];
        if (node.kind != NodeKind::kKernel || node.step < 0 ||
            static_cast<std::size_t>(node.step) >= job_.steps)
          continue;
        if (!IsOf(leaves, node.leaf) || !IsCommon(rank, node)) continue;
        Remove(rank, i, share, cause);
        if (gone) RemoveCall(rank, i, share, cause.what_if.expect);
        RemoveCall(rank, i, 1, cause.what_if.bound);
        if (static_cast<std::size_t>(node.step) < job_.first_step) continue;
        time += node.dur;
        ++count;
      }
    }
    if (count == 0) return;
    Finish(time, count, cause);
    causes_.push_back(std::move(cause));
  }

  void Finish(TimeNs time, std::int64_t count, Cause& cause) const {
    const double steps = static_cast<double>(job_.CountedSteps() * job_.ranks.size());
    cause.finding.metrics.push_back(
        {"calls_per_step", static_cast<double>(count) / steps, "count"});
    cause.finding.metrics.push_back({"time_per_step", static_cast<double>(time) / steps, "ns"});
  }

  // Over so few elements at a time that a fused kernel gains little. Unknown shapes may be of any
  // length.
  bool IsOfShortRows(std::size_t rank, const GraphNode& softmax) const {
    const Shapes shapes = ParseShapes(job_.Part(rank).names[KindOf(rank, softmax).shapes]);
    return !shapes.empty() && !shapes[0].empty() &&
           static_cast<double>(shapes[0].back()) < job_.rules.attention_sequence;
  }

  // A softmax between two batched products, and what lies around it: a fused kernel reads and
  // writes none of what they exchange.
  void AddAttention() {
    Cause cause = NewCause(job_, "op.attention");
    TimeNs time = 0;
    std::int64_t count = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const auto& nodes = job_.Part(rank).graph.nodes;
      std::vector<std::uint32_t> kernels;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].kind == NodeKind::kKernel && nodes[i].step >= 0) kernels.push_back(i);
      }
      std::size_t product = kernels.size();  // position of the last batched product
      bool softmax = false;
      for (std::size_t at = 0; at < kernels.size(); ++at) {
        const std::string_view type = TypeOf(rank, nodes[kernels[at]]);
        softmax = softmax || (IsSoftmax(type) && !IsOfShortRows(rank, nodes[kernels[at]]));
        if (!IsBatchedProduct(type)) continue;
        if (softmax && product < at &&
            static_cast<double>(at - product) <= job_.rules.attention_reach) {
          for (std::size_t i = product + 1; i < at; ++i) {
            Remove(rank, kernels[i], job_.rules.attention_gain, cause);
            JoinToBefore(rank, kernels[i], cause);
            time += nodes[kernels[i]].dur;
          }
          JoinToBefore(rank, kernels[at], cause);
          ++count;
        }
        product = at;
        softmax = false;
      }
    }
    if (count == 0) return;
    Finish(time, count, cause);
    causes_.push_back(std::move(cause));
  }

  const Job& job_;
  IssuingOfRanks& issuing_;
  std::vector<Cause>& causes_;
};

}  // namespace

void FindDeviceCauses(const Job& job, IssuingOfRanks& issuing, std::vector<Cause>& causes) {
  DeviceCauses(job, issuing, causes).Find();
}

}  // namespace mpa
