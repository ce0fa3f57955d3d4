// SPDX-License-Identifier: Apache-2.0
// Kernels of one kind that take different times.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel_finder.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kVarianceShare{"share", 0.02, 0, 1,
                                   "kernels of a kind take at least this share of the step"},
    kVarianceRatio{"ratio", 2, 1, 1000, "their upper decile takes this many times the median"},
    kVarianceCalls{"calls", 10, 2, kMaxCalls, "steps with fewer kernels are not judged"},
    kVarianceSteady{"steady", 1.3, 1, 1000,
                    "equal kernels are steady if their upper quartile takes at most this many"
                    " times the lower one: then a single one stands out"};

constexpr MetricInfo kLongest{"longest", "ratio", "one takes {} times the median of its equals"};

class UnevenKernels : KernelFinder {
 public:
  using KernelFinder::KernelFinder;

  void Find() {
    const std::set<std::string> types = AddSpread();
    AddSingle(types);
  }

 private:
  struct Uneven {
    Removal removal;
    double time = 0, count = 0, worst = 0;
  };

  static bool IsOfAnySize(TimeCategory category) {
    return category == TimeCategory::kAttention || category == TimeCategory::kGroupedMatmul;
  }
  Intervals Communicates(const RankDiagnosis& part) const {
    std::vector<Interval> operations;
    for (const OperationPart& row : part.operations)
      operations.push_back({row.start, row.start + row.dur});
    return Union(std::move(operations));
  }

