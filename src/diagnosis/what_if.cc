// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/what_if.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "mpa/base/parallel.h"

namespace mpa {
namespace {

using Removals = std::vector<const Removal*>;

// How many causes are tried in pairs, by the time they take alone: a bound of the work, since six make
// fifteen replays.
constexpr std::size_t kPaired = 6;

TimeNs Taken(const Removal& removal) {
  TimeNs sum = 0;
  for (const auto& node : removal.durations) sum += node.less;
  for (const auto& edge : removal.waits) sum += edge.less;
  return sum;
}

class Search {
 public:
  Search(const ReplayGraph& graph, const ReplaySteps& steps, const std::vector<WhatIf>& causes,
         TimeNs least, TimeNs least_of_two)
      : graph_(graph), steps_(steps), causes_(causes), least_(least), least_of_two_(least_of_two), open_(causes.size(), true) {
    for (const WhatIf& cause : causes) taken_.push_back(Taken(cause.expect));
  }

  Waterfall Run() && {
    now_ = result_.step = StepTime(graph_, steps_, made_);
    Causes all(causes_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    alone_ = GainsOf(EachOf(all));
    for (const bool opportunities : {false, true}) {
      while (TakeBest(opportunities) || TakePair(opportunities)) {
      }
    }
    result_.floor = now_;
    result_.alone = std::move(alone_);
    return std::move(result_);
  }

 private:
  using Causes = std::vector<std::size_t>;

  // Each by itself.
  static std::vector<Causes> EachOf(const Causes& causes) {
    std::vector<Causes> sets;
    for (const std::size_t cause : causes) sets.push_back({cause});
    return sets;
  }

  // What each of several sets of causes wins beyond what is made. A replay needs memory for the whole
  // graph, so few of them run at once.
  std::vector<TimeNs> GainsOf(const std::vector<Causes>& sets) const {
    constexpr std::size_t kAtOnce = 4;
    std::vector<TimeNs> gains(sets.size(), 0);
    ParallelFor(std::min(kAtOnce, sets.size()), [&](std::size_t first) {
      for (std::size_t i = first; i < sets.size(); i += kAtOnce) gains[i] = now_ - With(sets[i]);
    });
    return gains;
  }

  TimeNs With(const Causes& more, bool bound = false) const {
    Removals all = made_;
    for (const std::size_t i : more) {
      const Removal& most = causes_[i].bound;
      all.push_back(bound && Taken(most) > 0 ? &most : &causes_[i].expect);
    }
    return StepTime(graph_, steps_, all);
  }

  Causes OpenCauses(bool opportunities) const {
    Causes open;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
      if (open_[i] && causes_[i].opportunity == opportunities) open.push_back(i);
    }
    return open;
  }

  bool TakeBest(bool opportunities) {
    const Causes open = OpenCauses(opportunities);
    std::vector<TimeNs> gains;
    if (made_.empty()) {
      for (const std::size_t cause : open) gains.push_back(alone_[cause]);
    } else {
      gains = GainsOf(EachOf(open));
    }
    std::optional<std::size_t> best;
    TimeNs most = least_ - 1;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (gains[i] <= most) continue;
      most = gains[i];
      best = open[i];
    }
    if (best.has_value()) Take(*best, false);
    return best.has_value();
  }

  // Of the causes that take most time, the two that win most together.
  bool TakePair(bool opportunities) {
    Causes largest = OpenCauses(opportunities);
    std::erase_if(largest, [&](std::size_t cause) { return taken_[cause] <= 0; });
    std::stable_sort(largest.begin(), largest.end(),
                     [&](std::size_t a, std::size_t b) { return taken_[a] > taken_[b]; });
    largest.resize(std::min(largest.size(), kPaired));
    std::vector<Causes> pairs;
    for (std::size_t a = 0; a < largest.size(); ++a) {
      for (std::size_t b = a + 1; b < largest.size(); ++b) pairs.push_back({largest[a], largest[b]});
    }
    const std::vector<TimeNs> gains = GainsOf(pairs);
    TimeNs most = least_of_two_ - 1;
    const Causes* best = nullptr;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (gains[i] <= most) continue;
      most = gains[i];
      best = &pairs[i];
    }
    if (best == nullptr) return false;
    Take((*best)[0], true);
    Take((*best)[1], false);
    return true;
  }

  void Take(std::size_t cause, bool with_next) {
    const TimeNs most = now_ - With({cause}, true);
    const TimeNs then = With({cause});
    result_.gains.push_back({cause, now_ - then, alone_[cause], std::max(most, now_ - then), with_next});
    now_ = then;
    made_.push_back(&causes_[cause].expect);
    open_[cause] = false;
  }

  const ReplayGraph& graph_;
  const ReplaySteps& steps_;
  const std::vector<WhatIf>& causes_;
  const TimeNs least_, least_of_two_;
  std::vector<bool> open_;
  std::vector<TimeNs> taken_, alone_;
  Removals made_;
  TimeNs now_ = 0;
  Waterfall result_;
};

}  // namespace

TimeNs StepTime(const ReplayGraph& graph, const ReplaySteps& steps,
                std::span<const Removal* const> removals) {
  const std::vector<TimeNs> start = graph.Replay(removals);
  std::vector<TimeNs> less(graph.Nodes(), 0);
  for (const Removal* removal : removals) {
    for (const auto& node : removal->durations) less[node.node] += node.less;
  }
  // Ranks may have unequally many steps: no step ends before the one ahead of it.
  const auto end_of = [&](std::size_t step) {
    TimeNs latest = steps.begin;
    for (std::size_t i = 0; i <= step; ++i) {
      for (const ReplayGraph::Node node : steps.last[i]) {
        latest = std::max(latest, start[node] + std::max<TimeNs>(0, graph.Duration(node) - less[node]));
      }
    }
    return latest;
  };
  const std::size_t count = steps.last.size() - steps.first;
  const TimeNs begin = steps.first == 0 ? steps.begin : end_of(steps.first - 1);
  return (end_of(steps.last.size() - 1) - begin) / static_cast<TimeNs>(count);
}

Waterfall MakeWaterfall(const ReplayGraph& graph, const ReplaySteps& steps,
                        const std::vector<WhatIf>& causes, TimeNs least, TimeNs least_of_two) {
  return Search(graph, steps, causes, least, least_of_two).Run();
}

}  // namespace mpa
