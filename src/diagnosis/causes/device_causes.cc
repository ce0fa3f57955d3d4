// SPDX-License-Identifier: Apache-2.0
// What the devices compute on all ranks that could be computed faster.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "finder.h"
#include "fusion_chains.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/mfu/shapes.h"

namespace mpa {
namespace {

constexpr Threshold kAicpuGain{"gain", 0.9, 0, 1, "a fix removes this share of the kernels' time"},
    kFormatGain{"gain", 0.7, 0, 1, "a fix removes this share of the kernels' time"},
    kAttentionGain{"gain", 0.9, 0, 1,
                   "a fix removes this share of the kernels between the products"},
    kAttentionReach{"reach", 8, 1, 1000, "at most this many kernels are between the products"};

class DeviceCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    std::optional<Finding> attention = FindAttention();
    AddCategories(kOpAicpu, job_.thresholds[kAicpuGain], false);
    AddCategories(kOpFormat, job_.thresholds[kFormatGain], true);
    if (attention) candidates_.push_back(std::move(*attention));
  }

 private:
  const KernelKind& KindOf(RankIndex rank, const GraphNode& node) const {
    return job_.Part(rank).kinds[static_cast<std::size_t>(node.row)];
  }
  const std::string& TypeOf(RankIndex rank, const GraphNode& node) const {
    return job_.Part(rank).names[KindOf(rank, node).type];
  }

  // True for a type that the ranks of the role have in common, so that its usual time is not 0:
  // that is their lower quartile, see LowerQuartile(). What single ranks have more is a matter of
  // these ranks.
  bool IsCommon(RankIndex rank, const GraphNode& node) const {
    const std::size_t ranks = job_.RoleOf(rank).size();
    return ranks < 2 ||
           job_.UsualOf(rank, static_cast<std::size_t>(node.step), TypeOf(rank, node)).ranks * 4 >
               ranks;
  }

  // At most, the kernel does not run at all.
  void Remove(RankIndex rank, std::uint32_t node, double share, Finding& candidate) const {
    const TimeNs dur = job_.Part(rank).graph.nodes[node].dur;
    candidate.what_if.expect.durations.push_back(
        {job_.graph.first_node[rank] + node, ShareOf(dur, share)});
    DropDeviceWork(job_, rank, node, candidate.what_if.bound);
  }

  // What does not run is not asked for.
  void RemoveCall(RankIndex rank, std::uint32_t node, double share, Removal& removal) const {
    DropIssuing(job_, rank, issuing_[rank].Of(node), share, removal);
  }

  // What is part of one kernel is neither started nor asked for.
  void JoinToBefore(RankIndex rank, std::uint32_t node, Finding& candidate) const {
    for (Removal* removal : {&candidate.what_if.expect, &candidate.what_if.bound}) {
      removal->prompt.push_back(job_.graph.first_node[rank] + node);
      RemoveCall(rank, node, 1, *removal);
    }
  }

