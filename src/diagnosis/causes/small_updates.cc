// SPDX-License-Identifier: Apache-2.0
// An optimizer that updates tensors one by one.

#include "kernel_finder.h"
#include "mpa/base/rank.h"
#include "mpa/measure/kernel_class.h"

namespace mpa {
namespace {

constexpr Threshold kOptimizerShare{"share", 0.03, 0, 1,
                                    "the optimizer takes at least this share of the step"},
    kOptimizerLaunches{"launches", 50, 1, kMaxCalls, "it launches more kernels per step than this"},
    kOptimizerGain{"gain", 0.6, 0, 1, "a fix removes this share of its time"};

constexpr MetricInfo kLaunchesPerStep{"launches_per_step", "count", "{} launches a step"};

class SmallUpdates : KernelFinder {
 public:
  using KernelFinder::KernelFinder;

  // Fused optimizers update all tensors of a type in one kernel.
  void Find() {
    double time = 0, count = 0, fused = 0;
    Finding candidate = NewFinding(job_, kOpOptimizer);
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      for (const GraphNode& node : part.graph.nodes) {
        if (!Counts(node) || !node.in_optimizer) continue;
        time += static_cast<double>(node.dur);
        ++count;
        if (IsFusedUpdate(part.TypeOf(node))) fused += static_cast<double>(node.dur);
      }
      Remove(
          rank,
          [&](const GraphNode& node) {
            return node.in_optimizer ? thresholds_[kOptimizerGain] : 0;
          },
          candidate.what_if.expect);
      for (const HostShare& row : part.shares) {
        if (!row.in_optimizer) continue;
        const std::int32_t step = job_.StepOfEdge(rank, row.edge);
        if (step >= static_cast<std::int32_t>(job_.first_step))
          time += static_cast<double>(row.time);
        candidate.what_if.expect.waits.push_back({job_.graph.first_edge[rank] + row.edge,
                                                  ShareOf(row.time, thresholds_[kOptimizerGain])});
      }
    }
    if (2 * fused > time || count / RankSteps() <= thresholds_[kOptimizerLaunches] ||
        !IsShare(time, thresholds_[kOptimizerShare]))
      return;
    candidate.Measure(kLaunchesPerStep, count / RankSteps());
    candidate.Measure(kTimePerStep, time / RankSteps());
    candidates_.push_back(std::move(candidate));
  }
};

}  // namespace

const FindingType kOpOptimizer = Opportunity(
    Area::kDevices, "op.optimizer", {"model"}, "the optimizer runs in many small kernels",
    {.looked_at = "kernels that the optimizer's step launches: how many, and their time",
     .refuted_by = "a fused optimizer: few kernels; no backward pass",
     .problem = kFusibleProblem,
     .categories = ComputeCategories(),
     .find = FindBy<SmallUpdates>,
     .advice = {{{"use torch_npu.optim.NpuFusedAdamW or the like",
                  Change("optimizer", "torch_npu.optim.NpuFused*")},
                 {"clip with its clip_grad_norm_fused_",
                  Change("clipping of gradients", "clip_grad_norm_fused_")}},
                {{"fused=True in the optimizer", SetOption("optimizer.fused", true)}}},
     .thresholds = {&kOptimizerShare, &kOptimizerLaunches, &kOptimizerGain}});

}  // namespace mpa
