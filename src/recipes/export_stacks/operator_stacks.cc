// SPDX-License-Identifier: Apache-2.0
// Times of operators by their call stacks, as export_stacks() of torch_npu sums them.
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/measure/call_paths.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "stacks.h"

namespace mpa::recipes::export_stacks {

PathTree OperatorStacks(const RankTrace& trace, bool of_device) {
  const HostOps& ops = trace.host_ops;
  const Nesting nesting(OpSpans(trace));
  std::vector<TimeNs> times(ops.Size(), 0);
  if (of_device) {
    for (const LaunchedWork& work : FindDeviceWork(trace, nesting).launched) {
      if (work.op != Nesting::kNone) times[static_cast<std::size_t>(work.op)] += work.work.dur;
    }
  } else {
    for (std::size_t op = 0; op < ops.Size(); ++op) {
      times[op] += ops.dur[op];
      const std::int64_t outer = nesting.Parent(op);
      if (outer != Nesting::kNone) times[static_cast<std::size_t>(outer)] -= ops.dur[op];
    }
  }
  PathTreeBuilder tree;
  for (std::size_t op = 0; op < ops.Size(); ++op) {
    if (times[op] <= 0 || !HasStack(trace, ops.stack[op])) continue;
    std::int32_t node = PathTreeBuilder::kRoot;
    for (const std::string_view frame : FramesOfStack(trace.strings.View(ops.stack[op])))
      node = tree.Child(node, FrameText(frame));
    if (node != PathTreeBuilder::kRoot) tree.Add(node, times[op], 1);
  }
  return std::move(tree).Take();
}

}  // namespace mpa::recipes::export_stacks
