// SPDX-License-Identifier: Apache-2.0
#include "rank_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "graph_items.h"
#include "mpa/base/text.h"
#include "mpa/measure/collectives.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

constexpr auto kNoNode = std::numeric_limits<std::uint32_t>::max();
// An event recorded on one stream releases the wait on another within this time.
constexpr TimeNs kEventReach = 25'000;
// Device times may contradict each other by so much.
constexpr TimeNs kTolerance = 2'000;
// Who waits for an empty queue goes on within this time.
constexpr TimeNs kQueueReach = 20'000;
// Shorter waits found their event there.
constexpr TimeNs kShortWait = 1'000;
// Numbers of lanes begin here, away from those of streams.
constexpr std::int64_t kLanes = -1'000;
// What a call that waits for the device takes of its own.
constexpr TimeNs kOwnTimeOfWait = 4'000;

bool WaitsForDevice(std::string_view name) {
  return name.find("Synchronize") != std::string_view::npos || name.ends_with("@aclrtMemcpy") ||
         name == "cudaMemcpy";
}

// Of an operator: it reads from the device, or copies to it.
bool WaitsWithin(std::string_view name) {
  return name == "aten::_local_scalar_dense" || name == "aten::nonzero" || name == "aten::is_nonzero" ||
         name == "aten::copy_";
}

bool WaitsForAllStreams(std::string_view name) {
  return name.find("SynchronizeDevice") != std::string_view::npos || name == "cudaDeviceSynchronize";
}

// What happens on the threads that issue work, in order of time.
struct HostMoment {
  enum class Kind : std::uint8_t { kStepBegin, kEnqueue, kAsk, kLaunch, kBlockBegin, kBlockEnd, kStepEnd };
  TimeNs time = 0;
  Kind kind{};
  std::int32_t row = -1;  // of the steps, the queued work, the launches or the waiting calls
  std::int32_t track = -1;
};

class Builder {
 public:
  Builder(const RankTrace& trace, TimeNs host_offset, std::vector<HostStretch>& host)
      : trace_(trace), offset_(host_offset), host_(host), found_(FindGraphItems(trace)), items_(found_.items), steps_(trace) {}

  RankGraph Build() && {
    node_of_launch_.assign(found_.launches.size(), kNoNode);
    node_of_queued_.assign(trace_.queued_work.Size(), kNoNode);
    AddQueues();
    FindWaiting();
    AddIssue();
    JoinHost();
    AddDevice();
    AddBlocks();
    FindLast();
    return std::move(graph_);
  }

 private:
  using Kind = HostMoment::Kind;

  std::uint32_t Add(TimeNs start, TimeNs dur, NodeKind kind, TimeNs host_time, std::int32_t row) {
    return AddOfStep(start, dur, kind, host_time < 0 ? std::nullopt : steps_.OfHostTime(host_time), row);
  }
  std::uint32_t AddOfStep(TimeNs start, TimeNs dur, NodeKind kind, std::optional<std::size_t> step, std::int32_t row) {
    if (steps_.Count() == 0) step = 0;  // the whole capture
    graph_.nodes.push_back({start, dur, kind, step ? static_cast<std::int32_t>(*step) : -1, row});
    return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  }
  std::optional<std::size_t> StepOf(const GraphItem& item) const {
    if (item.launched >= 0) return steps_.OfLaunchedWork(item.launched, item.work.begin);
    return steps_.OfDeviceWork(item.work.link, item.work.begin);
  }
  std::uint32_t Wait(std::uint32_t node, std::uint32_t on, WaitsFor from, TimeNs weight) {
    graph_.edges.push_back({node, on, from, std::max<TimeNs>(0, weight)});
    return static_cast<std::uint32_t>(graph_.edges.size() - 1);
  }
  TimeNs OnDevice(TimeNs host_time) const { return host_time - offset_; }
  TimeNs StartOf(std::uint32_t node) const { return graph_.nodes[node].start; }