  // A fix removes a share of their time. `gone`: by doing without as many of them, not by faster
  // ones.
  void AddCategories(const FindingType& finding, double share, bool gone) {
    Finding candidate = NewFinding(job_, finding);
    TimeNs time = 0;
    std::int64_t count = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const auto& nodes = job_.Part(rank).graph.nodes;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        const GraphNode& node = nodes[i];
        if (node.kind != NodeKind::kKernel || !job_.Holds(node.step)) continue;
        if (!IsOf(finding.categories, node.category) || !IsCommon(rank, node)) continue;
        if (gone && !KindOf(rank, node).converts) continue;
        // Conversions between kernels that could be fused count for the fusion.
        if (gone && search_.Fusions().gone[rank][i]) continue;
        Remove(rank, i, share, candidate);
        if (gone) RemoveCall(rank, i, share, candidate.what_if.expect);
        RemoveCall(rank, i, 1, candidate.what_if.bound);
        if (static_cast<std::size_t>(node.step) < job_.first_step) continue;
        time += node.dur;
        ++count;
      }
    }
    if (count == 0) return;
    MeasureSums(static_cast<double>(count), static_cast<double>(time), candidate);
    candidates_.push_back(std::move(candidate));
  }

  // Over so few elements at a time that a fused kernel gains little. Unknown shapes may be of any
  // length.
  bool IsOfShortRows(RankIndex rank, const GraphNode& softmax) const {
    const Shapes shapes = ParseShapes(job_.Part(rank).names[KindOf(rank, softmax).shapes]);
    return !shapes.empty() && !shapes[0].empty() &&
           static_cast<double>(shapes[0].back()) < job_.thresholds[kAttentionSequence];
  }

  // A softmax between two batched products, and what lies around it: a fused kernel reads and
  // writes none of what they exchange.
  std::optional<Finding> FindAttention() {
    Finding candidate = NewFinding(job_, kOpAttention);
    TimeNs time = 0;
    std::int64_t count = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const auto& nodes = job_.Part(rank).graph.nodes;
      search_.in_attention.emplace_back(nodes.size(), false);
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
            static_cast<double>(at - product) <= job_.thresholds[kAttentionReach]) {
          for (std::size_t i = product + 1; i < at; ++i) {
            Remove(rank, kernels[i], job_.thresholds[kAttentionGain], candidate);
            JoinToBefore(rank, kernels[i], candidate);
            time += nodes[kernels[i]].dur;
          }
          JoinToBefore(rank, kernels[at], candidate);
          for (std::size_t i = product; i <= at; ++i) search_.in_attention[rank][kernels[i]] = true;
          ++count;
        }
        product = at;
        softmax = false;
      }
    }
    if (count == 0) return std::nullopt;
    MeasureSums(static_cast<double>(count), static_cast<double>(time), candidate);
    return candidate;
  }
};

AdvicePart ContiguousTensors() {
  return {"keep tensors contiguous", Change("tensors", "contiguous")};
}

}  // namespace

const FindingType kOpAicpu =
    Fault(Area::kDevices, "op.aicpu", {"model", "operator"}, "operators run on the AI CPU",
          {.looked_at = "kernels of the AI CPU, by the core type of the task",
           .refuted_by = "the device would wait for something else anyway",
           .problem = "AICPU Issues",
           .categories = {TimeCategory::kAiCpu},
           .npu_alone = true,
           .find = FindBy<DeviceCauses>,
           .advice = {{{"avoid int64 and double tensors",
                        Change("int64 and double tensors", "int32 and float")},
                       {"replace nonzero, index and sort",
                        Change("nonzero, index, sort", "operators of the cores")}}},
           .thresholds = {&kAicpuGain}});

const FindingType kOpFormat = Opportunity(
    Area::kDevices, "op.format", {"model", "framework"}, "layouts and types are converted",
    {.looked_at = "kernels that change the format or type of a tensor or copy it:"
                  " their types, formats and names",
     .refuted_by = "formats and types are equal on both sides and nothing is copied;"
                   " host time around the kernel does not count",
     .categories = {TimeCategory::kFormat, TimeCategory::kMove},
     .advice = {{{"torch.npu.config.allow_internal_format=False",
                  SetOption("torch.npu.config.allow_internal_format", false)},
                 ContiguousTensors()},
                {ContiguousTensors(),
                 {"use one memory format for the whole model",
                  Change("memory formats", "one for the whole model")}}},
     .thresholds = {&kFormatGain}});

const FindingType kOpAttention =
    Opportunity(Area::kDevices, "op.attention", {"model"}, "attention is not fused",
                {.looked_at = "vector kernels between two batched products on large sequences",
                 .refuted_by = "a fused attention kernel, or short sequences",
                 .problem = kFusibleProblem,
                 .categories = {TimeCategory::kVector},
                 .advice = {{{"use torch_npu.npu_fusion_attention or scaled_dot_product_attention",
                              Change("attention", "torch_npu.npu_fusion_attention")}},
                            {{"use scaled_dot_product_attention",
                              Change("attention", "scaled_dot_product_attention")}}},
                 .thresholds = {&kAttentionGain, &kAttentionReach, &kAttentionSequence}});

}  // namespace mpa
