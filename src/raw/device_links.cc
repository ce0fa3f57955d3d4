// SPDX-License-Identifier: Apache-2.0
// Finds which operator launched which device work, and from that the device side of the steps.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "allocation_names.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "stages.h"
#include "time_order.h"

namespace mpa::raw {
namespace {

// The launcher of a call of CANN.
struct Launcher {
  std::int32_t op = -1;
  std::int64_t correlation = -1;
};

// Executions of queued work, requested at times that never decrease.
class Dequeues {
 public:
  explicit Dequeues(const QueueRanges& queue) : queue_(queue) {
    for (std::size_t row = 0; row < queue.Size(); ++row) {
      if (!queue.dequeue[row]) continue;
      threads_[queue.thread[row]].rows.push_back(static_cast<std::int32_t>(row));
      all_.rows.push_back(static_cast<std::int32_t>(row));
    }
    SortByEnd(all_);
    for (auto& [thread, list] : threads_) SortByEnd(list);
  }

  /// The execution in progress on the thread; if the thread executes nothing, on any thread. -1:
  /// none.
  std::int32_t At(std::int64_t thread, TimeNs time) {
    const auto own = threads_.find(thread);
    List& list = own != threads_.end() ? own->second : all_;
    while (list.next < list.rows.size() && queue_.End(list.rows[list.next]) < time) ++list.next;
    if (list.next == list.rows.size()) return -1;
    const std::int32_t row = list.rows[list.next];
    return queue_.start[row] <= time ? row : -1;
  }

 private:
  struct List {
    std::vector<std::int32_t> rows;  // in order of end
    std::size_t next = 0;
  };

  void SortByEnd(List& list) const {
    StableSort(list.rows,
               [&](std::int32_t a, std::int32_t b) { return queue_.End(a) < queue_.End(b); });
  }

  const QueueRanges& queue_;
  std::unordered_map<std::int64_t, List> threads_;
  List all_;
};

std::vector<Launcher> LaunchersThroughQueue(const Session& session) {
  const HostCalls& calls = session.calls;
  const QueueRanges& queue = session.queue;
  std::vector<Launcher> launchers(calls.Size());
  Dequeues dequeues(queue);
  for (std::size_t call = 0; call < calls.Size(); ++call) {
    if (!calls.launches[call]) continue;
    const std::int32_t dequeue = dequeues.At(calls.thread[call], calls.start[call]);
    if (dequeue < 0 || queue.partner[dequeue] < 0) continue;
    launchers[call] = {.op = queue.op[queue.partner[dequeue]],
                       .correlation = queue.correlation[dequeue]};
  }
  return launchers;
}

// Without a queue, work is launched where the operator runs, at a time inside it.
std::vector<Launcher> DirectLaunchers(const Session& session) {
  const HostCalls& calls = session.calls;
  const TorchOps& ops = session.ops;
  std::vector<Launcher> launchers(calls.Size());
  OpenOps open(ops);
  std::size_t next = 0;
  for (std::size_t call = 0; call < calls.Size(); ++call) {
    if (!calls.launches[call]) continue;
    while (next < ops.Size() && ops.start[next] <= calls.start[call]) ++next;
    launchers[call].op = open.Around(static_cast<std::int32_t>(next) - 1, calls.start[call] + 1);
  }
  return launchers;
}

// Work on the device: links and when it ran.
struct LaunchedWork {
  DeviceLinks links;
  std::vector<std::int32_t> call;
  std::vector<TimeNs> start, end;
};

// Puts rows that are in order of start in order of the operators; of one operator in order of the
// calls, and collectives behind the rest.
std::vector<std::size_t> ByOperator(const LaunchedWork& work, std::size_t ops,
                                    const std::vector<std::size_t>& rows) {
  const auto place = [&](std::size_t row) {
    return 2 * static_cast<std::size_t>(work.links.op[row]) +
           (work.links.collective[row] >= 0 ? 1 : 0);
  };
  std::vector<std::size_t> ends(2 * ops + 1);
  for (const std::size_t row : rows) ++ends[place(row) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::size_t> ordered(rows.size());
  for (const std::size_t row : rows) ordered[ends[place(row)]++] = row;
  auto first = ordered.begin();
  for (const std::size_t end : ends) {  // the current end of the rows of each place
    const auto last = std::max(first, ordered.begin() + static_cast<std::ptrdiff_t>(end));
    std::stable_sort(first, last,
                     [&](std::size_t a, std::size_t b) { return work.call[a] < work.call[b]; });
    first = last;
  }
  return ordered;
}

LaunchedWork FindLaunchedWork(const Session& session, const std::vector<Launcher>& launchers) {
  LaunchedWork work;
  std::vector<RowTime> rows;
  const auto add = [&](std::int32_t call, TimeNs start, TimeNs end, DeviceLinks::Row link) {
    if (call < 0 || launchers[call].op < 0 || start < 0) return;
    link.op = launchers[call].op;
    link.correlation = launchers[call].correlation;
    rows.push_back({start, 0, rows.size()});
    work.links.Append(link);
    work.call.push_back(call);
    work.start.push_back(start);
    work.end.push_back(end);
  };
  const Tasks& tasks = session.tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (tasks.group[i] || tasks.kind[i] == TaskKind::kCollectivePart) continue;
    add(tasks.call[i], tasks.start[i], tasks.end[i], {.task = static_cast<std::int32_t>(i)});
  }
  const Collectives& collectives = session.collectives;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    add(collectives.call[i], collectives.start[i], collectives.end[i],
        {.collective = static_cast<std::int32_t>(i)});
  }
  const std::vector<std::size_t> order =
      ByOperator(work, session.ops.Size(), InOrder(std::move(rows)));
  work.links.Reorder(order);
  const auto reorder = [&](auto& column) {
    auto former = std::move(column);
    column.clear();
    for (const std::size_t row : order) column.push_back(former[row]);
  };
  reorder(work.call);
  reorder(work.start);
  reorder(work.end);
  return work;
}

std::vector<std::int32_t> StepsOfOps(const Session& session) {
  const TorchOps& ops = session.ops;
  std::vector<std::int32_t> steps(ops.Size(), -1);
  for (std::size_t i = 0; i < session.steps.Size(); ++i) {
    steps[session.steps.op[i]] = static_cast<std::int32_t>(i);
  }
  for (std::size_t row = 0; row < ops.Size(); ++row) {
    if (steps[row] < 0 && ops.parent[row] >= 0) steps[row] = steps[ops.parent[row]];
  }
  return steps;
}

// A step lasts on the device from the first work of its first launch to the last of its last one.
struct StepSpan {
  std::int64_t first = -1, last = -1;  // launches, in the order of their numbers or times
  TimeNs start = -1, end = -1;

