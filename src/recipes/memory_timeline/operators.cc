// SPDX-License-Identifier: Apache-2.0
// What surrounds the operators that allocate: the phases of a step, copies from the host.
#include "operators.h"

#include <algorithm>
#include <string_view>

#include "mpa/measure/leaf.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/model/step_bounds.h"

namespace mpa::memory_timeline {
namespace {

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
  return ClassOfOp(trace.strings.View(outer)) == Leaf::kHostCopy;
}

}  // namespace

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
    } else if (ClassOfOp(name) == Leaf::kDataLoader) {
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

}  // namespace mpa::memory_timeline
