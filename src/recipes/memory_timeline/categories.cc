// SPDX-License-Identifier: Apache-2.0
// What allocations are for, by who made them and when they were released.
#include "categories.h"

#include <algorithm>

#include "mpa/model/step_bounds.h"

namespace mpa::memory_timeline {
namespace {

class Categories {
 public:
  Categories(const RankTrace& trace, const Surroundings& around)
      : ops_(trace.host_ops), around_(around), steps_(trace.steps) {
    backward_.resize(std::max<std::size_t>(steps_.Count(), 1));
    for (std::size_t op = 0; op < ops_.Size(); ++op) {
      if (around_.phase[op] != Phase::kBackward) continue;
      const std::int64_t step = StepOf(ops_.start[op]);
      if (step < 0) continue;
      Pass& pass = backward_[static_cast<std::size_t>(step)];
      pass.end = std::max(pass.end, ops_.start[op] + ops_.dur[op]);
    }
  }

  Category Of(const Life& life) const {
    if (life.of_runtime) return life.end == kNever ? Category::kUnknown : Category::kTemporary;
    if (life.work_end > 0 && life.end <= life.work_end) return Category::kTemporary;
    if (life.op < 0) return Category::kUnknown;
    const auto op = static_cast<std::size_t>(life.op);
    if (life.outer >= 0 && life.end <= EndOf(life.outer)) return Category::kTemporary;
    const bool copied = life.outer >= 0 && around_.copies_in[static_cast<std::size_t>(life.outer)];
    if (copied && life.end == kNever && IsBeforeSteps(life)) return Category::kParameter;
    if (copied || around_.phase[op] == Phase::kLoading) return Category::kInput;
    if (around_.phase[op] == Phase::kOptimizer) return OfOptimizer(life, around_.optimizer[op]);
    return InStep(life, around_.phase[op] == Phase::kBackward);
  }

 private:
  struct Pass {
    TimeNs end = -1;  ///< -1: the step has no backward pass
  };

  TimeNs EndOf(std::int64_t op) const {
    const auto row = static_cast<std::size_t>(op);
    return ops_.start[row] + ops_.dur[row];
  }

  // A capture without steps is one step; -1: between the steps.
  std::int64_t StepOf(TimeNs time) const {
    if (steps_.Count() == 0) return 0;
    const auto step = steps_.OfHostTime(time);
    return step ? static_cast<std::int64_t>(*step) : -1;
  }

  bool IsBeforeSteps(const Life& life) const {
    return steps_.Count() > 0 && life.asked < steps_.HostBegin(0);
  }

  Category OfOptimizer(const Life& life, std::int64_t optimizer) const {
    if (life.end <= EndOf(optimizer)) return Category::kTemporary;
    return life.end == kNever && optimizer == around_.first_optimizer ? Category::kOptimizerState
                                                                      : Category::kUnknown;
  }

  Category InStep(const Life& life, bool in_backward) const {
    const std::int64_t step = StepOf(life.asked);
    if (step < 0) return Category::kUnknown;
    const auto at = static_cast<std::size_t>(step);
    const TimeNs end = backward_[at].end;
    if (in_backward) return life.end <= end ? Category::kAutogradDetail : Category::kGradient;
    if (life.asked >= end || life.end == kNever) return Category::kUnknown;
    // Variables hold outputs and the loss until the next step sets them anew.
    const TimeNs next = at + 1 < backward_.size() ? backward_[at + 1].end : end;
    return life.end <= std::max(end, next) ? Category::kActivation : Category::kUnknown;
  }

  const HostOps& ops_;
  const Surroundings& around_;
  HostSteps steps_;
  std::vector<Pass> backward_;  // by step
};

}  // namespace

void SetCategories(const RankTrace& trace, const Surroundings& around, std::vector<Life>& lives) {
  const Categories categories(trace, around);
  for (Life& life : lives) life.category = categories.Of(life);
}

}  // namespace mpa::memory_timeline
