// SPDX-License-Identifier: Apache-2.0
// Kernels of one kind that take different times.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernel_finder.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kVarianceShare{"share", 0.02, 0, 1,
                                   "kernels of a kind take at least this share of the step"},
    kVarianceRatio{"ratio", 2, 1, 1000, "their upper decile takes this many times the median"},
    kVarianceCalls{"calls", 10, 2, kMaxCalls, "fewer kernels per step are not judged"};

class UnevenKernels : KernelFinder {
 public:
  using KernelFinder::KernelFinder;

  // Kernels of one kind in one step that differ much. Attention and grouped products may have other
  // lengths in tensors of one shape; beside a collective they share the memory with it.
  void Find() {
    struct Uneven {
      Removal removal;
      double time = 0, count = 0, worst = 0;
    };
    std::map<std::string, Uneven> by_type;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      std::vector<Interval> operations;
      for (const OperationPart& row : part.operations)
        operations.push_back({row.start, row.start + row.dur});
      const Intervals communicates = Union(std::move(operations));
      std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::uint32_t>>
          groups;  // by step and kind
      for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
        const GraphNode& node = part.graph.nodes[i];
        if (!Counts(node) || node.category == TimeCategory::kAttention ||
            node.category == TimeCategory::kGroupedMatmul)
          continue;
        // Kernels whose shapes are not known may be of any size.
        const std::string& shapes = part.names[part.KindOf(node).shapes];
        if (shapes.empty() || shapes == "N/A" || Contains(communicates, node.start)) continue;
        groups[{node.step, node.row}].push_back(i);
      }
      for (auto& [place, nodes] : groups) {
        if (static_cast<double>(nodes.size()) < thresholds_[kVarianceCalls]) continue;
        const auto dur = [&](std::uint32_t node) { return part.graph.nodes[node].dur; };
        std::ranges::stable_sort(nodes, {}, dur);
        std::vector<TimeNs> durations;
        for (const std::uint32_t node : nodes) durations.push_back(dur(node));
        const TimeNs median = Percentile(durations, 50),
                     decile = durations[NearestRank(durations.size(), 90)];
        if (median <= 0 ||
            static_cast<double>(decile) < thresholds_[kVarianceRatio] * static_cast<double>(median))
          continue;
        Uneven& uneven =
            by_type[part.names[part.kinds[static_cast<std::size_t>(place.second)].type]];
        uneven.worst = std::max(uneven.worst, Ratio(decile, median));
        for (const std::uint32_t node : nodes) {
          uneven.time += static_cast<double>(dur(node));
          ++uneven.count;
          if (dur(node) > median)
            uneven.removal.durations.push_back(
                {job_.graph.first_node[rank] + node, dur(node) - median});
        }
      }
    }
    for (auto& [type, uneven] : by_type) {
      if (!IsShare(uneven.time, thresholds_[kVarianceShare])) continue;
      Cause cause = NewCause(job_, kOpVariance, type);
      cause.finding.Measure(kSlowestTenth, uneven.worst);
      MeasureSums(uneven.count, uneven.time, cause);
      cause.what_if.expect = std::move(uneven.removal);
      causes_.push_back(std::move(cause));
    }
  }
};

}  // namespace

const FindingInfo kOpVariance =
    Fault(Area::kDevices, "op.variance", {"operator", "hardware"},
          {"equal kernels take different times", "相同算子耗时波动大"},
          {.looked_at =
               {"kernels of equal shapes in one step; without shapes, the launch at one place of "
                "steps that launch the same in the same order",
                "同一 step 内 shape 相同的算子；无 shape 时，下发序列相同的 step 中同一位置的算子"},
           .refuted_by = {"other shapes or another order, a collective beside them, or all take as "
                          "long in every step",
                          "shape 或顺序不同；与集合通信并行；或每个 step 同样耗时"},
           .categories = ComputeCategories(),
           .needs = {Record::kShapes},
           .find = FindBy<UnevenKernels>,
           .advice = {{{{"compare the slow ones in the timeline: contention, cache, clock",
                         "在时间线上对比慢的算子：资源竞争、缓存、频率"},
                        Check("contention, cache and clock while the slow ones run")}}},
           .thresholds = {&kVarianceShare, &kVarianceRatio, &kVarianceCalls}});

}  // namespace mpa
