// SPDX-License-Identifier: Apache-2.0
// Several replays at once.
#include <algorithm>
#include <limits>

#include "mpa/base/parallel.h"
#include "mpa/diagnosis/replay/replay.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {
namespace {

constexpr TimeNs kHoldsNothing = std::numeric_limits<TimeNs>::min();

bool Has(std::uint8_t bits, std::size_t set) { return (bits >> set & 1) != 0; }

}  // namespace

Replays::Replays(const ReplayGraph& graph)
    : graph_(graph), of_step_(graph.steps_.size(), 0), of_node_(graph.Nodes(), 0) {}

Replays::Change& Replays::EdgeChange(ReplayGraph::Edge edge) {
  const std::uint32_t step = graph_.step_of_edge_[edge];
  if (of_step_[step] == 0) {
    changed_steps_.push_back(step);
    changes_.emplace_back();
    of_step_[step] = static_cast<std::uint32_t>(changes_.size());
  }
  return changes_[of_step_[step] - 1];
}

Replays::Change& Replays::NodeChange(ReplayGraph::Node node) {
  if (of_node_[node] == 0) {
    changed_nodes_.push_back(node);
    changes_.emplace_back();
    of_node_[node] = static_cast<std::uint32_t>(changes_.size());
  }
  return changes_[of_node_[node] - 1];
}

void Replays::Add(const Removal& removal, SetRange range) {
  const auto less = [&](Change& change, TimeNs time) {
    for (std::size_t set = range.first; set < range.end; ++set) change.less[set] += time;
  };
  const auto mark = [&](Change& change) {
    for (std::size_t set = range.first; set < range.end; ++set)
      change.marked |= static_cast<std::uint8_t>(1u << set);
  };
  for (const auto& [node, time] : removal.durations) less(NodeChange(node), time);
  for (const ReplayGraph::Node node : removal.prompt) mark(NodeChange(node));
  for (const auto& [edge, time] : removal.waits) {
    if (!graph_.IsDropped(edge)) less(EdgeChange(edge), time);
  }
  for (const ReplayGraph::Edge edge : removal.cuts) {
    if (!graph_.IsDropped(edge)) mark(EdgeChange(edge));
  }
}

void Replays::Forget() {
  for (const std::uint32_t step : changed_steps_) of_step_[step] = 0;
  for (const std::uint32_t node : changed_nodes_) of_node_[node] = 0;
  changed_steps_.clear();
  changed_nodes_.clear();
  changes_.clear();
}

void Replays::Run(std::span<const Removal* const> common,
                  std::span<const std::vector<const Removal*>> sets) {
  Forget();
  sets_ = 1;
  while (sets_ < sets.size()) sets_ *= 2;
  for (const Removal* removal : common) Add(*removal, {0, sets_});
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const Removal* removal : sets[set]) Add(*removal, {set, set + 1});
  }
  if (const std::size_t room = graph_.Nodes() * sets_; room > room_) {
    start_.reset();  // before there is more of it
    start_ = std::make_unique_for_overwrite<TimeNs[]>(room);
    room_ = room;
  }
  switch (sets_) {
    case 1:
      return Pass<1>();
    case 2:
      return Pass<2>();
    default:
      return Pass<kMax>();
  }
}

template <std::size_t kSets>
void Replays::Pass() {
  TimeNs* const start = start_.get();
  for (std::uint32_t i = 0; i < graph_.order_.size(); ++i) {
    const ReplayGraph::Node node = graph_.order_[i];
    std::array<TimeNs, kSets> latest;
    latest.fill(kHoldsNothing);
    for (std::uint32_t at = graph_.first_step_[i]; at < graph_.first_step_[i + 1]; ++at) {
      const ReplayGraph::Step& step = graph_.steps_[at];
      const TimeNs* const from = start + step.on * kSets;
      const TimeNs dur = step.from_end ? graph_.dur_[step.on] : 0;
      const std::uint32_t of_step = of_step_[at], of_node = step.from_end ? of_node_[step.on] : 0;
      if ((of_step | of_node) == 0) {
        const TimeNs time = dur + step.weight;
        for (std::size_t set = 0; set < kSets; ++set)
          latest[set] = std::max(latest[set], from[set] + time);
        continue;
      }
      for (std::size_t set = 0; set < kSets; ++set) {
        TimeNs time =
            of_node == 0 ? dur : std::max<TimeNs>(0, dur - changes_[of_node - 1].less[set]);
        if (of_step == 0) {
          time += step.weight;
        } else {
          const Change& change = changes_[of_step - 1];
          if (Has(change.marked, set)) continue;
          time += std::max<TimeNs>(0, step.weight - change.less[set]);
        }
        latest[set] = std::max(latest[set], from[set] + time);
      }
    }
    const TimeNs lag = graph_.lag_[node];
    const std::uint8_t prompt =
        of_node_[node] == 0 ? std::uint8_t{0} : changes_[of_node_[node] - 1].marked;
    for (std::size_t set = 0; set < kSets; ++set) {
      const TimeNs own = Has(prompt, set) ? std::min<TimeNs>(0, lag) : lag;
      start[node * kSets + set] =
          latest[set] == kHoldsNothing ? graph_.start_[node] : latest[set] + own;
    }
  }
}

