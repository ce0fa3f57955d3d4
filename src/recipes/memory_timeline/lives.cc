// SPDX-License-Identifier: Apache-2.0
// Allocations with the operators that asked for them, and the names of these for people.
#include "lives.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/base/enum_name.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/module_ranges.h"
#include "mpa/measure/op_tree.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/queue_index.h"
#include "mpa/model/step_bounds.h"

namespace mpa::recipes::memory_timeline {
namespace {

// What surrounds the operators that allocate: the phases of a step, copies from the host.

/// The part of a training step in which an operator runs.
enum class Phase : std::uint8_t { kForward, kLoading, kBackward, kOptimizer };

/// What surrounds each operator of a rank. Rows are those of the host operators.
struct Surroundings {
  explicit Surroundings(const OpTree& ops);

  /// The outermost operator around it; steps, ranges and Optimizer.step are not operators.
  std::vector<std::int64_t> outer;
  std::vector<Phase> phase;
  std::vector<std::int64_t> optimizer;  ///< the Optimizer.step around it, -1: none
  std::int64_t first_optimizer = -1;    ///< the first Optimizer.step of the capture
  /// By outermost operator: it copied from the host to the device.
  std::vector<bool> copies_in;
};

constexpr std::string_view kBackwardNode = "autograd::engine::evaluate_function";
constexpr std::string_view kOptimizerStep = "Optimizer.step#";

// The thread of the backward pass, by track; a thread that makes steps runs more than that.
std::vector<bool> BackwardTracks(const RankTrace& trace) {
  std::vector<bool> backward(trace.tracks.Size());
  for (std::size_t track = 0; track < backward.size(); ++track)
    backward[track] = trace.backward_tid >= 0 && trace.tracks.tid[track] == trace.backward_tid;
  for (std::size_t op = 0; op < trace.host_ops.Size(); ++op) {
    const std::int32_t track = trace.host_ops.track[op];
    if (track >= 0 && IsStepMark(trace.strings.View(trace.host_ops.name[op])))
      backward[static_cast<std::size_t>(track)] = false;
  }
  return backward;
}

// Text captures do not say where a copy goes; that of aten::to and its like onto the device
// allocates there.
bool CopiesIn(const RankTrace& trace, std::size_t task, StringId outer) {
  const CopyDirection direction = trace.device_tasks.direction[task];
  if (direction != CopyDirection::kUnknown) return direction == CopyDirection::kToDevice;
  return ClassOfOp(trace.strings.View(outer)) == TimeCategory::kHostCopy;
}

Surroundings::Surroundings(const OpTree& ops) {
  const RankTrace& trace = ops.trace();
  const HostOps& rows = trace.host_ops;
  outer.assign(rows.Size(), -1);
  phase.assign(rows.Size(), Phase::kForward);
  optimizer.assign(rows.Size(), -1);
  copies_in.assign(rows.Size(), false);
  const std::vector<bool> backward = BackwardTracks(trace);
  for (const std::uint32_t op : ops.InOrder()) {  // those around come first
    const std::string_view name = trace.strings.View(rows.name[op]);
    if (const std::int64_t parent = ops.Parent(op); parent >= 0) {
      const auto around = static_cast<std::size_t>(parent);
      outer[op] = outer[around];
      phase[op] = phase[around];
      optimizer[op] = optimizer[around];
    }
    const bool is_step = ops.IsStep(op);
    if (outer[op] < 0 && !is_step && name.find("::") != std::string_view::npos) outer[op] = op;
    if (name.starts_with(kOptimizerStep)) {
      phase[op] = Phase::kOptimizer;
      optimizer[op] = op;
      if (first_optimizer < 0) first_optimizer = op;
    } else if (ClassOfOp(name) == TimeCategory::kDataLoader) {
      phase[op] = Phase::kLoading;
    } else if (name.starts_with(kBackwardNode) ||
               (rows.track[op] >= 0 && backward[static_cast<std::size_t>(rows.track[op])])) {
      phase[op] = Phase::kBackward;
    }
  }
  std::vector<bool> is_copy(trace.device_tasks.Size());
  for (const std::size_t task : MemoryCopies(trace)) is_copy[task] = true;
  for (const LaunchedWork& launched : ops.Launched()) {
    if (launched.op < 0 || launched.work.task < 0) continue;
    const std::int64_t by = outer[static_cast<std::size_t>(launched.op)];
    const auto task = static_cast<std::size_t>(launched.work.task);
    if (by < 0 || !is_copy[task]) continue;
    const auto row = static_cast<std::size_t>(by);
    if (CopiesIn(trace, task, rows.name[row])) copies_in[row] = true;
  }
}

// What allocations are for, by who made them and when they were released.

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

// Sets the categories of the allocations; see docs/recipes.md for the evidence.
void SetCategories(const RankTrace& trace, const Surroundings& around, std::vector<Life>& lives) {
  const Categories categories(trace, around);
  for (Life& life : lives) {
    const TensorRole role = trace.allocations.role[life.row];
    life.category = role == TensorRole::kNotListed ? categories.Of(life) : CategoryOf(role);
  }
}

bool IsWithin(const OpTree& ops, std::int64_t op, StringId name) {
  while (op >= 0 && ops.trace().host_ops.name[static_cast<std::size_t>(op)] != name)
    op = ops.Parent(static_cast<std::size_t>(op));
  return op >= 0;
}

// Finds the operators that asked for allocations.
class Askers {
 public:
  explicit Askers(const OpTree& ops) : ops_(ops), queued_(ops.trace()) {
    for (const std::uint32_t op : ops.InOrder())
      of_name_[ops.trace().host_ops.name[op]].push_back(op);
  }

