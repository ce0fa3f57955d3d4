// SPDX-License-Identifier: Apache-2.0
// What happens within the segments of a call.
#include "call_children.h"

#include <algorithm>
#include <array>

#include "child_collector.h"
#include "py_children.h"

namespace mpa::head {
namespace {

constexpr std::array<std::string_view, kChildSegments> kSegmentNames = {
    "platform", "torchair_py", "torchair_cpp", "ge", "aclgraph", "epilogue"};

}  // namespace

std::string_view NameOf(ChildSegment segment) {
  return kSegmentNames[static_cast<std::size_t>(segment)];
}

ChildFinder::ChildFinder(const RankTrace& trace, const HeadAnalysis& analysis)
    : trace_(trace), analysis_(analysis), garbage_(Covered(trace.garbage_collections)) {
  const QueuedWork& work = trace.queued_work;
  for (const std::size_t row : work.RowsByStart()) {
    const std::int64_t pid = trace.tracks.pid[static_cast<std::size_t>(work.track[row])];
    queue_of_pid_[pid].push_back(
        {work.start[row], work.start[row] + work.dur[row], work.name[row]});
  }
}

std::vector<Child> ChildFinder::Of(std::size_t call) const {
  return ChildCollector(*this, call).Collect();
}

void CountConversions(const std::vector<Child>& children, Call& call) {
  for (const Child& child : children) {
    if (child.segment != ChildSegment::kTorchairPy) continue;
    if (child.kind == kTensorConstruct) call.tensors_built += child.count;
    if (child.kind == kContiguous) call.contiguous += child.count;
    if (child.kind == kClone) call.clones += child.count;
    if (child.kind == kToCopy) call.copies += child.count;
  }
}

}  // namespace mpa::head