TimeNs Replays::Duration(std::size_t set, ReplayGraph::Node node) const {
  const TimeNs less = of_node_[node] == 0 ? 0 : changes_[of_node_[node] - 1].less[set];
  return std::max<TimeNs>(0, graph_.dur_[node] - less);
}

// How long steps take with some work taken out.

namespace {

// So many threads replay: the room for replays of a large graph is large.
constexpr std::size_t kWorkers = 2;

// Ranks may have unequally many steps: no step ends before the one ahead of it.
template <typename StartOf, typename EndOf>
TimeNs MeanStep(const ReplaySteps& steps, StartOf start_of, EndOf end_of) {
  TimeNs begin = steps.begin;
  if (!steps.opening.empty()) {
    TimeNs opened = start_of(steps.opening.front());
    for (const ReplayGraph::Node node : steps.opening) opened = std::min(opened, start_of(node));
    begin += opened - steps.opened;
  }
  TimeNs end = begin;
  for (std::size_t step = 0; step < steps.last.size(); ++step) {
    if (step == steps.first) begin = end;
    for (const ReplayGraph::Node node : steps.last[step]) end = std::max(end, end_of(node));
  }
  return (end - begin) / static_cast<TimeNs>(steps.last.size() - steps.first);
}

}  // namespace

StepReplays::StepReplays(const ReplayGraph& graph, const ReplaySteps& steps)
    : graph_(graph), steps_(steps) {}

void StepReplays::ForEach(
    std::span<const Removal* const> common, std::span<const Removals> sets,
    const std::function<void(std::size_t, const Replays&, std::size_t)>& visit) {
  const std::size_t most = std::min(Replays::kMax, (sets.size() + kWorkers - 1) / kWorkers);
  const std::size_t workers = std::min(kWorkers, sets.size());
  while (workers_.size() < workers) workers_.emplace_back(graph_);
  ParallelFor(workers, [&](std::size_t worker) {
    for (std::size_t first = worker * most; first < sets.size(); first += kWorkers * most) {
      const std::size_t count = std::min(most, sets.size() - first);
      workers_[worker].Run(common, sets.subspan(first, count));
      for (std::size_t i = 0; i < count; ++i) visit(first + i, workers_[worker], i);
    }
  });
}

std::vector<TimeNs> StepReplays::Times(std::span<const Removal* const> common,
                                       std::span<const Removals> sets) {
  std::vector<TimeNs> times(sets.size(), 0);
  ForEach(common, sets, [&](std::size_t number, const Replays& replays, std::size_t set) {
    const auto start_of = [&](ReplayGraph::Node node) { return replays.Start(set, node); };
    times[number] = MeanStep(steps_, start_of, [&](ReplayGraph::Node node) {
      return start_of(node) + replays.Duration(set, node);
    });
  });
  return times;
}

TimeNs RecordedStepTime(const ReplayGraph& graph, const ReplaySteps& steps) {
  const auto start_of = [&](ReplayGraph::Node node) { return graph.Start(node); };
  return MeanStep(steps, start_of,
                  [&](ReplayGraph::Node node) { return start_of(node) + graph.Duration(node); });
}

TimeNs StepTime(const ReplayGraph& graph, const ReplaySteps& steps,
                std::span<const Removal* const> removals) {
  return StepReplays(graph, steps).Time({removals.begin(), removals.end()});
}

}  // namespace mpa
