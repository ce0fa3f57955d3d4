// SPDX-License-Identifier: Apache-2.0
// Kernels that are slow for what they do: far below the chip, of uneven length, in FP32, in many
// small pieces of an optimizer, or on throttled cores.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "finder.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kSlowShare{"share", 0.02, 0, 1,
                               "kernels of a kind take at least this share of the step"},
    kSlowUse{"use", 0.5, 0, 1, "a kernel is slow below this share of what the chip can do"},
    kSlowReach{"reach", 0.6, 0.01, 1, "a fix reaches this share of it"},
    kSlowKernelNs{"least_ns", 20'000, 0, kLongestTime,
                  "shorter kernels spend most of their time on starting"},
    kVarianceShare{"share", 0.02, 0, 1, "kernels of a kind take at least this share of the step"},
    kVarianceRatio{"ratio", 2, 1, 1000, "their upper decile takes this many times the median"},
    kVarianceCalls{"calls", 10, 2, kMostCalls, "fewer kernels per step are not judged"},
    kFp32Share{"share", 0.05, 0, 1, "products of FP32 take at least this share of the step"},
    kFp32Gain{"gain", 0.5, 0, 1, "a fix removes this share of the kernels' time"},
    kFp32Most{"most", 0.75, 0, 1, "no fix removes more than this share"},
    kOptimizerShare{"share", 0.03, 0, 1, "the optimizer takes at least this share of the step"},
    kOptimizerLaunches{"launches", 50, 1, kMostCalls,
                       "it launches more kernels per step than this"},
    kOptimizerGain{"gain", 0.6, 0, 1, "a fix removes this share of its time"};

constexpr MetricInfo kUseOfChip{
    "use_of_chip", "share", {"{} of what the chip can do", "达到芯片能力的 {}"}},
    kLaunchesPerStep{"launches_per_step", "count", {"{} launches a step", "每个 step 下发 {} 次"}},
    kClockRated{"clock_rated", "MHz", {"rated {}", "额定 {}"}};

