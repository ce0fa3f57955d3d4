// SPDX-License-Identifier: Apache-2.0
#include "far_nodes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mpa/measure/host_places.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/time_category.h"

namespace mpa {
namespace {

// Of a name and a node: fewer operators do not show what is usual.
constexpr std::size_t kFewOperators = 5;
// Of all names together.
constexpr std::size_t kEnoughOperators = 20;
// On the other node they take this many times as long, and names with this share of their time do.
constexpr double kSlower = 1.2, kMostOfThem = 0.75;

// An operator, or a call that launches, which ran on one node from its begin to its end.
struct OnNode {
  std::int32_t node = -1;
  TimeNs start = 0, running = 0;
};

struct FarNode {
  double ratio = 0;  // to the node where the thread ran before
  TimeNs since = 0;  // from when on it is another node
  std::size_t operators = 0;
};

// The operators of one thread.
class ThreadOnNodes {
 public:
  ThreadOnNodes(const RankTrace& trace, const ThreadTimes& threads, std::int64_t thread)
      : states_(trace.thread_states), threads_(threads), thread_(thread) {}

  void Add(StringId name, TimeNs begin, TimeNs end) {
    OnNode one{.start = begin};
    bool is_mixed = false;
    threads_.Walk(thread_, {begin, end}, [&](const ThreadPiece& piece) {
      is_mixed = is_mixed || piece.doing == ThreadDoing::kUnknown;
      if (piece.doing != ThreadDoing::kRunning) return;
      const std::int32_t node = states_.node[static_cast<std::size_t>(piece.row)];
      is_mixed = is_mixed || node < 0 || (one.node >= 0 && one.node != node);
      one.node = node;
      one.running += piece.end - piece.begin;
    });
    if (is_mixed || one.node < 0) return;
    of_name_[name].push_back(one);
    const auto [first, is_new] = first_.try_emplace(one.node, begin);
    first->second = std::min(first->second, begin);
  }

  // By node, those on which operators take longer than on another one before.
  std::map<std::int32_t, FarNode> FarNodes() const {
    std::map<std::int32_t, FarNode> far;
    for (const auto& [home, since] : first_) {
      for (const auto& [node, _] : first_) {
        const auto found = node == home ? std::nullopt : Compare(home, node, since);
        if (!found) continue;
        FarNode& best = far[node];
        if (found->operators > best.operators) best = *found;
      }
    }
    return far;
  }

 private:
  // What ran on the node before the thread was at home proves nothing: a program warms up.
  std::optional<FarNode> Compare(std::int32_t home, std::int32_t node, TimeNs since) const {
    double at_home = 0, away = 0, slower = 0;
    std::size_t all = 0;
    for (const auto& [name, operators] : of_name_) {
      std::vector<std::int64_t> here, there;
      for (const OnNode& one : operators) {
        if (one.node == home) here.push_back(one.running);
        if (one.node == node && one.start > since) there.push_back(one.running);
      }
      if (here.size() < kFewOperators || there.size() < kFewOperators) continue;
      all += there.size();
      const auto count = static_cast<double>(there.size());
      const double usual = count * static_cast<double>(Median(std::move(here)));
      const double moved = count * static_cast<double>(Median(std::move(there)));
      at_home += usual;
      away += moved;
      if (moved > usual) slower += usual;
    }
    const bool is_slower = all >= kEnoughOperators && at_home > 0 && away >= kSlower * at_home &&
                           slower >= kMostOfThem * at_home;
    if (!is_slower) return std::nullopt;
    return FarNode{away / at_home, since, all};
  }

  const ThreadStates& states_;
  const ThreadTimes& threads_;
  std::int64_t thread_;
  std::map<StringId, std::vector<OnNode>> of_name_;
  std::map<std::int32_t, TimeNs> first_;  // begin of the first operator, by node
};

using FarOfThreads = std::map<std::int64_t, std::map<std::int32_t, FarNode>>;

FarOfThreads FindFarNodes(const RankTrace& trace, const ThreadTimes& threads,
                          const std::vector<HostStretch>& stretches) {
  std::set<std::int32_t> tracks;
  for (const HostStretch& stretch : stretches) tracks.insert(stretch.track);
  const Nesting ops(OpSpans(trace)), calls(SpansOf(trace.host_calls));
  NamedClasses<TimeCategory> of_op(trace.strings, ClassOfOp), of_call(trace.strings, ClassOfCall);
  FarOfThreads far;
  // Those that hold no others, and whose time is their own: not waits for the device.
  for (const std::int32_t track : tracks) {
    const std::int64_t thread = ThreadOfTrack(trace, track);
    ThreadOnNodes on_nodes(trace, threads, thread);
    const auto add = [&](const auto& table, const Nesting& nesting, auto& classes) {
      for (const std::uint32_t row : nesting.OnTrack(track)) {
        if (nesting.Children(row).empty() && IsIssuing(classes.Of(table.name[row])))
          on_nodes.Add(table.name[row], nesting.At(row).start, nesting.At(row).end);
      }
    };
    add(trace.host_ops, ops, of_op);
    // Of a thread that takes operators out of a queue.
    if (ops.OnTrack(track).empty()) add(trace.host_calls, calls, of_call);
    far[thread] = on_nodes.FarNodes();
  }
  return far;
}

}  // namespace

void AddFarTimes(const RankTrace& trace, const ThreadTimes& threads,
                 const std::vector<HostStretch>& stretches, PartNames& names, RankDiagnosis& part) {
  if (part.scheduler.far_moves <= 0) return;  // also where nodes are not known
  const FarOfThreads far = FindFarNodes(trace, threads, stretches);
  for (const HostStretch& stretch : stretches) {
    const std::int64_t thread = ThreadOfTrack(trace, stretch.track);
    const auto& nodes = far.at(thread);
    if (nodes.empty() || stretch.end <= stretch.begin) continue;
    std::map<std::int32_t, ThreadWait> waits;
    threads.Walk(thread, {stretch.begin, stretch.end}, [&](const ThreadPiece& piece) {
      if (piece.doing != ThreadDoing::kRunning) return;
      const auto row = static_cast<std::size_t>(piece.row);
      const auto node = nodes.find(trace.thread_states.node[row]);
      if (node == nodes.end() || piece.begin < node->second.since) return;
      ThreadWait& wait = waits[node->first];
      const TimeNs time = piece.end - piece.begin;
      ++wait.count;
      wait.time += static_cast<TimeNs>(static_cast<double>(time) * (1 - 1 / node->second.ratio));
      if (time <= wait.longest) return;
      wait.longest = time;
      wait.start = piece.begin;
      wait.core = trace.thread_states.core[row];
    });
    for (auto& [node, wait] : waits) {
      wait.edge = stretch.edge;
      wait.doing = ThreadDoing::kRunning;
      wait.name = names.Of("NUMA node " + std::to_string(node) + " -> " +
                           std::string(trace.strings.View(threads.NameOfThread(thread))));
      part.scheduler.far_ratio = std::max(part.scheduler.far_ratio, nodes.at(node).ratio);
      part.scheduler.waits.push_back(wait);
    }
  }
  std::ranges::stable_sort(part.scheduler.waits, {}, &ThreadWait::edge);
}

}  // namespace mpa
