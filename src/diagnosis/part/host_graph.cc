// SPDX-License-Identifier: Apache-2.0
// The host's part of the graph of a rank: the threads that issue work, and the task queue.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/part/graph_draft.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// A thread that waits for an empty queue continues within this time.
constexpr TimeNs kQueueReach = 20'000;

bool WaitsForDevice(std::string_view name) {
  return name.find("Synchronize") != std::string_view::npos || name.ends_with("@aclrtMemcpy") ||
         name == "cudaMemcpy" || name == "hipMemcpy" || name == "hipMemcpyWithStream";
}

// Of an operator: it reads from the device, or copies to it.
bool WaitsWithin(std::string_view name) {
  return name == "aten::_local_scalar_dense" || name == "aten::nonzero" ||
         name == "aten::is_nonzero" || name == "aten::copy_";
}

// What happens on the threads that issue work, in order of time.
struct HostMoment {
  enum class Kind : std::uint8_t {
    kStepBegin,
    kEnqueue,
    kAsk,
    kLaunch,
    kBlockBegin,
    kBlockEnd,
    kStepEnd
  };
  TimeNs time = 0;
  Kind kind{};
  std::int32_t row = -1;  // of the steps, the queued work, the launches or the waiting calls
  std::int32_t track = -1;
};

class HostPart {
 public:
  HostPart(GraphDraft& draft, std::vector<HostStretch>& host)
      : draft_(draft),
        trace_(draft.trace),
        found_(draft.found),
        steps_(draft.steps),
        graph_(draft.graph),
        host_(host) {}

  HostChain Build() && {
    chain_.node_of_launch.assign(found_.launches.size(), kNoNode);
    node_of_queued_.assign(trace_.queued_work.Size(), kNoNode);
    AddQueues();
    FindIssuingTracks();
    FindWaiting();
    AddIssue();
    JoinQueues();
    return std::move(chain_);
  }

