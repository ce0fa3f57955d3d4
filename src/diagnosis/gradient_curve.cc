// SPDX-License-Identifier: Apache-2.0
#include "gradient_curve.h"

#include <algorithm>

namespace mpa {

GradientCurve::GradientCurve(const RankDiagnosis& part, std::int32_t step, double bytes, std::int64_t passes, TimeNs until)
    : slack_(bytes / 100) {
  std::vector<const GraphNode*> kernels;
  for (const GraphNode& node : part.graph.nodes) {
    if (node.kind == NodeKind::kKernel && node.step == step && node.start < until) kernels.push_back(&node);
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const GraphNode* a, const GraphNode* b) { return a->start > b->start; });
  const auto adding = std::count_if(kernels.begin(), kernels.end(), [](const GraphNode* node) { return node->adds_gradients; });
  // The first pass of a step need not add anything; then all that was added is more than one pass.
  auto left = static_cast<std::size_t>(passes > 0 && adding % passes == 0 ? adding / passes : adding);
  TimeNs lead = 0;
  double sum = 0;
  for (const GraphNode* node : kernels) {  // from the last one back
    if (left == 0) break;
    if (node->adds_gradients) {
      const auto size = static_cast<double>(part.kinds[static_cast<std::size_t>(node->row)].written);
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
  const auto found = std::partition_point(made_.begin(), made_.end(), [&](const Made& made) { return made.bytes + slack_ < bytes; });
  return found == made_.end() ? 0 : found->lead;
}

}  // namespace mpa
