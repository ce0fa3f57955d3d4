// SPDX-License-Identifier: Apache-2.0
#include "gradient_curve.h"

#include <algorithm>

namespace mpa {

KernelsOfSteps::KernelsOfSteps(const RankDiagnosis& part) : of_step_(part.steps.size()) {
  for (const GraphNode& node : part.graph.nodes) {
    const auto step = static_cast<std::size_t>(node.step);
    if (node.kind == NodeKind::kKernel && step < of_step_.size()) of_step_[step].push_back(&node);
  }
  for (auto& kernels : of_step_) {
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const GraphNode* a, const GraphNode* b) { return a->start < b->start; });
  }
}

std::span<const GraphNode* const> KernelsOfSteps::Of(std::int32_t step) const {
  const auto at = static_cast<std::size_t>(step);
  return at < of_step_.size() ? std::span<const GraphNode* const>(of_step_[at])
                              : std::span<const GraphNode* const>();
}

GradientCurve::GradientCurve(const RankDiagnosis& part, std::span<const GraphNode* const> step,
                             double bytes, std::int64_t passes, TimeNs until)
    : slack_(bytes / 100) {
  const auto behind = std::partition_point(
      step.begin(), step.end(), [&](const GraphNode* node) { return node->start < until; });
  const std::span<const GraphNode* const> kernels(step.begin(), behind);
  const auto adding = std::count_if(kernels.begin(), kernels.end(),
                                    [](const GraphNode* node) { return node->adds_gradients; });
  // The first pass of a step need not add anything; then all that was added is more than one pass.
  auto left =
      static_cast<std::size_t>(passes > 0 && adding % passes == 0 ? adding / passes : adding);
  TimeNs lead = 0;
  double sum = 0;
  for (auto at = kernels.rbegin(); at != kernels.rend() && left > 0; ++at) {
    const GraphNode* node = *at;
    if (node->adds_gradients) {
      const auto size =
          static_cast<double>(part.kinds[static_cast<std::size_t>(node->row)].written);
      if (sum + size > bytes + slack_) break;
      made_.push_back({size, lead});
      sum += size;
      --left;
    }
    lead += node->dur;
  }
  if (2 * sum < bytes) made_.clear();
  std::reverse(made_.begin(), made_.end());
  for (std::size_t i = 1; i < made_.size(); ++i) made_[i].bytes += made_[i - 1].bytes;
}

TimeNs GradientCurve::LeadOf(double bytes) const {
  const auto found = std::partition_point(
      made_.begin(), made_.end(), [&](const Made& made) { return made.bytes + slack_ < bytes; });
  return found == made_.end() ? 0 : found->lead;
}

}  // namespace mpa