class OperatorCauses : Finder {
 public:
  explicit OperatorCauses(CauseSearch& search) : Finder(search) {
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) uses_.push_back(UsesOf(rank));
  }

  void Find() {
    AddSlow();
    AddUneven();
    AddFp32();
    AddOptimizer();
    AddClock();
  }

 private:
  struct KindUse {
    TimeNs time = 0;
    std::int64_t count = 0;
    Leaf leaf{};
    TimeNs Mean() const { return count == 0 ? 0 : time / count; }
  };

  bool Counts(const GraphNode& node) const {
    return node.kind == NodeKind::kKernel && job_.Counts(node.step);
  }

  // Of the counted steps, by kind.
  std::vector<KindUse> UsesOf(std::size_t rank) const {
    const RankDiagnosis& part = job_.Part(rank);
    std::vector<KindUse> uses(part.kinds.size());
    for (const GraphNode& node : part.graph.nodes) {
      if (!Counts(node)) continue;
      KindUse& use = uses[static_cast<std::size_t>(node.row)];
      use.time += node.dur;
      use.leaf = node.leaf;
      ++use.count;
    }
    return uses;
  }

  // Of the mean rank and step.
  bool IsShare(double time, double share) const {
    return time / RankSteps() >= share * static_cast<double>(job_.step_time);
  }

  // Takes a share out of every kernel of the kinds that are told one; the part's kernels count.
  template <typename ShareOfNode>
  void Remove(std::size_t rank, ShareOfNode share_of, Removal& removal) const {
    const auto& nodes = job_.Part(rank).graph.nodes;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind != NodeKind::kKernel) continue;
      const TimeNs less = ShareOf(nodes[i].dur, share_of(nodes[i]));
      if (less > 0) removal.durations.push_back({job_.graph.first_node[rank] + i, less});
    }
  }

  // What works element by element shows how fast the memory is, at least. 0: nothing is known of
  // it.
  double MemoryBandwidth() const {
    if (rules_[kMemoryGbs] <= 0) return 0;
    std::vector<double> seen;
    for (std::size_t rank = 0; rank < uses_.size(); ++rank) {
      for (std::size_t kind = 0; kind < uses_[rank].size(); ++kind) {
        const KernelKind& of = job_.Part(rank).kinds[kind];
        const TimeNs mean = uses_[rank][kind].Mean();
        if (of.streams && static_cast<double>(of.bytes) >= rules_[kCacheBytes] && mean > 0)
          seen.push_back(Ratio(of.bytes, mean));
      }
    }
    if (seen.empty()) return rules_[kMemoryGbs] / 2;
    return std::min(ValueOfRank(seen, NearestRank(seen.size(), 90)), rules_[kMemoryGbs]);
  }

  // The share of the chip that a kind uses; 1 where it is not known. Only products whose operations
  // are known and what works element by element tell it.
  double UseOf(const KernelKind& kind, const KindUse& use, double bandwidth) const {
    const TimeNs mean = use.Mean();
    const bool product =
        kind.least > 0 && (use.leaf == Leaf::kMatmul || use.leaf == Leaf::kGroupedMatmul ||
                           use.leaf == Leaf::kConvolution);
    if (mean <= 0 || (!product && (!kind.streams || bandwidth <= 0))) return 1;
    const double ideal = std::max(static_cast<double>(kind.least),
                                  bandwidth > 0 ? static_cast<double>(kind.bytes) / bandwidth : 0);
    return std::min(1.0, ideal / static_cast<double>(mean));
  }

  // One finding for each of the types that cost most.
  void AddSlow() {
    constexpr std::size_t kMostTypes = 5;
    const double bandwidth = MemoryBandwidth();
    struct Slow {
      double time = 0, used = 0, count = 0;
      std::vector<std::vector<double>> use;  // by rank and kind, 1 for those that are fast
    };
    std::map<std::string, Slow> by_type;
    for (std::size_t rank = 0; rank < uses_.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      for (std::size_t i = 0; i < part.kinds.size(); ++i) {
        const KernelKind& kind = part.kinds[i];
        const KindUse& use = uses_[rank][i];
        if (kind.multiplies_fp32 || static_cast<double>(use.Mean()) < rules_[kSlowKernelNs])
          continue;
        const double used = UseOf(kind, use, bandwidth);
        if (used >= rules_[kSlowUse]) continue;
        Slow& slow = by_type[part.names[kind.type]];
        slow.use.resize(uses_.size());
        slow.use[rank].resize(part.kinds.size(), 1);
        slow.use[rank][i] = used;
        slow.time += static_cast<double>(use.time);
        slow.used += used * static_cast<double>(use.time);
        slow.count += static_cast<double>(use.count);
      }
    }
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [type, slow] : by_type) {
      if (IsShare(slow.time, rules_[kSlowShare])) order.emplace_back(-slow.time, type);
    }
    std::ranges::sort(order);
    order.resize(std::min(order.size(), kMostTypes));
    for (const auto& [time, type] : order) {
      const Slow& slow = by_type.at(type);
      Cause cause = NewCause(job_, kOpSlow, type);
      for (std::size_t rank = 0; rank < slow.use.size(); ++rank) {
        if (slow.use[rank].empty()) continue;
        const auto used = [&](const GraphNode& node) {
          return slow.use[rank][static_cast<std::size_t>(node.row)];
        };
        Remove(
            rank,
            [&](const GraphNode& node) {
              return used(node) < 1 ? std::max(0.0, 1 - used(node) / rules_[kSlowReach]) : 0;
            },
            cause.what_if.expect);
        Remove(
            rank, [&](const GraphNode& node) { return 1 - used(node); }, cause.what_if.bound);
      }
      cause.finding.Measure(kUseOfChip, slow.used / slow.time);
      MeasureSums(slow.count, slow.time, cause);
      causes_.push_back(std::move(cause));
    }
  }

  // Kernels of one kind in one step that differ much. Attention and grouped products may have other
  // lengths in tensors of one shape; beside a collective they share the memory with it.
  void AddUneven() {
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
        if (!Counts(node) || node.leaf == Leaf::kAttention || node.leaf == Leaf::kGroupedMatmul)
          continue;
        // Kernels whose shapes are not known may be of any size.
        const std::string& shapes = part.names[part.KindOf(node).shapes];
        if (shapes.empty() || shapes == "N/A" || Contains(communicates, node.start)) continue;
        groups[{node.step, node.row}].push_back(i);
      }
      for (auto& [place, nodes] : groups) {
        if (static_cast<double>(nodes.size()) < rules_[kVarianceCalls]) continue;
        const auto dur = [&](std::uint32_t node) { return part.graph.nodes[node].dur; };
        std::ranges::stable_sort(nodes, {}, dur);
        std::vector<TimeNs> durations;
        for (const std::uint32_t node : nodes) durations.push_back(dur(node));
        const TimeNs median = Percentile(durations, 50),
                     decile = durations[NearestRank(durations.size(), 90)];
        if (median <= 0 ||
            static_cast<double>(decile) < rules_[kVarianceRatio] * static_cast<double>(median))
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
      if (!IsShare(uneven.time, rules_[kVarianceShare])) continue;
      Cause cause = NewCause(job_, kOpVariance, type);
      cause.finding.Measure(kSlowestTenth, uneven.worst);
      MeasureSums(uneven.count, uneven.time, cause);
      cause.what_if.expect = std::move(uneven.removal);
      causes_.push_back(std::move(cause));
    }
  }

  void AddFp32() {
    double time = 0, count = 0;
    Cause cause = NewCause(job_, kOpFp32);
    for (std::size_t rank = 0; rank < uses_.size(); ++rank) {
      const auto& kinds = job_.Part(rank).kinds;
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (!kinds[i].multiplies_fp32) continue;
        time += static_cast<double>(uses_[rank][i].time);
        count += static_cast<double>(uses_[rank][i].count);
      }
      const auto is_fp32 = [&](const GraphNode& node) {
        return kinds[static_cast<std::size_t>(node.row)].multiplies_fp32;
      };
      Remove(
          rank, [&](const GraphNode& node) { return is_fp32(node) ? rules_[kFp32Gain] : 0; },
          cause.what_if.expect);
      Remove(
          rank, [&](const GraphNode& node) { return is_fp32(node) ? rules_[kFp32Most] : 0; },
          cause.what_if.bound);
    }
    if (count == 0 || !IsShare(time, rules_[kFp32Share])) return;
    MeasureSums(count, time, cause);
    causes_.push_back(std::move(cause));
  }

  // Fused optimizers update all tensors of a type in one kernel.
  void AddOptimizer() {
    double time = 0, count = 0, fused = 0;
    Cause cause = NewCause(job_, kOpOptimizer);
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      for (const GraphNode& node : part.graph.nodes) {
        if (!Counts(node) || !node.in_optimizer) continue;
        time += static_cast<double>(node.dur);
        ++count;
        if (IsFusedUpdate(part.TypeOf(node))) fused += static_cast<double>(node.dur);
      }
      Remove(
          rank,
          [&](const GraphNode& node) { return node.in_optimizer ? rules_[kOptimizerGain] : 0; },
          cause.what_if.expect);
      for (const HostShare& row : part.shares) {
        if (!row.in_optimizer) continue;
        const std::int32_t step = job_.StepOfEdge(rank, row.edge);
        if (step >= static_cast<std::int32_t>(job_.first_step))
          time += static_cast<double>(row.time);
        cause.what_if.expect.waits.push_back(
            {job_.graph.first_edge[rank] + row.edge, ShareOf(row.time, rules_[kOptimizerGain])});
      }
    }
    if (2 * fused > time || count / RankSteps() <= rules_[kOptimizerLaunches] ||
        !IsShare(time, rules_[kOptimizerShare]))
      return;
    cause.finding.Measure(kLaunchesPerStep, count / RankSteps());
    cause.finding.Measure(kTimePerStep, time / RankSteps());
    causes_.push_back(std::move(cause));
  }

  double ClockOf(std::size_t rank) const {
    double sum = 0, steps = 0;
    for (std::size_t step = job_.first_step; step < job_.Part(rank).steps.size(); ++step) {
      if (job_.Part(rank).steps[step].mhz <= 0) continue;
      sum += static_cast<double>(job_.Part(rank).steps[step].mhz);
      ++steps;
    }
    return steps > 0 ? sum / steps : 0;
  }

  // Most devices run slower than they could. A single one is a slow rank.
  void AddClock() {
    Cause cause = NewCause(job_, kDevClock);
    std::vector<double> clocks;
    std::size_t recorded = 0;
    double rated = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const double clock = ClockOf(rank);
      const auto at_best = static_cast<double>(job_.Part(rank).rated_mhz);
      if (clock <= 0 || at_best <= 0) continue;
      ++recorded;
      if (clock >= rules_[kClockRatio] * at_best) continue;
      clocks.push_back(clock);
      rated = at_best;
      const auto on_cores = [](Leaf leaf) {
        return leaf == Leaf::kMatmul || leaf == Leaf::kGroupedMatmul ||
               leaf == Leaf::kConvolution || leaf == Leaf::kAttention;
      };
      Remove(
          rank,
          [&](const GraphNode& node) { return on_cores(node.leaf) ? 1 - clock / at_best : 0; },
          cause.what_if.expect);
    }
    if (clocks.empty() || 2 * clocks.size() <= recorded) return;
    cause.finding.Measure(kMeanClock, Median(std::move(clocks)));
    cause.finding.Measure(kClockRated, rated);
    causes_.push_back(std::move(cause));
  }

  std::vector<std::vector<KindUse>> uses_;  // by rank and kind
};

