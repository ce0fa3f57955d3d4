// SPDX-License-Identifier: Apache-2.0
// Names of allocations, and the operators that are open at a time.
#include "allocation_names.h"

#include <algorithm>

namespace mpa::raw {

std::int32_t OpenOps::Around(std::int32_t row, TimeNs time) {
  std::int32_t open = row;
  while (open >= 0 && ops_.End(open) < time) open = up_[open];
  while (row >= 0 && row != open) {
    const std::int32_t next = up_[row];
    up_[row] = open;
    row = next;
  }
  return open;
}

// Names of allocations: the operator that is open at the time, or that enqueued the work containing
// the allocation.

namespace {

// The last of `rows` that starts at `time` or before; -1: none.
std::int32_t LastStarted(const std::vector<std::int32_t>& rows, const std::vector<TimeNs>& start,
                         TimeNs time) {
  const auto after = std::partition_point(rows.begin(), rows.end(),
                                          [&](std::int32_t row) { return start[row] <= time; });
  return after == rows.begin() ? -1 : *(after - 1);
}

}  // namespace

AllocationNames::AllocationNames(const Session& session)
    : session_(session), open_(session.ops), library_op_(session.ops.parent) {
  const TorchOps& ops = session.ops;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    const auto row = static_cast<std::int32_t>(i);
    const std::string_view name = session.strings.View(ops.name[i]);
    const std::int32_t around = ops.parent[i] < 0 ? -1 : library_op_[ops.parent[i]];
    library_op_[i] = name.starts_with("aten") || name.starts_with("npu") ? row : around;
    // Operators that exist only to allocate are not useful as names.
    if (name == "empty_tensor" || name == "malloc_workspace") continue;
    ops_[ops.thread[i]].push_back(row);
  }
  const QueueRanges& queue = session.queue;
  for (std::size_t i = 0; i < queue.Size(); ++i) {
    if (queue.dequeue[i]) dequeues_[queue.thread[i]].push_back(static_cast<std::int32_t>(i));
  }
}

StringId AllocationNames::Of(std::size_t event) {
  const std::int64_t thread = session_.allocations.thread[event];
  const TimeNs time = session_.allocations.time[event];
  if (const auto found = dequeues_.find(thread); found != dequeues_.end()) {
    const std::int32_t dequeue = LastStarted(found->second, session_.queue.start, time);
    if (dequeue >= 0 && time < session_.queue.End(dequeue)) return OfQueuedWork(dequeue);
  }
  return NameOf(open_.Around(LastOpBefore(thread, time), time));
}

std::int32_t AllocationNames::LastOpBefore(std::int64_t thread, TimeNs time) const {
  const auto found = ops_.find(thread);
  return found == ops_.end() ? -1 : LastStarted(found->second, session_.ops.start, time);
}

StringId AllocationNames::OfQueuedWork(std::int32_t dequeue) const {
  const std::int32_t enqueue = session_.queue.partner[dequeue];
  if (enqueue < 0) return StringId::kEmpty;
  const std::int32_t op = LastOpBefore(session_.queue.thread[enqueue], session_.queue.End(enqueue));
  return NameOf(op < 0 ? -1 : library_op_[op]);
}

StringId AllocationNames::NameOf(std::int32_t op) const {
  return op < 0 ? StringId::kEmpty : session_.ops.name[op];
}

}  // namespace mpa::raw