  void Add(std::int64_t launch, TimeNs work_start, TimeNs work_end) {
    if (first < 0 || launch < first) {
      first = launch;
      start = work_start;
    } else if (launch == first) {
      start = std::min(start, work_start);
    }
    if (launch > last) {
      last = launch;
      end = work_end;
    } else if (launch == last) {
      end = std::max(end, work_end);
    }
  }
};

void SpanSteps(const LaunchedWork& work, Session& session) {
  Steps& steps = session.steps;
  const std::vector<std::int32_t> step_of = StepsOfOps(session);
  std::vector<StepSpan> spans(steps.Size());
  for (std::size_t i = 0; i < work.links.Size(); ++i) {
    const std::int32_t step = step_of[work.links.op[i]];
    if (step < 0) continue;
    const std::int64_t correlation = work.links.correlation[i];
    const std::int64_t launch = correlation >= 0 ? correlation : session.calls.start[work.call[i]];
    spans[step].Add(launch, work.start[i], work.end[i]);
  }
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    if (spans[i].first < 0) continue;
    steps.device_start[i] = spans[i].start;
    steps.device_end[i] = std::max(spans[i].end, steps.end[i]);
  }
}

// Without records of the queue, work that was launched by threads without operators has none.
void CountWorkOfTheQueue(Session& session) {
  if (session.ops.Empty()) return;
  const std::unordered_set<std::int64_t> threads(session.ops.thread.begin(),
                                                 session.ops.thread.end());
  std::size_t kernels = 0, queued = 0;
  for (const std::int32_t task : session.kernels.task) {
    const std::int32_t call = session.tasks.call[static_cast<std::size_t>(task)];
    if (call < 0) continue;
    ++kernels;
    if (!threads.contains(session.calls.thread[static_cast<std::size_t>(call)])) ++queued;
  }
  if (queued * 2 <= kernels) return;
  session.issues.Count(
      Say("FRAMEWORK/torch.op_mark is missing: {} of {} kernels have no operator; copy the"
          " capture again",
          queued, kernels),
      "launched by threads without operators");
}

}  // namespace

void LinkDeviceWork(Session& session) {
  if (session.queue.Empty()) CountWorkOfTheQueue(session);
  const std::vector<Launcher> launchers =
      session.queue.Empty() ? DirectLaunchers(session) : LaunchersThroughQueue(session);
  LaunchedWork work = FindLaunchedWork(session, launchers);
  SpanSteps(work, session);
  session.links = std::move(work.links);
}

}  // namespace mpa::raw