AdvicePart FittingShapes() {
  return {{"use shapes in multiples of 16 or 128", "shape 取 16 或 128 的倍数"},
          Change("shapes", "multiples of 16 or 128")};
}
AdvicePart LowPrecision() {
  return {{"autocast to bf16 or fp16", "autocast 到 bf16 或 fp16"},
          Change("matrix products", "bf16 or fp16")};
}

}  // namespace

const FindingInfo kOpSlow =
    Opportunity(Area::kDevices, "op.slow", {"operator", "model"},
                {"kernels run far below the chip's limit", "算子远低于芯片能力"},
                {.leaves = ComputeLeaves(),
                 .needs = {Record::kShapes, Record::kTensors, Record::kMemoryLimits},
                 .find = FindBy<OperatorCauses>,
                 .advice = {{FittingShapes(),
                             {{"tune the tiling (AOE)", "AOE 调优 tiling"},
                              Check("tiling of the operator", "AOE")}},
                            {FittingShapes()}},
                 .thresholds = {&kSlowShare, &kSlowUse, &kSlowReach, &kSlowKernelNs, &kMemoryGbs,
                                &kCacheBytes}});

const FindingInfo kOpVariance =
    Fault(Area::kDevices, "op.variance", {"operator", "hardware"},
          {"equal kernels take different times", "相同算子耗时波动大"},
          {.leaves = ComputeLeaves(),
           .needs = {Record::kShapes},
           .advice = {{{{"compare the slow ones in the timeline: contention, cache, clock",
                         "在时间线上对比慢的算子：资源竞争、缓存、频率"},
                        Check("contention, cache and clock while the slow ones run")}}},
           .thresholds = {&kVarianceShare, &kVarianceRatio, &kVarianceCalls}});