  // The threads of the task queue: pieces of work one after the other, with launches inside.
  void AddQueues() {
    struct Moment {
      TimeNs time;
      int kind;  // 0 launch, 1 end, 2 begin: at one time the end of one piece comes before the next
      std::int32_t row;
    };
    std::map<std::int32_t, std::vector<Moment>> threads;
    const QueuedWork& queued = trace_.queued_work;
    for (std::size_t i = 0; i < queued.Size(); ++i) {
      auto& moments = threads[queued.track[i]];
      moments.push_back({queued.start[i], 2, static_cast<std::int32_t>(i)});
      moments.push_back({queued.start[i] + queued.dur[i], 1, static_cast<std::int32_t>(i)});
    }
    for (std::size_t i = 0; i < found_.launches.size(); ++i) {
      const GraphLaunch& launch = found_.launches[i];
      if (launch.queued >= 0) threads[launch.track].push_back({launch.begin, 0, static_cast<std::int32_t>(i)});
    }
    for (auto& [track, moments] : threads) {
      queue_tracks_.insert(track);
      std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
        return std::pair{a.time, a.kind} < std::pair{b.time, b.kind};
      });
      std::uint32_t previous = kNoNode;
      bool between = true;  // no piece runs
      for (const Moment& moment : moments) {
        const bool is_launch = moment.kind == 0;
        const std::uint32_t node = Add(OnDevice(moment.time), 0, is_launch ? NodeKind::kLaunch : NodeKind::kQueue,
                                       moment.time, moment.row);
        if (previous != kNoNode) {
          const TimeNs work = between ? 0 : StartOf(node) - StartOf(previous);
          const std::uint32_t edge = Wait(node, previous, WaitsFor::kStart, work);
          if (work > 0) host_.push_back({edge, moment.time - work, moment.time, track, track});
        }
        if (is_launch) node_of_launch_[static_cast<std::size_t>(moment.row)] = node;
        if (moment.kind == 2) node_of_queued_[static_cast<std::size_t>(moment.row)] = node;
        if (moment.kind == 1) queue_ends_.emplace_back(moment.time, node);
        between = moment.kind == 1;
        previous = node;
      }
    }
    std::sort(queue_ends_.begin(), queue_ends_.end());
  }

  template <typename Table>
  void AddWaiting(const Table& table, bool is_op, bool (*waits)(std::string_view)) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      if (queue_tracks_.contains(table.track[i]) || !waits(trace_.strings.View(table.name[i]))) continue;
      waiting_.push_back({0, table.start[i], table.dur[i], table.track[i], table.name[i], is_op});
    }
  }

  // The least profiling records no calls of the runtime, but the operators that make them.
  void FindWaiting() {
    if (trace_.host_calls.Empty()) {
      AddWaiting(trace_.host_ops, true, WaitsWithin);
    } else {
      AddWaiting(trace_.host_calls, false, WaitsForDevice);
    }
  }

  std::vector<HostMoment> IssueMoments() const {
    std::vector<HostMoment> moments;
    for (std::size_t i = 0; i < steps_.Count(); ++i) {
      moments.push_back({steps_.HostBegin(i), Kind::kStepBegin, static_cast<std::int32_t>(i)});
      moments.push_back({steps_.HostEnd(i), Kind::kStepEnd, static_cast<std::int32_t>(i)});
    }
    for (std::size_t i = 0; i < trace_.queued_work.Size(); ++i) {
      moments.push_back({trace_.queued_work.queued[i] + trace_.queued_work.queued_dur[i], Kind::kEnqueue,
                         static_cast<std::int32_t>(i), trace_.queued_work.queued_track[i]});
    }
    for (std::size_t i = 0; i < found_.launches.size(); ++i) {
      if (found_.launches[i].queued >= 0) continue;
      const Kind kind = found_.launches[i].is_call ? Kind::kLaunch : Kind::kAsk;
      moments.push_back({found_.launches[i].begin, kind, static_cast<std::int32_t>(i), found_.launches[i].track});
    }
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const auto row = static_cast<std::int32_t>(i);
      moments.push_back({waiting_[i].begin, Kind::kBlockBegin, row, waiting_[i].track});
      moments.push_back({waiting_[i].begin + waiting_[i].dur, Kind::kBlockEnd, row, waiting_[i].track});
    }
    std::stable_sort(moments.begin(), moments.end(), [](const HostMoment& a, const HostMoment& b) {
      return std::pair{a.time, a.kind} < std::pair{b.time, b.kind};
    });
    return moments;
  }

  // One thread at a time issues work: the backward pass has a thread of its own, for which the main
  // thread waits. So the moments of all form one chain.
  void AddIssue() {
    std::uint32_t previous = kNoNode;
    HostMoment before;
    for (const HostMoment& moment : IssueMoments()) {
      const bool launches = moment.kind == Kind::kLaunch || moment.kind == Kind::kAsk;
      const NodeKind kind = launches ? NodeKind::kLaunch : NodeKind::kHost;
      const std::uint32_t node = Add(OnDevice(moment.time), 0, kind, moment.time, moment.row);
      std::uint32_t thread = kNoNode;
      if (previous != kNoNode) {
        const TimeNs work = OwnWork(before, moment);
        thread = Wait(node, previous, WaitsFor::kStart, work);
        const bool in_block = moment.kind == Kind::kBlockEnd && before.kind == Kind::kBlockBegin;
        if (!in_block && work > 0) {
          host_.push_back({thread, moment.time - work, moment.time, moment.track, before.track});
        }
      }
      previous = node;
      before = moment;
      const auto row = static_cast<std::size_t>(moment.row);
      switch (moment.kind) {
        case Kind::kEnqueue: enqueued_.emplace_back(node, node_of_queued_[row]); break;
        case Kind::kAsk: node_of_launch_[row] = node; break;
        case Kind::kLaunch:
          node_of_launch_[row] = node;
          WaitForQueue(node, moment.time);
          break;
        case Kind::kBlockBegin:
          begin_of_block_[moment.row] = node;
          WaitForQueue(node, moment.time);
          break;
        case Kind::kBlockEnd:
          blocks_.push_back({moment.row, begin_of_block_[moment.row], node, thread});
          break;
        case Kind::kStepEnd:
          if (graph_.last.size() <= row) graph_.last.resize(row + 1);
          graph_.last[row].push_back(node);
          break;
        case Kind::kStepBegin: break;
      }
    }
  }

  // The time between two moments without what the thread waited for an empty queue.
  TimeNs OwnWork(const HostMoment& before, const HostMoment& moment) const {
    const TimeNs between = moment.time - before.time;
    if (moment.kind != Kind::kLaunch && moment.kind != Kind::kBlockBegin) return between;
    const auto later = std::upper_bound(queue_ends_.begin(), queue_ends_.end(), std::pair{moment.time, kNoNode});
    if (later == queue_ends_.begin()) return between;
    const TimeNs empty = std::prev(later)->first;
    if (empty <= before.time || moment.time - empty > kQueueReach) return between;
    return moment.time - empty + std::min(empty - before.time, kQueueReach);
  }

  // What talks to the device itself waits until the queue is empty.
  void WaitForQueue(std::uint32_t node, TimeNs time) {
    const auto later = std::upper_bound(queue_ends_.begin(), queue_ends_.end(), std::pair{time, kNoNode});
    if (later != queue_ends_.begin()) Wait(node, std::prev(later)->second, WaitsFor::kStart, 0);
  }

  void JoinHost() {
    for (const auto& [enqueue, dequeue] : enqueued_) {
      if (dequeue != kNoNode) Wait(dequeue, enqueue, WaitsFor::kStart, 0);
    }
  }

  // The least time from a launch to the start of the work, where nothing else held it up.
  TimeNs LaunchLatency() const {
    std::vector<TimeNs> latencies;
    std::map<std::int64_t, TimeNs> busy_until;
    for (const GraphItem& item : items_) {
      TimeNs& busy = busy_until[item.work.stream];
      if (item.launch >= 0 && !item.waits && !item.IsOperation()) {
        const TimeNs launched = OnDevice(item.launched);
        if (busy <= launched) latencies.push_back(item.work.begin - launched);
      }
      busy = std::max(busy, item.work.end);
    }
    if (latencies.empty()) return 0;
    const auto tenth = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 10);
    std::nth_element(latencies.begin(), tenth, latencies.end());
    return std::max<TimeNs>(0, *tenth);
  }

  // Operations of a group follow each other; sending and receiving do not wait for each other.
  std::int64_t LaneOf(const GraphItem& item) {
    if (!item.IsOperation()) return item.work.stream;
    const auto row = static_cast<std::size_t>(item.work.row);
    const auto [found, is_new] = lanes_.try_emplace(
        {trace_.communications.group[row], CollectiveKindOf(trace_, row)}, kLanes - static_cast<std::int64_t>(lanes_.size()));
    return found->second;
  }

  void AddDevice() {
    const TimeNs latency = LaunchLatency();
    begin_node_.assign(items_.size(), kNoNode);
    end_node_.assign(items_.size(), kNoNode);
    lane_.resize(items_.size());
    std::map<std::int64_t, std::size_t> previous;  // item by lane
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const GraphItem& item = items_[i];
      const DeviceItem& work = item.work;
      if (item.IsOperation()) {
        begin_node_[i] = AddOfStep(work.begin, 0, NodeKind::kArrive, StepOf(item), work.row);
        end_node_[i] = AddOfStep(work.end, 0, NodeKind::kLeave, StepOf(item), work.row);
        graph_.collectives.push_back({begin_node_[i], end_node_[i], work.row});
      } else if (item.waits) {
        begin_node_[i] = end_node_[i] = AddOfStep(work.end, 0, NodeKind::kWait, StepOf(item), work.row);
      } else {
        const NodeKind kind = IsDeviceCopy(work.leaf) ? NodeKind::kCopy : NodeKind::kKernel;
        begin_node_[i] = end_node_[i] = AddOfStep(work.begin, work.end - work.begin, kind, StepOf(item), work.row);
        graph_.nodes.back().leaf = work.leaf;
      }
      if (item.launch >= 0 && node_of_launch_[static_cast<std::size_t>(item.launch)] != kNoNode) {
        Wait(begin_node_[i], node_of_launch_[static_cast<std::size_t>(item.launch)], WaitsFor::kStart, latency);
      }
      lane_[i] = LaneOf(item);
      if (const auto before = previous.find(lane_[i]); before != previous.end()) {
        Wait(begin_node_[i], end_node_[before->second], WaitsFor::kEnd, 0);
      }
      previous[lane_[i]] = i;
    }
    AddEvents();
  }

  std::vector<std::size_t> ByLaunch() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].launched >= 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return items_[a].launched < items_[b].launched;
    });
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
          if (!dependency || items_[*dependency].launched <= items_[candidate].launched) dependency = candidate;
        }
        if (dependency) Wait(begin_node_[i], end_node_[*dependency], WaitsFor::kEnd, 0);
      }
      if (item.waits && item.work.end - item.work.begin > kShortWait) AddReleasing(i);
      last[lane_[i]] = i;
    }
  }

  // What ended just when the wait did.
  void AddReleasing(std::size_t wait) {
    if (by_end_.empty()) {
      for (std::size_t i = 0; i < items_.size(); ++i) {
        if (!items_[i].waits) by_end_.emplace_back(items_[i].work.end, i);
      }
      std::sort(by_end_.begin(), by_end_.end());
    }
    const TimeNs end = items_[wait].work.end;
    auto at = std::upper_bound(by_end_.begin(), by_end_.end(), std::pair{end, items_.size()});
    while (at != by_end_.begin() && (--at)->first >= end - kEventReach) {
      if (lane_[at->second] == lane_[wait]) continue;
      Wait(begin_node_[wait], end_node_[at->second], WaitsFor::kEnd, 0);
      return;
    }
  }

  struct Block {
    std::int32_t call;
    std::uint32_t begin, end, thread;
  };

  // What a blocking call waited for: the last work launched before it that had ended when it ended.
  void AddBlocks() {
    const std::vector<std::size_t> by_launch = ByLaunch();
    std::map<std::int64_t, std::size_t> last;  // by stream
    std::size_t next = 0;
    std::vector<std::size_t> order(blocks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return StartOf(blocks_[a].begin) < StartOf(blocks_[b].begin);
    });
    for (const std::size_t number : order) {
      const Block& block = blocks_[number];
      const BlockedCall& call = waiting_[static_cast<std::size_t>(block.call)];
      const TimeNs begin = call.begin;
      const TimeNs end = OnDevice(begin + call.dur);
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
      if (!latest || items_[*latest].work.end <= OnDevice(begin)) continue;  // it did not wait
      if (!WaitsForAllStreams(trace_.strings.View(call.name))) waited = {*latest};
      if (block.thread != kNoNode) {
        GraphEdge& thread = graph_.edges[block.thread];
        thread.weight = thread.on == block.begin ? std::min(thread.weight, kOwnTimeOfWait) : 0;
      }
      for (const std::size_t item : waited) {
        const std::uint32_t edge = Wait(block.end, end_node_[item], WaitsFor::kEnd, 0);
        graph_.blocked.push_back(call);
        graph_.blocked.back().edge = edge;
      }
    }
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

  const RankTrace& trace_;
  const TimeNs offset_;
  std::vector<HostStretch>& host_;
  const GraphItems found_;
  const std::vector<GraphItem>& items_;
  const StepBounds steps_;
  RankGraph graph_;
  std::set<std::int32_t> queue_tracks_;
  std::vector<std::uint32_t> node_of_launch_, node_of_queued_, begin_node_, end_node_;
  std::vector<std::pair<TimeNs, std::uint32_t>> queue_ends_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> enqueued_;
  std::map<std::int32_t, std::uint32_t> begin_of_block_;
  std::vector<BlockedCall> waiting_;
  std::vector<Block> blocks_;
  std::map<std::pair<std::int32_t, std::string>, std::int64_t> lanes_;
  std::vector<std::int64_t> lane_;  // by item: its stream, or one for operations that follow each other
  std::vector<std::pair<TimeNs, std::size_t>> by_end_;
};

}  // namespace

RankGraph BuildRankGraph(const RankTrace& trace, TimeNs host_offset, std::vector<HostStretch>& host) {
  return Builder(trace, host_offset, host).Build();
}

}  // namespace mpa