  // Kernels of one kind in one step that differ much. Attention and grouped products may have other
  // lengths in tensors of one shape; beside a collective they share the memory with it.
  std::set<std::string> AddSpread() {
    std::map<std::string, Uneven> by_type;
    std::set<std::string> types;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      const Intervals communicates = Communicates(part);
      std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::uint32_t>>
          groups;  // by step and kind
      for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
        const GraphNode& node = part.graph.nodes[i];
        if (!Counts(node) || IsOfAnySize(node.category)) continue;
        // Kernels whose shapes are not known may be of any size.
        const std::string& shapes = part.names[part.KindOf(node).shapes];
        if (shapes.empty() || shapes == "N/A" || Contains(communicates, node.start)) continue;
        groups[{node.step, node.row}].push_back(i);
      }
      for (auto& [place, nodes] : groups) {
        if (static_cast<double>(nodes.size()) < thresholds_[kVarianceCalls]) continue;
        const auto dur = [&](std::uint32_t node) { return part.graph.nodes[node].dur; };
        StableSort(nodes, {}, dur);
        std::vector<TimeNs> durations;
        for (const std::uint32_t node : nodes) durations.push_back(dur(node));
        const TimeNs median = Percentile(durations, 50),
                     decile = durations[PercentileIndex(durations.size(), 90)];
        if (median <= 0 ||
            static_cast<double>(decile) < thresholds_[kVarianceRatio] * static_cast<double>(median))
          continue;
        Uneven& uneven =
            by_type[part.names[part.kinds[static_cast<std::size_t>(place.second)].type]];
        uneven.worst = std::max(uneven.worst, Share(decile, median));
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
      Finding candidate = NewFinding(job_, kOpVariance, type);
      candidate.Measure(kSlowestTenth, uneven.worst);
      MeasureSums(uneven.count, uneven.time, candidate);
      candidate.what_if.expect = std::move(uneven.removal);
      candidates_.push_back(std::move(candidate));
      types.insert(type);
    }
    return types;
  }

  // The kernels of one stream, in the order of time.
  std::map<std::int32_t, std::vector<std::uint32_t>> Streams(const RankDiagnosis& part) const {
    std::map<std::int32_t, std::vector<std::uint32_t>> streams;
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      if (Counts(part.graph.nodes[i])) streams[part.graph.nodes[i].stream].push_back(i);
    }
    for (auto& [stream, nodes] : streams)
      StableSort(nodes, {}, [&](std::uint32_t i) { return part.graph.nodes[i].start; });
    return streams;
  }

  // Where shapes are not known, kernels are equal that have the same neighbours: a few of the same
  // kinds before and behind, which take as long as those of the others. A larger tensor would show
  // in them, too. Where equal kernels are steady, a single one stands out.
  void AddSingle(const std::set<std::string>& told) {
    std::map<std::string, Uneven> by_type;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      const Intervals communicates = Communicates(part);
      for (const auto& [stream, nodes] : Streams(part)) {
        std::map<Context, std::vector<std::size_t>> equals;
        for (std::size_t at = kReach; at + kReach < nodes.size(); ++at) {
          const GraphNode& node = part.graph.nodes[nodes[at]];
          if (IsOfAnySize(node.category) || Contains(communicates, node.start)) continue;
          Context context;
          for (std::size_t i = 0; i < context.size(); ++i)
            context[i] = part.graph.nodes[nodes[at + i - kReach]].row;
          equals[context].push_back(at);
        }
        for (const auto& [context, places] : equals) {
          if (static_cast<double>(places.size()) < thresholds_[kVarianceCalls]) continue;
          AddSingleOf(rank, nodes, places, by_type);
        }
      }
    }
    for (auto& [type, single] : by_type) {
      if (told.contains(type) || !IsShare(single.time, job_.thresholds[kMinShare])) continue;
      Finding candidate = NewFinding(job_, kOpVariance, type);
      candidate.Measure(kLongest, single.worst);
      MeasureSums(single.count, single.time, candidate);
      candidate.what_if.expect = std::move(single.removal);
      candidates_.push_back(std::move(candidate));
    }
  }

  static constexpr std::size_t kReach = 3;  // neighbours on each side
  using Context = std::array<std::int32_t, 2 * kReach + 1>;

  // `places`: of equal kernels among `nodes`, those of a stream. `by_type` gets what the long ones
  // take more.
  void AddSingleOf(RankIndex rank, const std::vector<std::uint32_t>& nodes,
                   const std::vector<std::size_t>& places,
                   std::map<std::string, Uneven>& by_type) const {
    constexpr TimeNs kJitter = 2'000;
    const RankDiagnosis& part = job_.Part(rank);
    const auto dur = [&](std::size_t at) { return part.graph.nodes[nodes[at]].dur; };
    std::array<TimeNs, 2 * kReach + 1> usual{};
    for (std::size_t i = 0; i < usual.size(); ++i) {
      std::vector<TimeNs> durations;
      for (const std::size_t at : places) durations.push_back(dur(at + i - kReach));
      std::ranges::sort(durations);
      usual[i] = Percentile(durations, 50);
      const auto low = static_cast<double>(Percentile(durations, 25)),
                 high = static_cast<double>(Percentile(durations, 75));
      if (i == kReach && high > thresholds_[kVarianceSteady] * low + kJitter) return;
    }
    const TimeNs median = usual[kReach];
    for (const std::size_t at : places) {
      const bool is_long =
          median > 0 && static_cast<double>(dur(at)) >
                            thresholds_[kVarianceRatio] * static_cast<double>(median) + kJitter;
      bool is_equal = is_long;
      for (std::size_t i = 0; is_equal && i < usual.size(); ++i) {
        is_equal = i == kReach ||
                   static_cast<double>(dur(at + i - kReach)) <=
                       thresholds_[kVarianceSteady] * static_cast<double>(usual[i]) + kJitter;
      }
      if (!is_equal) continue;
      Uneven& single = by_type[part.names[part.KindOf(part.graph.nodes[nodes[at]]).type]];
      single.worst = std::max(single.worst, Share(dur(at), median));
      single.time += static_cast<double>(dur(at) - median);
      ++single.count;
      single.removal.durations.push_back(
          {job_.graph.first_node[rank] + nodes[at], dur(at) - median});
    }
  }
};

}  // namespace

const FindingType kOpVariance = Fault(
    Area::kDevices, "op.variance", {"operator", "hardware"}, "equal kernels take different times",
    {.looked_at = "kernels of equal shapes in one step; and kernels whose neighbours on both"
                  " sides are of the same kinds and take equally long",
     .refuted_by = "shapes that differ, neighbours that take longer as well (larger"
                   " tensors), neighbours of other kinds, a collective at the same time",
     .categories = ComputeCategories(),
     .needs = {Record::kShapes},
     .find = FindBy<UnevenKernels>,
     .advice = {{{"compare the slow ones in the timeline: contention, cache, clock",
                  Check("contention, cache and clock while the slow ones run")}}},
     .thresholds = {&kVarianceShare, &kVarianceRatio, &kVarianceCalls, &kVarianceSteady}});

}  // namespace mpa