const FindingInfo kOpFp32 = Opportunity(
    Area::kDevices, "op.fp32", {"model"}, {"matrices are multiplied in FP32", "矩阵乘使用 FP32"},
    {.leaves = ComputeLeaves(),
     .advice = {{LowPrecision(),
                 {{"else allow HF32 (torch.npu.matmul.allow_hf32)",
                   "或开启 HF32（torch.npu.matmul.allow_hf32）"},
                  SetOption("torch.npu.matmul.allow_hf32", true)}},
                {LowPrecision(),
                 {{"else allow TF32", "或开启 TF32"},
                  SetOption("torch.backends.cuda.matmul.allow_tf32", true)}}},
     .thresholds = {&kFp32Share, &kFp32Gain, &kFp32Most}});

const FindingInfo kOpOptimizer = Opportunity(
    Area::kDevices, "op.optimizer", {"model"},
    {"the optimizer runs in many small kernels", "优化器由大量小算子组成"},
    {.category = kFusibleCategory,
     .leaves = ComputeLeaves(),
     .advice = {{{{"use torch_npu.optim.NpuFusedAdamW or the like",
                   "使用 torch_npu.optim.NpuFusedAdamW 等融合优化器"},
                  Change("optimizer", "torch_npu.optim.NpuFused*")},
                 {{"clip with its clip_grad_norm_fused_", "用其 clip_grad_norm_fused_ 裁剪梯度"},
                  Change("clipping of gradients", "clip_grad_norm_fused_")}},
                {{{"fused=True in the optimizer", "优化器设置 fused=True"},
                  SetOption("optimizer.fused", true)}}},
     .thresholds = {&kOptimizerShare, &kOptimizerLaunches, &kOptimizerGain}});

const FindingInfo kDevClock =
    Fault(Area::kDevices, "dev.clock", {"hardware", "platform"},
          {"the cores run below their rated clock", "AI Core 频率低于额定值"},
          {.category = {"AI Core Frequency Issues", "AIcore频率"},
           .leaves = {Leaf::kMatmul},
           .needs = {Record::kClock, Record::kRatedClock},
           .advice = {{{{"check power cap, temperature and cooling (npu-smi)",
                         "检查功耗上限、温度和散热（npu-smi）"},
                        Check("power cap, temperature and cooling", "npu-smi")}},
                      {{{"check power cap, temperature and cooling (nvidia-smi)",
                         "检查功耗上限、温度和散热（nvidia-smi）"},
                        Check("power cap, temperature and cooling", "nvidia-smi")}}},
           .thresholds = {&kClockRatio}});

}  // namespace mpa
