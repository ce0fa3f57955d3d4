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
    return node.kind == NodeKind::kKernel &&
           node.step >= static_cast<std::int32_t>(job_.first_step) &&
           static_cast<std::size_t>(node.step) < job_.steps;
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

  double RankSteps() const { return static_cast<double>(job_.ranks.size() * job_.CountedSteps()); }
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
    if (rules_.memory_gbs <= 0) return 0;
    std::vector<double> seen;
    for (std::size_t rank = 0; rank < uses_.size(); ++rank) {
      for (std::size_t kind = 0; kind < uses_[rank].size(); ++kind) {
        const KernelKind& of = job_.Part(rank).kinds[kind];
        const TimeNs mean = uses_[rank][kind].Mean();
        if (of.streams && static_cast<double>(of.bytes) >= rules_.cache_bytes && mean > 0)
          seen.push_back(static_cast<double>(of.bytes) / static_cast<double>(mean));
      }
    }
    if (seen.empty()) return rules_.memory_gbs / 2;
    return std::min(ValueOfRank(seen, NearestRank(seen.size(), 90)), rules_.memory_gbs);
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
        if (kind.multiplies_fp32 || static_cast<double>(use.Mean()) < rules_.slow_kernel_ns)
          continue;
        const double used = UseOf(kind, use, bandwidth);
        if (used >= rules_.slow_use) continue;
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
      if (IsShare(slow.time, rules_.slow_share)) order.emplace_back(-slow.time, type);
    }
    std::sort(order.begin(), order.end());
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
              return used(node) < 1 ? std::max(0.0, 1 - used(node) / rules_.slow_reach) : 0;
            },
            cause.what_if.expect);
        Remove(
            rank, [&](const GraphNode& node) { return 1 - used(node); }, cause.what_if.bound);
      }
      cause.finding.metrics.push_back({"use_of_chip", slow.used / slow.time, "share"});
      AddSums(slow.count, slow.time, cause);
      causes_.push_back(std::move(cause));
    }
  }

  void AddSums(double count, double time, Cause& cause) const {
    cause.finding.metrics.push_back({"calls_per_step", count / RankSteps(), "count"});
    cause.finding.metrics.push_back({"time_per_step", time / RankSteps(), "ns"});
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
        if (static_cast<double>(nodes.size()) < rules_.variance_calls) continue;
        const auto dur = [&](std::uint32_t node) { return part.graph.nodes[node].dur; };
        std::stable_sort(nodes.begin(), nodes.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return dur(a) < dur(b); });
        std::vector<TimeNs> durations;
        for (const std::uint32_t node : nodes) durations.push_back(dur(node));
        const TimeNs median = Percentile(durations, 50),
                     decile = durations[NearestRank(durations.size(), 90)];
        if (median <= 0 ||
            static_cast<double>(decile) < rules_.variance_ratio * static_cast<double>(median))
          continue;
        Uneven& uneven =
            by_type[part.names[part.kinds[static_cast<std::size_t>(place.second)].type]];
        uneven.worst =
            std::max(uneven.worst, static_cast<double>(decile) / static_cast<double>(median));
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
      if (!IsShare(uneven.time, rules_.variance_share)) continue;
      Cause cause = NewCause(job_, kOpVariance, type);
      cause.finding.metrics.push_back({"slowest_tenth", uneven.worst, "ratio"});
      AddSums(uneven.count, uneven.time, cause);
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
          rank, [&](const GraphNode& node) { return is_fp32(node) ? rules_.fp32_gain : 0; },
          cause.what_if.expect);
      Remove(
          rank, [&](const GraphNode& node) { return is_fp32(node) ? rules_.fp32_most : 0; },
          cause.what_if.bound);
    }
    if (count == 0 || !IsShare(time, rules_.fp32_share)) return;
    AddSums(count, time, cause);
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
          [&](const GraphNode& node) { return node.in_optimizer ? rules_.optimizer_gain : 0; },
          cause.what_if.expect);
      for (const HostShare& row : part.shares) {
        if (!row.in_optimizer) continue;
        const std::int32_t step = job_.StepOfEdge(rank, row.edge);
        if (step >= static_cast<std::int32_t>(job_.first_step))
          time += static_cast<double>(row.time);
        cause.what_if.expect.waits.push_back(
            {job_.graph.first_edge[rank] + row.edge, ShareOf(row.time, rules_.optimizer_gain)});
      }
    }
    if (2 * fused > time || count / RankSteps() <= rules_.optimizer_launches ||
        !IsShare(time, rules_.optimizer_share))
      return;
    cause.finding.metrics.push_back({"launches_per_step", count / RankSteps(), "count"});
    cause.finding.metrics.push_back({"time_per_step", time / RankSteps(), "ns"});
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
      if (clock >= rules_.clock_ratio * at_best) continue;
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
    cause.finding.metrics.push_back({"clock", Median(std::move(clocks)), "MHz"});
    cause.finding.metrics.push_back({"clock_rated", rated, "MHz"});
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

