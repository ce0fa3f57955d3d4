// SPDX-License-Identifier: Apache-2.0
// How long steps take with some work taken out.
#include <algorithm>

#include "mpa/base/parallel.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {
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
  const std::size_t most = std::min(Replays::kMost, (sets.size() + kWorkers - 1) / kWorkers);
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