  bool IsOfRuntime(std::size_t row) const { return queued_.IsOfRuntime(row); }

  // What is made in queued work was asked for when the work was queued. Where the queue is not
  // recorded, the last operator of the allocation's name asked.
  void Place(Life& life) const {
    const RankTrace& trace = ops_.trace();
    const StringId name = trace.allocations.name[life.row];
    life.asked = life.begin;
    life.op = ops_.FindAnywhere(life.begin, name);
    if (IsWithin(ops_, life.op, name)) return;
    if (const auto work = queued_.Work(life.row)) {
      const QueuedWork& table = trace.queued_work;
      life.work_end = table.start[*work] + table.dur[*work];
      life.asked = table.queued[*work];
      life.op = ops_.Find(table.queued_track[*work], life.asked);
    } else if (const std::int64_t op = LastNamed(name, life.begin); op >= 0) {
      life.op = op;
      life.asked = trace.host_ops.start[static_cast<std::size_t>(op)];
    }
  }

 private:
  // The last operator of the name that begins before the time; -1: none.
  std::int64_t LastNamed(StringId name, TimeNs time) const {
    const auto found = of_name_.find(name);
    if (name == StringId::kEmpty || found == of_name_.end()) return -1;
    const auto& start = ops_.trace().host_ops.start;
    const auto behind = std::ranges::upper_bound(found->second, time, {},
                                                 [&](std::uint32_t op) { return start[op]; });
    return behind == found->second.begin() ? -1 : std::int64_t{*(behind - 1)};
  }

