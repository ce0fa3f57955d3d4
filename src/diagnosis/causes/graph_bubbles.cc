// SPDX-License-Identifier: Apache-2.0
// The device does nothing between kernels of a captured graph.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kBubbleNs{"least_ns", 5'000, 0, kMaxTime,
                              "shorter gaps lie between any two kernels"},
    kBubbleRatio{"ratio", 3, 1, 1000,
                 "a gap is a bubble from this many times the usual gap of the graph on"};

constexpr MetricInfo kBubbles{"bubbles_per_step", "count", "{} bubbles a step"},
    kMaxBubble{"longest_bubble", "ns", "the longest takes {}"};

class GraphBubbles : Finder {
 public:
  using Finder::Finder;

  void Find() {
    Finding candidate = NewFinding(job_, kGraphBubbles);
    double bubbles = 0, time = 0;
    TimeNs longest = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      bool has_any = false;
      for (const Gap& gap : BubblesOf(rank)) {
        has_any = true;
        ++bubbles;
        time += static_cast<double>(gap.Length());
        longest = std::max(longest, gap.Length());
        AddTo(rank, gap, candidate.what_if.expect);
      }
      if (has_any) candidate.ranks.push_back(job_.ranks[rank].rank);
    }
    if (candidate.what_if.expect.prompt.empty()) return;
    if (candidate.ranks.size() == job_.ranks.size()) candidate.ranks.clear();
    MeasureSums(bubbles, time, candidate);
    candidate.metrics.front().info = &kBubbles;
    candidate.Measure(kMaxBubble, longest);
    candidates_.push_back(std::move(candidate));
  }

 private:
  // Nothing runs from `begin` to `end`, where `node` starts.
  struct Gap {
    TimeNs begin = 0, end = 0;
    std::size_t first = 0, last = 0;  // positions in the order: what stands in it, then the node
    TimeNs Length() const { return end - begin; }
  };

  // The rank's device work and waits, in order of time. A wait is the moment at which it ends.
  std::vector<std::uint32_t> Order(RankIndex rank) const {
    const auto& nodes = job_.Part(rank).graph.nodes;
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind >= NodeKind::kKernel) order.push_back(i);
    }
    StableSort(order, {}, [&](std::uint32_t i) { return nodes[i].start; });
    return order;
  }

  // Gaps between two pieces of one graph in a step that counts.
  std::vector<Gap> BubblesOf(RankIndex rank) {
    order_ = Order(rank);
    const auto& nodes = job_.Part(rank).graph.nodes;
    std::vector<Gap> gaps;
    TimeNs busy_until = 0;
    int running = 0;          // collectives
    std::int32_t graph = -1;  // of the last work
    std::size_t first = 0;    // behind it
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const GraphNode& node = nodes[order_[i]];
      if (node.kind == NodeKind::kWait) continue;
      const bool is_within = node.graph >= 0 && node.graph == graph && job_.Counts(node.step);
      if (running == 0 && is_within && node.start > busy_until)
        gaps.push_back({busy_until, node.start, first, i});
      if (node.kind == NodeKind::kArrive) ++running;
      if (node.kind == NodeKind::kLeave) running = std::max(0, running - 1);
      busy_until = std::max(busy_until, node.start + node.dur);
      graph = node.graph;
      first = i + 1;
    }
    if (gaps.empty()) return gaps;
    std::vector<TimeNs> lengths;
    for (const Gap& gap : gaps) lengths.push_back(gap.Length());
    const double least =
        std::max(thresholds_[kBubbleNs],
                 thresholds_[kBubbleRatio] * static_cast<double>(Median(std::move(lengths))));
    std::erase_if(gaps, [&](const Gap& gap) { return static_cast<double>(gap.Length()) < least; });
    return gaps;
  }

  // What stands in the gap waits no longer than for what it depends on.
  void AddTo(RankIndex rank, const Gap& gap, Removal& removal) const {
    for (std::size_t i = gap.first; i <= gap.last; ++i)
      removal.prompt.push_back(job_.graph.first_node[rank] + order_[i]);
  }

  std::vector<std::uint32_t> order_;  // of the rank at hand
};

}  // namespace

const FindingType kGraphBubbles =
    Fault(Area::kDevices, "graph.bubbles", {"framework"}, "the device idles within captured graphs",
          {.looked_at =
               "gaps between kernels within a captured graph, compared with the graph's usual gap",
           .refuted_by = "the gap waits for a collective or for work of another stream",
           .applies = [](const Coverage& job) { return job.runs_graphs; },
           .find = FindBy<GraphBubbles>,
           .advice = {{{"update the parameters of the graph before it is launched",
                        Change("updates of graph parameters", "before the launch")},
                       {"fewer streams and events within the graph",
                        Change("streams within the graph", "fewer")}}},
           .thresholds = {&kBubbleNs, &kBubbleRatio}});

}  // namespace mpa