const FindingInfo kOpSlow = Opportunity(
    "op.slow", {"operator", "model"},
    {"kernels run far below the chip's limit", "算子远低于芯片能力"},
    {.area = Area::kDevices,
     .leaves = ComputeLeaves(),
     .needs = {Record::kShapes, Record::kTensors, Record::kMemoryLimits},
     .find = FindBy<OperatorCauses>,
     .advice = {{FittingShapes(),
                 {{"tune the tiling (AOE)", "AOE 调优 tiling"},
                  Check("tiling of the operator", "AOE")}},
                {FittingShapes()}},
     .thresholds = {
         {"share", &Rules::slow_share, 0, 1,
          "kernels of a kind take at least this share of the step"},
         {"use", &Rules::slow_use, 0, 1,
          "a kernel is slow below this share of what the chip can do"},
         {"reach", &Rules::slow_reach, 0.01, 1, "a fix reaches this share of it"},
         {"least_ns", &Rules::slow_kernel_ns, 0, kLongestTime,
          "shorter kernels spend most of their time on starting"},
         {"memory_gbs", &Rules::memory_gbs, 0, 1e6,
          "highest bandwidth of the device memory, in GB/s; 0: as the chip's entry says"},
         {"cache_bytes", &Rules::cache_bytes, 0, kMostBytes,
          "smaller tensors fit the cache, and do not show that bandwidth; 0: as the chip's entry "
          "says"}}});

const FindingInfo kOpVariance =
    Fault("op.variance", {"operator", "hardware"},
          {"equal kernels take different times", "相同算子耗时波动大"},
          {.area = Area::kDevices,
           .leaves = ComputeLeaves(),
           .needs = {Record::kShapes},
           .advice = {{{{"compare the slow ones in the timeline: contention, cache, clock",
                         "在时间线上对比慢的算子：资源竞争、缓存、频率"},
                        Check("contention, cache and clock while the slow ones run")}}},
           .thresholds = {{"share", &Rules::variance_share, 0, 1,
                           "kernels of a kind take at least this share of the step"},
                          {"ratio", &Rules::variance_ratio, 1, 1000,
                           "their upper decile takes this many times the median"},
                          {"calls", &Rules::variance_calls, 2, kMostCalls,
                           "fewer kernels per step are not judged"}}});

const FindingInfo kOpFp32 = Opportunity(
    "op.fp32", {"model"}, {"matrices are multiplied in FP32", "矩阵乘使用 FP32"},
    {.area = Area::kDevices,
     .leaves = ComputeLeaves(),
     .advice = {{LowPrecision(),
                 {{"else allow HF32 (torch.npu.matmul.allow_hf32)",
                   "或开启 HF32（torch.npu.matmul.allow_hf32）"},
                  SetOption("torch.npu.matmul.allow_hf32", true)}},
                {LowPrecision(),
                 {{"else allow TF32", "或开启 TF32"},
                  SetOption("torch.backends.cuda.matmul.allow_tf32", true)}}},
     .thresholds = {
         {"share", &Rules::fp32_share, 0, 1,
          "products of FP32 take at least this share of the step"},
         {"gain", &Rules::fp32_gain, 0, 1, "a fix removes this share of the kernels' time"},
         {"most", &Rules::fp32_most, 0, 1, "no fix removes more than this share"}}});

const FindingInfo kOpOptimizer = Opportunity(
    "op.optimizer", {"model"},
    {"the optimizer runs in many small kernels", "优化器由大量小算子组成"},
    {.area = Area::kDevices,
     .category = kFusibleCategory,
     .leaves = ComputeLeaves(),
     .advice = {{{{"use torch_npu.optim.NpuFusedAdamW or the like",
                   "使用 torch_npu.optim.NpuFusedAdamW 等融合优化器"},
                  Change("optimizer", "torch_npu.optim.NpuFused*")},
                 {{"clip with its clip_grad_norm_fused_", "用其 clip_grad_norm_fused_ 裁剪梯度"},
                  Change("clipping of gradients", "clip_grad_norm_fused_")}},
                {{{"fused=True in the optimizer", "优化器设置 fused=True"},
                  SetOption("optimizer.fused", true)}}},
     .thresholds = {
         {"share", &Rules::optimizer_share, 0, 1,
          "the optimizer takes at least this share of the step"},
         {"launches", &Rules::optimizer_launches, 1, kMostCalls,
          "it launches more kernels per step than this"},
         {"gain", &Rules::optimizer_gain, 0, 1, "a fix removes this share of its time"}}});

const FindingInfo kDevClock =
    Fault("dev.clock", {"hardware", "platform"},
          {"the cores run below their rated clock", "AI Core 频率低于额定值"},
          {.area = Area::kDevices,
           .category = {"AI Core Frequency Issues", "AIcore频率"},
           .leaves = {Leaf::kMatmul},
           .needs = {Record::kClock, Record::kRatedClock},
           .advice = {{{{"check power cap, temperature and cooling (npu-smi)",
                         "检查功耗上限、温度和散热（npu-smi）"},
                        Check("power cap, temperature and cooling", "npu-smi")}},
                      {{{"check power cap, temperature and cooling (nvidia-smi)",
                         "检查功耗上限、温度和散热（nvidia-smi）"},
                        Check("power cap, temperature and cooling", "nvidia-smi")}}},
           .thresholds = {{"ratio", &Rules::clock_ratio, 0, 1,
                           "a device is throttled below this share of its rated clock"}}});

}  // namespace mpa
