// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/part/rank_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "mpa/base/rows_by.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/part/graph_draft.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"
#include "mpa/model/queue_index.h"
#include "part_facts.h"

namespace mpa {
namespace {

template <typename Matches>
Intervals SpansOfOps(const RankTrace& trace, Matches matches) {
  std::vector<Interval> spans;
  const HostOps& ops = trace.host_ops;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (matches(trace.strings.View(ops.name[i])))
      spans.push_back({ops.start[i], ops.start[i] + ops.dur[i]});
  }
  return Union(std::move(spans));
}

}  // namespace

std::uint32_t GraphDraft::Add(TimeNs start, TimeNs dur, NodeKind kind, TimeNs host_time,
                              std::int32_t row) {
  return AddOfStep(start, dur, kind, host_time < 0 ? std::nullopt : steps.OfHostTime(host_time),
                   row);
}

std::uint32_t GraphDraft::AddOfStep(TimeNs start, TimeNs dur, NodeKind kind,
                                    std::optional<std::size_t> step, std::int32_t row) {
  if (steps.Count() == 0) step = 0;  // the whole capture
  graph.nodes.push_back({.start = start,
                         .dur = dur,
                         .kind = kind,
                         .step = step ? static_cast<std::int32_t>(*step) : -1,
                         .row = row});
  return static_cast<std::uint32_t>(graph.nodes.size() - 1);
}

std::uint32_t GraphDraft::Wait(std::uint32_t node, std::uint32_t on, WaitsFor from, TimeNs weight) {
  graph.edges.push_back({node, on, from, std::max<TimeNs>(0, weight)});
  return static_cast<std::uint32_t>(graph.edges.size() - 1);
}

Intervals OptimizerSpans(const RankTrace& trace) {
  return SpansOfOps(trace,
                    [](std::string_view name) { return name.starts_with("Optimizer.step#"); });
}

Intervals GradientSpans(const RankTrace& trace) {
  return SpansOfOps(trace, [](std::string_view name) { return name.ends_with("AccumulateGrad"); });
}

Intervals ClearingSpans(const RankTrace& trace) {
  return SpansOfOps(trace,
                    [](std::string_view name) { return name.starts_with("Optimizer.zero_grad#"); });
}

RankGraph BuildRankGraph(const RankTrace& trace, TimeNs host_offset,
                         std::vector<HostStretch>& host) {
  GraphDraft draft(trace, host_offset);
  // A launch and a piece of queued work have two nodes or three each, and hardly more edges; work
  // of the device waits for its launch, and for the work before it.
  const std::size_t expected = 3 * (draft.found.launches.size() + trace.queued_work.Size());
  draft.graph.nodes.reserve(expected);
  draft.graph.edges.reserve(expected + 2 * draft.found.items.size());
  const HostChain chain = AddHost(draft, host);
  AddBlockedCalls(draft, chain, AddDevice(draft, chain), host);
  return std::move(draft.graph);
}

namespace {

bool WaitsForEvent(const RankTrace& trace, std::size_t task) {
  return ContainsAny(trace.strings.View(trace.device_tasks.type[task]), {"EVENT_WAIT"}) ||
         ContainsAny(trace.strings.View(trace.device_tasks.name[task]), {"EVENT_WAIT"});
}

class ItemFinder {
 public:
  ItemFinder(const RankTrace& trace, TimeNs offset)
      : trace_(trace),
        offset_(offset),
        calls_(trace),
        chains_(trace),
        launches_(trace),
        queue_(trace.queued_work) {}

  GraphItems Find() && {
    std::set<std::int64_t> streams;
    for (const DeviceItem& item : FindDeviceItems(trace_)) {
      Add(item, false);
      if (item.table != PieceTable::kCommunications) streams.insert(item.stream);
    }
    const DeviceTasks& tasks = trace_.device_tasks;
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      if (!WaitsForEvent(trace_, i) || !streams.contains(tasks.stream[i])) continue;
      Add({.begin = tasks.start[i],
           .end = tasks.start[i] + tasks.dur[i],
           .table = PieceTable::kDeviceTasks,
           .row = static_cast<std::int32_t>(i),
           .stream = tasks.stream[i],
           .connection = tasks.connection[i],
           .link = tasks.link[i],
           .model = tasks.model[i]},
          true);
    }
    StableSort(found_.items, [](const GraphItem& a, const GraphItem& b) {
      return std::pair{a.work.begin, a.work.end} < std::pair{b.work.begin, b.work.end};
    });
    GuessLaunched();
    return std::move(found_);
  }

 private:
  // The call for a collective prepares it and launches it at its end, or before the collective
  // begins.
  void Add(const DeviceItem& work, bool waits) {
    const auto launch = launches_.Find(work.link);
    GraphItem item{.work = work, .waits = waits};
    auto call = calls_.Find(work.connection);
    if (!call && work.model >= 0) call = calls_.LastGraph(work.begin);
    if (call) {
      const auto queued = queue_.Find(call->track, call->begin);
      item.launched = call->begin;
      const TimeNs time = item.IsOperation()
                              ? std::clamp(work.begin + offset_, call->begin, call->end)
                              : call->begin;
      SetLaunch({time, call->track, queued ? static_cast<std::int32_t>(*queued) : -1, true}, item);
    } else if (launch) {
      const GraphLaunch of_operator = LaunchOfOperator(*launch, work);
      item.launched = of_operator.begin;
      SetLaunch(of_operator, item);
    }
    if (work.model >= 0)
      item.graph = item.launch;
    else if (launch)
      item.graph = trace_.launches.replay[*launch];
    found_.items.push_back(item);
  }

