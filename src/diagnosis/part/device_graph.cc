// SPDX-License-Identifier: Apache-2.0
// The device's part of the graph of a rank: its work, and the waits between streams.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/diagnosis/part/graph_draft.h"
#include "mpa/measure/collectives.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

// An event recorded on one stream releases the wait on another within this time.
constexpr TimeNs kEventReach = 25'000;
// Where waits of streams are not recorded: what is left of an idle time behind what ended it may be
// copies that are not recorded, either.
constexpr TimeNs kShortRest = 16;
// Shorter waits found their event there.
constexpr TimeNs kShortWait = 1'000;
// Numbers of device queues begin here, away from those of streams.
constexpr std::int64_t kDeviceQueues = -1'000;

class DevicePart {
 public:
  DevicePart(GraphDraft& draft, const HostChain& chain)
      : draft_(draft),
        trace_(draft.trace),
        steps_(draft.steps),
        items_(draft.found.items),
        graph_(draft.graph),
        chain_(chain),
        optimizer_(OptimizerSpans(draft.trace)),
        gradients_(GradientSpans(draft.trace)),
        clearing_(ClearingSpans(draft.trace)) {}

  DeviceNodes Build() && {
    AddItems();
    FindLast();
    // Items are in order of time.
    if (steps_.Count() == 0 && !nodes_.begin.empty()) graph_.opening = {nodes_.begin.front()};
    return std::move(nodes_);
  }

 private:
  std::optional<std::size_t> StepOf(const GraphItem& item) const {
    if (item.launched >= 0) return steps_.OfLaunchedWork(item.launched, item.work.begin);
    return steps_.OfDeviceWork(item.work.link, item.work.begin);
  }

  // The least time from a launch to the start of the work, where nothing else held it up.
  TimeNs LaunchLatency() const {
    std::vector<TimeNs> latencies;
    std::map<std::int64_t, TimeNs> busy_until;
    for (const GraphItem& item : items_) {
      TimeNs& busy = busy_until[item.work.stream];
      if (item.launch >= 0 && !item.waits && !item.IsOperation()) {
        const TimeNs launched = draft_.OnDevice(item.launched);
        if (busy <= launched) latencies.push_back(item.work.begin - launched);
      }
      busy = std::max(busy, item.work.end);
    }
    if (latencies.empty()) return 0;
    return std::max<TimeNs>(0,
                            ValueAtPosition(latencies, PercentileIndexAbove(latencies.size(), 10)));
  }

  // Operations of a group follow each other; sending and receiving do not wait for each other.
  std::int64_t DeviceQueueOf(const GraphItem& item) {
    if (!item.IsOperation()) return item.work.stream;
    const auto row = static_cast<std::size_t>(item.work.row);
    const auto [found, is_new] = device_queues_.try_emplace(
        {trace_.communications.group[row], CollectiveKindOf(trace_, row)},
        kDeviceQueues - static_cast<std::int64_t>(device_queues_.size()));
    return found->second;
  }

  // "Memcpy HtoD (Pinned -> Device)": traces of GPUs name the memory.
  bool UsesPinnedMemory(const DeviceItem& work) const {
    if (work.table != PieceTable::kDeviceTasks) return false;
    const auto row = static_cast<std::size_t>(work.row);
    return ContainsAny(trace_.strings.View(trace_.device_tasks.name[row]), {"Pinned"}) ||
           ContainsAny(trace_.strings.View(trace_.device_tasks.type[row]), {"Pinned"});
  }

