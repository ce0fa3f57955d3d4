// SPDX-License-Identifier: Apache-2.0
// The device's part of the graph of a rank: its work, the waits between streams, and the calls that
// waited for it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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
// Device times may contradict each other by so much.
constexpr TimeNs kTolerance = 2'000;
// Shorter waits found their event there.
constexpr TimeNs kShortWait = 1'000;
// Numbers of lanes begin here, away from those of streams.
constexpr std::int64_t kLanes = -1'000;
// What a call that waits for the device takes of its own.
constexpr TimeNs kOwnTimeOfWait = 4'000;

bool WaitsForAllStreams(std::string_view name) {
  return name.find("SynchronizeDevice") != std::string_view::npos ||
         name == "cudaDeviceSynchronize";
}

class DevicePart {
 public:
  DevicePart(GraphDraft& draft, const HostChain& chain, std::vector<HostStretch>& host)
      : draft_(draft),
        trace_(draft.trace),
        steps_(draft.steps),
        items_(draft.found.items),
        graph_(draft.graph),
        chain_(chain),
        host_(host),
        optimizer_(OptimizerSpans(draft.trace)),
        gradients_(GradientSpans(draft.trace)),
        clearing_(ClearingSpans(draft.trace)) {}

  void Build() && {
    AddItems();
    AddBlocks();
    FindLast();
    // Items are in order of time.
    if (steps_.Count() == 0 && !begin_node_.empty()) graph_.opening = {begin_node_.front()};
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
    return std::max<TimeNs>(0, ValueOfRank(latencies, NearestRankAbove(latencies.size(), 10)));
  }

  // Operations of a group follow each other; sending and receiving do not wait for each other.
  std::int64_t LaneOf(const GraphItem& item) {
    if (!item.IsOperation()) return item.work.stream;
    const auto row = static_cast<std::size_t>(item.work.row);
    const auto [found, is_new] =
        lanes_.try_emplace({trace_.communications.group[row], CollectiveKindOf(trace_, row)},
                           kLanes - static_cast<std::int64_t>(lanes_.size()));
    return found->second;
  }