  // What the operator asked the queue for launched the work, at its end or before the work began.
  GraphLaunch LaunchOfOperator(std::size_t launch, const DeviceItem& work) const {
    const auto chain = chains_.FromOperator(work.link);
    if (!chain || chain->queued < 0)
      return {trace_.launches.host_time[launch], trace_.launches.host_track[launch], -1, false};
    const TimeNs time = std::clamp(work.begin + offset_, chain->taken, chain->launched);
    return {time, chain->launching_track, chain->queued, false};
  }

  void SetLaunch(const GraphLaunch& launch, GraphItem& item) {
    const auto next = static_cast<std::int32_t>(found_.launches.size());
    const auto [found, is_new] = numbers_.try_emplace({launch.track, launch.begin}, next);
    if (is_new) found_.launches.push_back(launch);
    item.launch = found->second;
  }

  // Work without a launch was asked for before what follows on its stream. A graph is launched as a
  // whole, and many of its streams carry nothing else: what follows on any stream tells, too.
  void GuessLaunched() {
    std::map<std::int64_t, TimeNs> next;
    TimeNs next_of_all = -1;
    for (std::size_t i = found_.items.size(); i-- > 0;) {
      GraphItem& item = found_.items[i];
      if (item.launched >= 0) {
        next[item.work.stream] = next_of_all = item.launched;
        continue;
      }
      const auto later = next.find(item.work.stream);
      item.launched = later == next.end() || item.work.model >= 0 ? next_of_all : later->second;
    }
  }

  const RankTrace& trace_;
  const TimeNs offset_;
  const LaunchCalls calls_;
  const LaunchChains chains_;
  const LaunchIndex launches_;
  const QueueIndex queue_;
  std::map<std::pair<std::int32_t, TimeNs>, std::int32_t> numbers_;
  GraphItems found_;
};

}  // namespace

std::vector<std::size_t> GraphItems::ByLaunch() const {
  std::vector<std::size_t> order = RowsBy(items.size(), [&](auto i) { return items[i].launched; });
  std::erase_if(order, [&](std::size_t i) { return items[i].launched < 0; });
  return order;
}

GraphItems FindGraphItems(const RankTrace& trace, TimeNs host_offset) {
  return ItemFinder(trace, host_offset).Find();
}

// Which operator of the host asked for a kernel.

namespace {

class OriginFinder {
 public:
  explicit OriginFinder(const RankTrace& trace) : trace_(trace), operators_(Operators()) {}

  // The row of the operator; -1: none is recorded.
  std::int64_t Of(const GraphLaunch& launch) const {
    // A task queue launches what an operator of another thread asked for.
    const bool is_queued = launch.queued >= 0;
    const auto row = static_cast<std::size_t>(launch.queued);
    const std::int32_t track = is_queued ? trace_.queued_work.queued_track[row] : launch.track;
    const std::int64_t found =
        operators_.Find(track, is_queued ? trace_.queued_work.queued[row] : launch.begin);
    return found == Nesting::kNone
               ? -1
               : static_cast<std::int64_t>(rows_[static_cast<std::size_t>(found)]);
  }

 private:
  // Without marks of steps, and the calls below the framework that captures list among the
  // operators: "aclnnAdd", "cudaLaunchKernel".
  Nesting Operators() {
    const HostOps& ops = trace_.host_ops;
    std::vector<NestSpan> spans;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      const std::string_view name = trace_.strings.View(ops.name[i]);
      const std::string_view below = trace_.device == DeviceKind::kGpu ? "cu" : "acl";
      if (IsStepMark(name) || name.starts_with(below)) continue;
      spans.push_back({ops.start[i], ops.start[i] + ops.dur[i], ops.track[i]});
      rows_.push_back(i);
    }
    return Nesting(std::move(spans));
  }

  const RankTrace& trace_;
  std::vector<std::size_t> rows_;  // by span
  const Nesting operators_;
};

}  // namespace

void FindOrigins(const RankTrace& trace, TimeNs host_offset, const CallSites& sites,
                 PartNames& names, RankDiagnosis& part) {
  const GraphItems found = FindGraphItems(trace, host_offset);
  std::map<std::pair<TimeNs, std::int32_t>, std::int32_t> launches;  // by begin and row of a kernel
  for (const GraphItem& item : found.items) {
    if (item.work.table == PieceTable::kKernels && item.launch >= 0)
      launches[{item.work.begin, item.work.row}] = item.launch;
  }
  const OriginFinder finder(trace);
  for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
    const GraphNode& node = part.graph.nodes[i];
    const auto launch =
        node.kind == NodeKind::kKernel ? launches.find({node.start, node.row}) : launches.end();
    if (launch == launches.end()) continue;
    const std::int64_t op = finder.Of(found.launches[static_cast<std::size_t>(launch->second)]);
    if (op < 0) continue;
    const auto row = static_cast<std::size_t>(op);
    const HostOps& ops = trace.host_ops;
    const std::string line =
        sites.At({ops.start[row], ops.start[row] + ops.dur[row], ops.track[row]});
    part.origins.push_back({i, names.Of(trace.strings.View(ops.name[row])), names.Of(line)});
  }
}

}  // namespace mpa