 private:
  using Kind = HostMoment::Kind;

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
      if (launch.queued >= 0)
        threads[launch.track].push_back({launch.begin, 0, static_cast<std::int32_t>(i)});
    }
    for (auto& [track, moments] : threads) {
      queue_tracks_.insert(track);
      StableSort(moments, [](const Moment& a, const Moment& b) {
        return std::pair{a.time, a.kind} < std::pair{b.time, b.kind};
      });
      std::uint32_t previous = kNoNode;
      bool between = true;  // no piece runs
      for (const Moment& moment : moments) {
        const bool is_launch = moment.kind == 0;
        const NodeKind kind = is_launch ? NodeKind::kLaunch : NodeKind::kQueue;
        const std::uint32_t node =
            draft_.Add(draft_.OnDevice(moment.time), 0, kind, moment.time, moment.row);
        if (previous != kNoNode) {
          const TimeNs work = between ? 0 : draft_.StartOf(node) - draft_.StartOf(previous);
          const std::uint32_t edge = draft_.Wait(node, previous, WaitsFor::kStart, work);
          if (work > 0) host_.push_back({edge, moment.time - work, moment.time, track, track});
        }
        if (is_launch) chain_.node_of_launch[static_cast<std::size_t>(moment.row)] = node;
        if (moment.kind == 2) node_of_queued_[static_cast<std::size_t>(moment.row)] = node;
        if (moment.kind == 1) queue_ends_.emplace_back(moment.time, node);
        between = moment.kind == 1;
        previous = node;
      }
    }
    std::ranges::sort(queue_ends_);
  }

  template <typename Table>
  void AddWaiting(const Table& table, bool is_op, bool (*waits)(std::string_view)) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      const bool issues = issuing_tracks_.empty() ? !queue_tracks_.contains(table.track[i])
                                                  : issuing_tracks_.contains(table.track[i]);
      if (!issues || !waits(trace_.strings.View(table.name[i]))) continue;
      if constexpr (requires { table.replayed; }) {
        if (table.replayed[i] != 0) continue;  // a graph that is launched waits for nothing
      }
      chain_.waiting.push_back(
          {0, table.start[i], table.dur[i], table.track[i], table.name[i], is_op});
    }
  }

  // Threads that issue no work (watchdogs, monitors, loaders) delay none: they wait for their own.
  void FindIssuingTracks() {
    issuing_tracks_.insert(trace_.queued_work.queued_track.begin(),
                           trace_.queued_work.queued_track.end());
    for (const GraphLaunch& launch : found_.launches) issuing_tracks_.insert(launch.track);
    for (std::size_t i = 0; i < trace_.host_ops.Size(); ++i) {
      if (IsStepMark(trace_.strings.View(trace_.host_ops.name[i])))
        issuing_tracks_.insert(trace_.host_ops.track[i]);
    }
    for (const std::int32_t track : queue_tracks_) issuing_tracks_.erase(track);
  }

  bool ListsRuntimeCalls() const {
    const HostOps& ops = trace_.host_ops;
    NamedClasses<bool> calls(trace_.strings, IsRuntimeCall);
    return std::ranges::any_of(ops.name, [&](StringId name) { return calls.Of(name); });
  }

  // The least profiling records no calls of the runtime, but the operators that make them. Traces
  // of GPUs list the calls among the operators.
  void FindWaiting() {
    if (!trace_.host_calls.Empty()) {
      AddWaiting(trace_.host_calls, false, WaitsForDevice);
    } else {
      const bool lists_calls = trace_.device == DeviceKind::kGpu && ListsRuntimeCalls();
      if (lists_calls) AddWaiting(trace_.host_ops, false, WaitsForDevice);
      const std::vector<BlockedCall> calls = InOrder(chain_.waiting);
      AddWaiting(trace_.host_ops, true, WaitsWithin);
      if (lists_calls) DropOperatorsWithout(calls);
    }
    DropNestedWaits();
  }

  static std::vector<BlockedCall> InOrder(std::vector<BlockedCall> calls) {
    StableSort(calls, {}, [](const BlockedCall& call) {
      return std::pair{call.track, call.begin};
    });
    return calls;
  }

  // An operator that copies within the device, or without blocking, waits for nothing: it makes
  // none of the calls that wait.
  void DropOperatorsWithout(const std::vector<BlockedCall>& calls) {
    std::erase_if(chain_.waiting, [&](const BlockedCall& op) {
      if (!op.is_op) return false;
      const auto first = std::ranges::lower_bound(calls, std::pair{op.track, op.begin}, {},
                                                  [](const BlockedCall& call) {
                                                    return std::pair{call.track, call.begin};
                                                  });
      return first == calls.end() || first->track != op.track ||
             first->begin + first->dur > op.begin + op.dur;
    });
  }

  // A call of one layer waits in calls of the layers below it, which is one wait: the outermost.
  void DropNestedWaits() {
    std::vector<BlockedCall>& calls = chain_.waiting;
    StableSort(calls, [](const BlockedCall& a, const BlockedCall& b) {
      return std::tuple{a.track, a.begin, -a.dur} < std::tuple{b.track, b.begin, -b.dur};
    });
    std::int32_t track = -1;
    TimeNs outer_end = 0;
    std::erase_if(calls, [&](const BlockedCall& call) {
      const TimeNs end = call.begin + call.dur;
      if (call.track == track && end <= outer_end) return true;
      track = call.track;
      outer_end = end;
      return false;
    });
  }

  std::vector<HostMoment> IssueMoments() const {
    std::vector<HostMoment> moments;
    for (std::size_t i = 0; i < steps_.Count(); ++i) {
      moments.push_back({steps_.HostBegin(i), Kind::kStepBegin, static_cast<std::int32_t>(i)});
      moments.push_back({steps_.HostEnd(i), Kind::kStepEnd, static_cast<std::int32_t>(i)});
    }
    for (std::size_t i = 0; i < trace_.queued_work.Size(); ++i) {
      moments.push_back({trace_.queued_work.queued[i] + trace_.queued_work.queued_dur[i],
                         Kind::kEnqueue, static_cast<std::int32_t>(i),
                         trace_.queued_work.queued_track[i]});
    }
    for (std::size_t i = 0; i < found_.launches.size(); ++i) {
      if (found_.launches[i].queued >= 0) continue;
      const Kind kind = found_.launches[i].is_call ? Kind::kLaunch : Kind::kAsk;
      moments.push_back(
          {found_.launches[i].begin, kind, static_cast<std::int32_t>(i), found_.launches[i].track});
    }
    for (std::size_t i = 0; i < chain_.waiting.size(); ++i) {
      const BlockedCall& call = chain_.waiting[i];
      const auto row = static_cast<std::int32_t>(i);
      moments.push_back({call.begin, Kind::kBlockBegin, row, call.track});
      moments.push_back({call.begin + call.dur, Kind::kBlockEnd, row, call.track});
    }
    StableSort(moments, [](const HostMoment& a, const HostMoment& b) {
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
      const std::uint32_t node =
          draft_.Add(draft_.OnDevice(moment.time), 0, kind, moment.time, moment.row);
      std::uint32_t thread = kNoNode;
      if (previous != kNoNode) {
        const TimeNs work = OwnWork(before, moment);
        thread = draft_.Wait(node, previous, WaitsFor::kStart, work);
        const bool in_block = moment.kind == Kind::kBlockEnd && before.kind == Kind::kBlockBegin;
        if (!in_block && work > 0) {
          host_.push_back({thread, moment.time - work, moment.time, moment.track, before.track});
        }
      }
      previous = node;
      before = moment;
      const auto row = static_cast<std::size_t>(moment.row);
      switch (moment.kind) {
        case Kind::kEnqueue:
          enqueued_.emplace_back(node, node_of_queued_[row]);
          break;
        case Kind::kAsk:
          chain_.node_of_launch[row] = node;
          break;
        case Kind::kLaunch:
          chain_.node_of_launch[row] = node;
          WaitForQueue(node, moment.time);
          break;
        case Kind::kBlockBegin:
          begin_of_block_[moment.row] = node;
          WaitForQueue(node, moment.time);
          break;
        case Kind::kBlockEnd:
          chain_.blocks.push_back({moment.row, begin_of_block_[moment.row], node, thread});
          break;
        case Kind::kStepEnd:
          if (graph_.last.size() <= row) graph_.last.resize(row + 1);
          graph_.last[row].push_back(node);
          break;
        case Kind::kStepBegin:
          break;
      }
    }
  }

  // The time between two moments without what the thread waited for an empty queue.
  TimeNs OwnWork(const HostMoment& before, const HostMoment& moment) const {
    const TimeNs between = moment.time - before.time;
    if (moment.kind != Kind::kLaunch && moment.kind != Kind::kBlockBegin) return between;
    const auto later =
        std::upper_bound(queue_ends_.begin(), queue_ends_.end(), std::pair{moment.time, kNoNode});
    if (later == queue_ends_.begin()) return between;
    const TimeNs empty = std::prev(later)->first;
    if (empty <= before.time || moment.time - empty > kQueueReach) return between;
    return moment.time - empty + std::min(empty - before.time, kQueueReach);
  }

  // What talks to the device itself waits until the queue is empty.
  void WaitForQueue(std::uint32_t node, TimeNs time) {
    const auto later =
        std::upper_bound(queue_ends_.begin(), queue_ends_.end(), std::pair{time, kNoNode});
    if (later != queue_ends_.begin())
      draft_.Wait(node, std::prev(later)->second, WaitsFor::kStart, 0);
  }

  void JoinQueues() {
    for (const auto& [enqueue, dequeue] : enqueued_) {
      if (dequeue != kNoNode) draft_.Wait(dequeue, enqueue, WaitsFor::kStart, 0);
    }
  }

  GraphDraft& draft_;
  const RankTrace& trace_;
  const GraphItems& found_;
  const StepBounds& steps_;
  RankGraph& graph_;
  std::vector<HostStretch>& host_;
  HostChain chain_;
  std::set<std::int32_t> queue_tracks_, issuing_tracks_;
  std::vector<std::uint32_t> node_of_queued_;
  std::vector<std::pair<TimeNs, std::uint32_t>> queue_ends_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> enqueued_;
  std::map<std::int32_t, std::uint32_t> begin_of_block_;
};

}  // namespace

HostChain AddHost(GraphDraft& draft, std::vector<HostStretch>& host) {
  return HostPart(draft, host).Build();
}

}  // namespace mpa
