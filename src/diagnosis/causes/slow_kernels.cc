// SPDX-License-Identifier: Apache-2.0
// Kernels that run far below what the chip can do.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernel_finder.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"

namespace mpa {
namespace {

constexpr Threshold kSlowShare{"share", 0.02, 0, 1,
                               "kernels of a kind take at least this share of the step"},
    kSlowUse{"use", 0.5, 0, 1, "a kernel is slow below this share of what the chip can do"},
    kSlowReach{"reach", 0.6, 0.01, 1, "a fix reaches this share of it"},
    kSlowKernelNs{"least_ns", 20'000, 0, kMaxTime,
                  "shorter kernels spend most of their time on starting"};

constexpr MetricInfo kUseOfChip{"use_of_chip", "share", "{} of what the chip can do"};

constexpr MetricInfo kCacheHits{"l2_hit_rate", "share", "{} of their requests hit the L2 cache"};

class SlowKernels : KernelFinder {
 public:
  explicit SlowKernels(FindingSearch& search) : KernelFinder(search) {
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) uses_.push_back(UsesOf(rank));
  }

  // One finding for each of the types that cost most.
  void Find() {
    constexpr std::size_t kMaxTypes = 5;
    const double bandwidth = MemoryBandwidth(uses_);
    struct Slow {
      double time = 0, used = 0, count = 0;
      double on_vector_cores = 0;             // time of products
      double cache_time = 0, cache_hits = 0;  // of those whose hits are recorded
      std::vector<std::vector<double>> use;   // by rank and kind, 1 for those that are fast
    };
    std::map<std::string, Slow> by_type;
    for (RankIndex rank; rank < uses_.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      for (std::size_t i = 0; i < part.kinds.size(); ++i) {
        const KernelKind& kind = part.kinds[i];
        const KindUse& use = uses_[rank][i];
        // A product in FP32 has a finding of its own, which does not move it to other cores.
        const bool misplaced = kind.on_vector_cores && kind.least > 0;
        if ((kind.multiplies_fp32 && !misplaced) ||
            static_cast<double>(use.Mean()) < thresholds_[kSlowKernelNs])
          continue;
        const double used = UseOf(kind, use, bandwidth);
        if (used >= thresholds_[kSlowUse]) continue;
        Slow& slow = by_type[part.names[kind.type]];
        slow.use.resize(uses_.size());
        slow.use[rank].resize(part.kinds.size(), 1);
        slow.use[rank][i] = used;
        slow.time += static_cast<double>(use.time);
        slow.used += used * static_cast<double>(use.time);
        slow.count += static_cast<double>(use.count);
        if (misplaced) slow.on_vector_cores += static_cast<double>(use.time);
        slow.cache_time += static_cast<double>(kind.cache_time);
        slow.cache_hits += kind.cache_hits;
      }
    }
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [type, slow] : by_type) {
      if (IsShare(slow.time, thresholds_[kSlowShare])) order.emplace_back(-slow.time, type);
    }
    std::ranges::sort(order);
    order.resize(std::min(order.size(), kMaxTypes));
    for (const auto& [time, type] : order) {
      const Slow& slow = by_type.at(type);
      Finding candidate = NewFinding(job_, kOpSlow, type);
      for (RankIndex rank; rank < slow.use.size(); ++rank) {
        if (slow.use[rank].empty()) continue;
        const auto used = [&](const GraphNode& node) {
          return slow.use[rank][static_cast<std::size_t>(node.row)];
        };
        Remove(
            rank,
            [&](const GraphNode& node) {
              return used(node) < 1 ? std::max(0.0, 1 - used(node) / thresholds_[kSlowReach]) : 0;
            },
            candidate.what_if.expect);
        Remove(
            rank, [&](const GraphNode& node) { return 1 - used(node); }, candidate.what_if.bound);
      }
      if (2 * slow.on_vector_cores > slow.time) candidate.variant = &kOpSlowOnVectorCores;
      candidate.Measure(kUseOfChip, slow.used / slow.time);
      if (slow.cache_time > 0) candidate.Measure(kCacheHits, slow.cache_hits / slow.cache_time);
      MeasureSums(slow.count, slow.time, candidate);
      candidates_.push_back(std::move(candidate));
    }
  }

 private:
  // The share of the chip that a kind uses; 1 where it is not known. Only products whose operations
  // are known and what works element by element tell it.
  double UseOf(const KernelKind& kind, const KindUse& use, double bandwidth) const {
    const TimeNs mean = use.Mean();
    const bool product = kind.least > 0 && (use.category == TimeCategory::kMatmul ||
                                            use.category == TimeCategory::kGroupedMatmul ||
                                            use.category == TimeCategory::kConvolution);
    if (mean <= 0 || (!product && (!kind.streams || bandwidth <= 0))) return 1;
    const double ideal = std::max(static_cast<double>(kind.least),
                                  bandwidth > 0 ? static_cast<double>(kind.bytes) / bandwidth : 0);
    return std::min(1.0, ideal / static_cast<double>(mean));
  }

  std::vector<std::vector<KindUse>> uses_;  // by rank and kind
};

AdvicePart FittingShapes() {
  return {"use shapes in multiples of 16 or 128", Change("shapes", "multiples of 16 or 128")};
}

AdvicePart TuneTiling() {
  return {"tune the tiling (AOE)", Check("tiling of the operator", "AOE")};
}

}  // namespace

const FindingVariant kOpSlowOnVectorCores = {
    "matrix products run on vector cores",
    {{{"give them shapes and types of the cube cores (fp16 or bf16, multiples of 16)",
       Change("matrix products", "shapes and types of the cube cores")},
      TuneTiling()}}};

const FindingType kOpSlow = Opportunity(
    Area::kDevices, "op.slow", {"operator", "model"}, "kernels run far below the chip's limit",
    {.looked_at = "time of products and of element-wise kernels compared with what the chip's"
                  " cores and memory need for their tensors",
     .refuted_by =
         "kernels reach half of that, are too short, or have a finding of their own (FP32)",
     .categories = ComputeCategories(),
     .needs = {Record::kShapes, Record::kTensors, Record::kMemoryLimits},
     .find = FindBy<SlowKernels>,
     .advice = {{FittingShapes(), TuneTiling()}, {FittingShapes()}},
     .thresholds = {&kSlowShare, &kSlowUse, &kSlowReach, &kSlowKernelNs, &kMemoryGbs,
                    &kCacheBytes}});

}  // namespace mpa