  void AddItems() {
    const TimeNs latency = LaunchLatency();
    begin_node_.assign(items_.size(), kNoNode);
    end_node_.assign(items_.size(), kNoNode);
    lane_.resize(items_.size());
    std::map<std::int64_t, std::size_t> previous;  // item by lane
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const GraphItem& item = items_[i];
      const DeviceItem& work = item.work;
      if (item.IsOperation()) {
        begin_node_[i] = draft_.AddOfStep(work.begin, 0, NodeKind::kArrive, StepOf(item), work.row);
        end_node_[i] = draft_.AddOfStep(work.end, 0, NodeKind::kLeave, StepOf(item), work.row);
        graph_.nodes[begin_node_[i]].graph = item.graph;
        graph_.collectives.push_back({begin_node_[i], end_node_[i], work.row});
      } else if (item.waits) {
        begin_node_[i] = end_node_[i] =
            draft_.AddOfStep(work.end, 0, NodeKind::kWait, StepOf(item), work.row);
      } else {
        const NodeKind kind = IsDeviceCopy(work.category) ? NodeKind::kCopy : NodeKind::kKernel;
        begin_node_[i] = end_node_[i] =
            draft_.AddOfStep(work.begin, work.end - work.begin, kind, StepOf(item), work.row);
        graph_.nodes.back().category = work.own;
        graph_.nodes.back().stream = static_cast<std::int32_t>(work.stream);
        graph_.nodes.back().in_optimizer = Contains(optimizer_, AskedFor(item));
        graph_.nodes.back().adds_gradients = Contains(gradients_, AskedFor(item));
        graph_.nodes.back().clears_gradients = Contains(clearing_, AskedFor(item));
      }
      graph_.nodes.back().graph = item.graph;
      if (item.launch >= 0 &&
          chain_.node_of_launch[static_cast<std::size_t>(item.launch)] != kNoNode) {
        draft_.Wait(begin_node_[i], chain_.node_of_launch[static_cast<std::size_t>(item.launch)],
                    WaitsFor::kStart, latency);
      }
      lane_[i] = LaneOf(item);
      if (const auto before = previous.find(lane_[i]); before != previous.end()) {
        draft_.Wait(begin_node_[i], end_node_[before->second], WaitsFor::kEnd, 0);
      }
      previous[lane_[i]] = i;
    }
    AddEvents();
  }

  // When the operator asked for it; a task queue launches later.
  TimeNs AskedFor(const GraphItem& item) const {
    if (item.launch < 0) return item.launched;
    const std::int32_t queued = draft_.found.launches[static_cast<std::size_t>(item.launch)].queued;
    return queued < 0 ? item.launched : trace_.queued_work.queued[static_cast<std::size_t>(queued)];
  }

  std::vector<std::size_t> ByLaunch() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].launched >= 0) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t a) { return items_[a].launched; });
    return order;
  }

  // What a wait or a collective waits for on other streams: what was launched last before it.
  void AddEvents() {
    std::map<std::int64_t, std::size_t> last;  // launched, by lane
    for (const std::size_t i : ByLaunch()) {
      const GraphItem& item = items_[i];
      if (item.waits || item.IsOperation()) {
        std::optional<std::size_t> dependency;
        for (const auto& [lane, candidate] : last) {
          if (lane == lane_[i]) continue;
          // An operation waits for the stream that computes, a wait for what came last.
          if (item.IsOperation() && items_[candidate].IsOperation()) continue;
          if (!dependency || items_[*dependency].launched <= items_[candidate].launched)
            dependency = candidate;
        }
        // Launches that are not recorded may be in another order.
        const TimeNs released = item.waits ? item.work.end : item.work.begin;
        const bool is_late = dependency && items_[*dependency].work.end > released + kTolerance;
        if (dependency && !is_late)
          draft_.Wait(begin_node_[i], end_node_[*dependency], WaitsFor::kEnd, 0);
        if (is_late && item.IsOperation()) AddReleasing(i, released);
      }
      if (item.waits && item.work.end - item.work.begin > kShortWait)
        AddReleasing(i, item.work.end);
      last[lane_[i]] = i;
    }
    if (trace_.device == DeviceKind::kGpu) AddUnrecordedWaits();
  }

  // Traces of GPUs record no waits of streams. What was launched long before, and whose stream was
  // idle until an operation of another stream ended, waited for that.
  void AddUnrecordedWaits() {
    const TimeNs latency = LaunchLatency();
    std::map<std::int64_t, TimeNs> busy_until;  // by lane
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const GraphItem& item = items_[i];
      TimeNs& busy = busy_until[lane_[i]];
      const TimeNs ready = std::max(busy, draft_.OnDevice(item.launched) + latency);
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
      if (lane_[at->second] == lane_[waiting] ||
          (!items_[waiting].waits && is_work != items_[at->second].IsOperation()))
        continue;
      draft_.Wait(begin_node_[waiting], end_node_[at->second], WaitsFor::kEnd, 0);
      return;
    }
  }

  // What a blocking call waited for: the last work launched before it that had ended when it ended.
  void AddBlocks() {
    const std::vector<std::size_t> by_launch = ByLaunch();
    std::map<std::int64_t, std::size_t> last;  // by stream
    std::size_t next = 0;
    std::set<std::uint32_t> waiting;  // edges
    std::vector<std::size_t> order(chain_.blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {},
                             [&](std::size_t a) { return draft_.StartOf(chain_.blocks[a].begin); });
    for (const std::size_t number : order) {
      const HostBlock& block = chain_.blocks[number];
      const BlockedCall& call = chain_.waiting[static_cast<std::size_t>(block.call)];
      const TimeNs begin = call.begin;
      const TimeNs end = draft_.OnDevice(begin + call.dur);
      const TimeNs known_until = call.is_op ? begin + call.dur : begin;
      for (; next < by_launch.size() && items_[by_launch[next]].launched <= known_until; ++next) {
        last[lane_[by_launch[next]]] = by_launch[next];
      }
      std::vector<std::size_t> waited;
      std::optional<std::size_t> latest;
      for (const auto& [stream, item] : last) {
        if (items_[item].work.end > end + kTolerance) continue;
        waited.push_back(item);
        if (!latest || items_[item].work.end > items_[*latest].work.end) latest = item;
      }
      if (!latest || items_[*latest].work.end <= draft_.OnDevice(begin)) {
        // It did not wait: all of it is work of the host.
        const bool is_own = block.thread != kNoNode && graph_.edges[block.thread].on == block.begin;
        if (is_own && call.dur > 0) {
          host_.push_back({block.thread, begin, begin + call.dur, call.track, call.track});
        }
        continue;
      }
      if (!WaitsForAllStreams(trace_.strings.View(call.name))) waited = {*latest};
      if (block.thread != kNoNode) {
        GraphEdge& thread = graph_.edges[block.thread];
        thread.weight = thread.on == block.begin ? std::min(thread.weight, kOwnTimeOfWait) : 0;
        // What it launched itself comes before: it waits from then on.
        if (thread.weight == 0) waiting.insert(block.thread);
      }
      for (const std::size_t item : waited) {
        const std::uint32_t edge = draft_.Wait(block.end, end_node_[item], WaitsFor::kEnd, 0);
        graph_.blocked.push_back(call);
        graph_.blocked.back().edge = edge;
        if (block.thread == kNoNode) continue;
        graph_.blocked.back().own_edge = block.thread;
        graph_.blocked.back().own = graph_.edges[block.thread].weight;
      }
    }
    std::erase_if(host_,
                  [&](const HostStretch& stretch) { return waiting.contains(stretch.edge); });
  }

  void FindLast() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> last;  // by step and stream
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const std::int32_t step = graph_.nodes[begin_node_[i]].step;
      if (step < 0) continue;
      auto [found, is_new] = last.try_emplace({step, lane_[i]}, i);
      if (items_[i].work.end > items_[found->second].work.end) found->second = i;
    }
    graph_.last.resize(std::max<std::size_t>(1, steps_.Count()));
    for (const auto& [place, item] : last) {
      graph_.last[static_cast<std::size_t>(place.first)].push_back(end_node_[item]);
    }
  }

  GraphDraft& draft_;
  const RankTrace& trace_;
  const StepBounds& steps_;
  const std::vector<GraphItem>& items_;
  RankGraph& graph_;
  const HostChain& chain_;
  std::vector<HostStretch>& host_;
  const Intervals optimizer_, gradients_, clearing_;
  std::vector<std::uint32_t> begin_node_, end_node_;  // by item
  std::map<std::pair<std::int32_t, std::string>, std::int64_t> lanes_;
  std::vector<std::int64_t>
      lane_;  // by item: its stream, or one for operations that follow each other
  std::vector<std::pair<TimeNs, std::size_t>> by_end_;
};

}  // namespace

void AddDevice(GraphDraft& draft, const HostChain& chain, std::vector<HostStretch>& host) {
  DevicePart(draft, chain, host).Build();
}

}  // namespace mpa