  void AddItems() {
    const TimeNs latency = LaunchLatency();
    nodes_.begin.assign(items_.size(), kNoNode);
    nodes_.end.assign(items_.size(), kNoNode);
    nodes_.device_queue.resize(items_.size());
    std::map<std::int64_t, std::size_t> previous;  // item by device queue
    const std::uint32_t earlier = AddEarlierWork();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const GraphItem& item = items_[i];
      const DeviceItem& work = item.work;
      if (item.IsOperation()) {
        nodes_.begin[i] =
            draft_.AddOfStep(work.begin, 0, NodeKind::kArrive, StepOf(item), work.row);
        nodes_.end[i] = draft_.AddOfStep(work.end, 0, NodeKind::kLeave, StepOf(item), work.row);
        graph_.nodes[nodes_.begin[i]].graph = item.graph;
        graph_.collectives.push_back({nodes_.begin[i], nodes_.end[i], work.row});
      } else if (item.waits) {
        nodes_.begin[i] = nodes_.end[i] =
            draft_.AddOfStep(work.end, 0, NodeKind::kWait, StepOf(item), work.row);
      } else {
        const NodeKind kind = IsDeviceCopy(work.category) ? NodeKind::kCopy : NodeKind::kKernel;
        nodes_.begin[i] = nodes_.end[i] =
            draft_.AddOfStep(work.begin, work.end - work.begin, kind, StepOf(item), work.row);
        graph_.nodes.back().category = work.own;
        graph_.nodes.back().stream = static_cast<std::int32_t>(work.stream);
        graph_.nodes.back().pinned = kind == NodeKind::kCopy && UsesPinnedMemory(work);
        graph_.nodes.back().in_optimizer = Contains(optimizer_, AskedFor(item));
        graph_.nodes.back().adds_gradients = Contains(gradients_, AskedFor(item));
        graph_.nodes.back().clears_gradients = Contains(clearing_, AskedFor(item));
      }
      graph_.nodes.back().graph = item.graph;
      if (item.launch >= 0 &&
          chain_.node_of_launch[static_cast<std::size_t>(item.launch)] != kNoNode) {
        draft_.Wait(nodes_.begin[i], chain_.node_of_launch[static_cast<std::size_t>(item.launch)],
                    WaitsFor::kStart, latency);
      }
      nodes_.device_queue[i] = DeviceQueueOf(item);
      if (const auto before = previous.find(nodes_.device_queue[i]); before != previous.end()) {
        draft_.Wait(nodes_.begin[i], nodes_.end[before->second], WaitsFor::kEnd, 0);
      } else if (earlier != kNoNode && work.begin >= trace_.earlier_work_end) {
        draft_.Wait(nodes_.begin[i], earlier, WaitsFor::kEnd, 0);
      }
      previous[nodes_.device_queue[i]] = i;
    }
    AddEvents();
  }

  // The end of what the device did of steps before the capture: what it kept waiting came later.
  std::uint32_t AddEarlierWork() {
    if (trace_.earlier_work_end == 0) return kNoNode;
    return draft_.AddOfStep(trace_.earlier_work_end, 0, NodeKind::kWait, std::nullopt, -1);
  }

  // When the operator asked for it; a task queue launches later.
  TimeNs AskedFor(const GraphItem& item) const {
    if (item.launch < 0) return item.launched;
    const std::int32_t queued = draft_.found.launches[static_cast<std::size_t>(item.launch)].queued;
    return queued < 0 ? item.launched : trace_.queued_work.queued[static_cast<std::size_t>(queued)];
  }

  // What a wait or a collective waits for on other streams: what was launched last before it.
  void AddEvents() {
    // What was launched last on each device queue; a job has as many device queues as groups.
    std::unordered_map<std::int64_t, std::size_t> last;
    using ByTime = std::set<std::pair<TimeNs, std::int64_t>>;  // launched, and the device queue
    ByTime all, computing;
    const auto latest = [&](const ByTime& launched,
                            std::int64_t own) -> std::optional<std::size_t> {
      for (auto at = launched.rbegin(); at != launched.rend(); ++at) {
        if (at->second != own) return last.at(at->second);
      }
      return std::nullopt;
    };
    for (const std::size_t i : draft_.found.ByLaunch()) {
      const GraphItem& item = items_[i];
      if (item.waits || item.IsOperation()) {
        // An operation waits for the stream that computes, a wait for what came last.
        const std::optional<std::size_t> dependency =
            latest(item.IsOperation() ? computing : all, nodes_.device_queue[i]);
        // Launches that are not recorded may be in another order.
        const TimeNs released = item.waits ? item.work.end : item.work.begin;
        const bool is_late =
            dependency && items_[*dependency].work.end > released + kDeviceTolerance;
        if (dependency && !is_late)
          draft_.Wait(nodes_.begin[i], nodes_.end[*dependency], WaitsFor::kEnd, 0);
        if (is_late && item.IsOperation()) AddReleasing(i, released);
      }
      if (item.waits && item.work.end - item.work.begin > kShortWait)
        AddReleasing(i, item.work.end);
      const std::int64_t device_queue = nodes_.device_queue[i];
      if (const auto before = last.find(device_queue); before != last.end()) {
        all.erase({items_[before->second].launched, device_queue});
        computing.erase({items_[before->second].launched, device_queue});
      }
      last[device_queue] = i;
      all.insert({item.launched, device_queue});
      if (!item.IsOperation()) computing.insert({item.launched, device_queue});
    }
    if (trace_.device == DeviceKind::kGpu) AddUnrecordedWaits();
  }

  // Traces of GPUs record no waits of streams. What was launched long before, and whose stream was
  // idle until an operation of another stream ended, waited for that.
  void AddUnrecordedWaits() {
    const TimeNs latency = LaunchLatency();
    std::map<std::int64_t, TimeNs> busy_until;  // by device queue
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const GraphItem& item = items_[i];
      TimeNs& busy = busy_until[nodes_.device_queue[i]];
      const TimeNs ready =
          std::max({busy, trace_.earlier_work_end, draft_.OnDevice(item.launched) + latency});
      const TimeNs idle = item.work.begin - ready;
      if (!item.IsOperation() && item.launched >= 0 && idle > kEventReach)
        AddReleasing(i, item.work.begin, std::max(kEventReach, idle / kShortRest));
      busy = std::max(busy, item.work.end);
    }
  }

  // What a wait or an operation was released by: what ended just before.
  void AddReleasing(std::size_t waiting, TimeNs end, TimeNs reach = kEventReach) {
    if (by_end_.empty()) {
      for (std::size_t i = 0; i < items_.size(); ++i) {
        if (!items_[i].waits) by_end_.emplace_back(items_[i].work.end, i);
      }
      std::ranges::sort(by_end_);
    }
    auto at = std::upper_bound(by_end_.begin(), by_end_.end(), std::pair{end, items_.size()});
    while (at != by_end_.begin() && (--at)->first >= end - reach) {
      // Work waits for an operation, or an operation or a wait for work.
      const bool is_work = !items_[waiting].waits && !items_[waiting].IsOperation();
      if (nodes_.device_queue[at->second] == nodes_.device_queue[waiting] ||
          (!items_[waiting].waits && is_work != items_[at->second].IsOperation()))
        continue;
      draft_.Wait(nodes_.begin[waiting], nodes_.end[at->second], WaitsFor::kEnd, 0);
      return;
    }
  }

  void FindLast() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> last;  // by step and stream
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const std::int32_t step = graph_.nodes[nodes_.begin[i]].step;
      if (step < 0) continue;
      auto [found, is_new] = last.try_emplace({step, nodes_.device_queue[i]}, i);
      if (items_[i].work.end > items_[found->second].work.end) found->second = i;
    }
    graph_.last.resize(std::max<std::size_t>(1, steps_.Count()));
    for (const auto& [place, item] : last) {
      graph_.last[static_cast<std::size_t>(place.first)].push_back(nodes_.end[item]);
    }
  }

  GraphDraft& draft_;
  const RankTrace& trace_;
  const StepBounds& steps_;
  const std::vector<GraphItem>& items_;
  RankGraph& graph_;
  const HostChain& chain_;
  const Intervals optimizer_, gradients_, clearing_;
  DeviceNodes nodes_;
  std::map<std::pair<std::int32_t, std::string>, std::int64_t> device_queues_;
  std::vector<std::pair<TimeNs, std::size_t>> by_end_;
};

}  // namespace

DeviceNodes AddDevice(GraphDraft& draft, const HostChain& chain) {
  return DevicePart(draft, chain).Build();
}

}  // namespace mpa