  const OpTree& ops_;
  QueuedAllocations queued_;
  std::unordered_map<StringId, std::vector<std::uint32_t>> of_name_;  // in order of start
};

}  // namespace

std::string_view NameOf(Category category) {
  return EnumName<Category::kGradientEstimate>(
      category, {ToTranslate("parameter"), ToTranslate("optimizer state"), ToTranslate("input"),
                 ToTranslate("temporary"), ToTranslate("activation"), ToTranslate("gradient"),
                 ToTranslate("autograd detail"), ToTranslate("unknown"),
                 ToTranslate("before the capture"), ToTranslate("parameter (estimate)"),
                 ToTranslate("state (estimate)"), ToTranslate("gradient (estimate)")});
}

Category CategoryOf(TensorRole role) {
  switch (role) {
    case TensorRole::kNotListed:
      break;
    case TensorRole::kParameter:
      return Category::kParameter;
    case TensorRole::kGradient:
      return Category::kGradient;
    case TensorRole::kOptimizerState:
      return Category::kOptimizerState;
  }
  return Category::kBefore;
}

std::vector<Life> LivesOf(const OpTree& ops) {
  const RankTrace& trace = ops.trace();
  const Allocations& rows = trace.allocations;
  const Surroundings around(ops);
  const Askers askers(ops);
  std::vector<Life> lives;
  for (std::size_t row = 0; row < rows.Size(); ++row) {
    if (rows.allocated[row] <= 0) continue;  // before the capture
    Life life{.begin = rows.allocated[row],
              .end = rows.released[row] > 0 ? rows.released[row] : kNever,
              .bytes = rows.bytes[row],
              .of_runtime = askers.IsOfRuntime(row),
              .row = row};
    if (life.end <= life.begin) continue;
    askers.Place(life);
    if (life.op >= 0) life.outer = around.outer[static_cast<std::size_t>(life.op)];
    lives.push_back(life);
  }
  StableSort(lives, {}, &Life::begin);
  SetCategories(trace, around, lives);
  return lives;
}

struct HolderNames::Sites {
  explicit Sites(const RankTrace& trace) : calls(trace, {}) {
    for (const BackwardPair& pair : FindBackwardPairs(trace))
      forward_of.emplace(pair.backward, pair.forward);
  }
  CallSites calls;
  std::unordered_map<std::size_t, std::size_t> forward_of;
};

HolderNames::HolderNames(const OpTree& ops)
    : ops_(ops), sites_(std::make_unique<Sites>(ops.trace())) {}
HolderNames::~HolderNames() = default;

std::string HolderNames::SiteOf(const Life& life) const {
  const HostOps& rows = ops_.trace().host_ops;
  if (life.op < 0 || !sites_->calls.Known()) return "";
  const std::int32_t track = rows.track[static_cast<std::size_t>(life.op)];
  std::string site = sites_->calls.At({life.asked, life.asked, track});
  for (std::int64_t op = life.op; site.empty() && op >= 0;
       op = ops_.Parent(static_cast<std::size_t>(op))) {
    const auto pair = sites_->forward_of.find(static_cast<std::size_t>(op));
    if (pair == sites_->forward_of.end()) continue;
    const TimeNs start = rows.start[pair->second];
    site = sites_->calls.At({start, start, rows.track[pair->second]});
  }
  return site;
}

Holder HolderNames::Of(const Life& life) const {
  const RankTrace& trace = ops_.trace();
  const auto name_of = [&](std::int64_t op) {
    return trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(op)]);
  };
  Holder holder{.site = SiteOf(life), .category = life.category};
  holder.op = trace.strings.View(trace.allocations.name[life.row]);
  constexpr std::string_view kRuntime = "cann::", kNode = "autograd::engine::evaluate_function: ";
  // Exporters drop the prefix.
  if (life.of_runtime && holder.op.find(kRuntime) == std::string::npos)
    holder.op.insert(0, kRuntime);
  std::int64_t op = life.op;
  while (op >= 0 && IsRuntimeCall(name_of(op))) op = ops_.Parent(static_cast<std::size_t>(op));
  if (holder.op.empty() && op >= 0) holder.op = name_of(op);
  std::string_view within = life.outer >= 0 ? name_of(life.outer) : std::string_view();
  if (within.starts_with(kNode)) within.remove_prefix(kNode.size());
  holder.within = within;
  return holder;
}

}  // namespace mpa::recipes::memory_timeline
