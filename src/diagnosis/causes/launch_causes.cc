// SPDX-License-Identifier: Apache-2.0
// Hosts that launch more slowly than their devices compute, and single calls that stand still.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "finder.h"
#include "host_stretches.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kStallNs{"stall_ns", 2'000'000, 0, kMaxTime,
                             "where calls of the runtime are recorded, shorter stalls have"
                             " reasons of their own"},
    kStallOfLike{"stall_of_like", 5, 1, 1e6,
                 "there, it takes this many times what the same operator usually takes"},
    kLaunchGain{"gain", 0.2, 0, 1, "a fix removes this share of the host's work"},
    kLaunchRun{"kernels", 10, 1, kMaxCalls,
               "at least this many kernels in a row start late because they are launched late"},
    kLaunchShare{"share", 0.05, 0, 1,
                 "the device waits for such launches for this share of the step"};

constexpr MetricInfo kTimePerLaunch{"time_per_launch", "ns", "one launch per {}"},
    kMeanKernel{"mean_kernel", "ns", "mean kernel {}"};

const std::vector<TimeCategory>& DispatchCategories() {
  static const std::vector<TimeCategory> categories = {
      TimeCategory::kDispatchOp, TimeCategory::kDispatchCann, TimeCategory::kDispatchComm};
  return categories;
}

// Kernels that follow each other and start only because they were launched then: the device had
// nothing else to do.
struct StarvedRuns {
  std::int64_t kernels = 0;
  std::int64_t launches = 0;  // each behind another one of its run
  TimeNs host = 0;            // that the host took from each to the next
  TimeNs device = 0;          // that they ran
  TimeNs starved = 0;         // that the device waited for them
};

class StarvedKernels {
  static constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();

 public:
  StarvedKernels(const Job& job, RankIndex rank)
      : job_(job), part_(job.Part(rank)), launched_(part_.graph.nodes.size(), kNever) {
    for (const GraphEdge& edge : part_.graph.edges) {
      if (part_.graph.nodes[edge.on].kind == NodeKind::kLaunch &&
          part_.graph.nodes[edge.node].kind == NodeKind::kKernel) {
        launched_[edge.node] = part_.graph.nodes[edge.on].start + edge.weight;
      }
    }
    AddOtherWork();
  }

  StarvedRuns Find() {
    std::vector<std::pair<TimeNs, std::uint32_t>> order;
    const auto& nodes = part_.graph.nodes;
    std::vector<TimeNs> left;  // when collectives ended
    for (const RankCollective& collective : part_.graph.collectives)
      left.push_back(nodes[collective.leave].start);
    std::ranges::sort(left);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind == NodeKind::kKernel || nodes[i].kind == NodeKind::kCopy)
        order.emplace_back(nodes[i].start, i);
    }
    std::ranges::sort(order);
    TimeNs busy = kNever;
    std::size_t collective = 0;
    for (const auto& [start, node] : order) {
      // A collective that goes on did not hold the kernel up.
      for (; collective < left.size() && left[collective] <= start; ++collective)
        busy = std::max(busy, left[collective]);
      const TimeNs before = busy;
      busy = std::max(busy, start + nodes[node].dur);
      if (nodes[node].kind != NodeKind::kKernel) continue;
      const TimeNs launched = launched_[node];
      const bool counts = job_.Counts(nodes[node].step);
      if (!counts || launched == kNever || launched <= before) {
        EndRun();
        continue;
      }
      AddToRun(nodes[node], launched, before == kNever ? 0 : start - before);
    }
    EndRun();
    return found_;
  }

 private:
  // What the host does that is not launching, and where it waits for the device, by when it has
  // done so.
  void AddOtherWork() {
    std::map<TimeNs, TimeNs> other;
    for (const HostShare& share : part_.shares) {
      const bool issues = IsOf(DispatchCategories(), share.category) ||
                          share.category == TimeCategory::kPython ||
                          share.category == TimeCategory::kHostIdle;
      const bool launches = issues && !share.starts_up;
      if (!launches)
        other[part_.graph.nodes[part_.graph.edges[share.edge].node].start] += share.time;
    }
    for (const BlockedPart& call : part_.blocked) {
      TimeNs& waited = other[part_.graph.nodes[part_.graph.edges[call.edge].node].start];
      waited = std::max(waited, call.dur);
    }
    other_.assign(other.begin(), other.end());
    for (std::size_t i = 1; i < other_.size(); ++i) other_[i].second += other_[i - 1].second;
  }

  TimeNs OtherWorkUntil(TimeNs time) const {
    const auto after = std::upper_bound(other_.begin(), other_.end(),
                                        std::pair{time, std::numeric_limits<TimeNs>::max()});
    return after == other_.begin() ? 0 : std::prev(after)->second;
  }

  void AddToRun(const GraphNode& kernel, TimeNs launched, TimeNs gap) {
    if (run_.kernels > 0) {
      const TimeNs since = launched - last_launched_;
      const TimeNs other =
          std::min(since, OtherWorkUntil(launched) - OtherWorkUntil(last_launched_));
      ++run_.launches;
      run_.host += since - other;
      run_.starved += std::max<TimeNs>(0, gap - other);
    }
    ++run_.kernels;
    run_.device += kernel.dur;
    last_launched_ = launched;
  }

  void EndRun() {
    if (static_cast<double>(run_.kernels) >= job_.thresholds[kLaunchRun]) {
      found_.kernels += run_.kernels;
      found_.launches += run_.launches;
      found_.host += run_.host;
      found_.device += run_.device;
      found_.starved += run_.starved;
    }
    run_ = {};
  }

  const Job& job_;
  const RankDiagnosis& part_;
  std::vector<TimeNs> launched_;  // by node: when the kernel can start at the earliest
  std::vector<std::pair<TimeNs, TimeNs>> other_;  // times and all such work until then
  TimeNs last_launched_ = 0;
  StarvedRuns run_, found_;
};

// What stalls of a rank take more than their like does, in all and in the counted steps.
struct Stalls {
  std::vector<Removal::Edge> waits;
  TimeNs time = 0;
  std::int64_t calls = 0;
};

class LaunchCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    AddStalledLaunches();
    AddLaunchBound();
  }

 private:
  // That single operators and launches take many times as long as the others is a fault, unless the
  // peers of the rank show that it is late. Calls of the runtime that tell another reason are
  // classes of their own.
  void AddStalledLaunches() {
    Finding candidate = NewFinding(job_, kHostLaunchBound, "stalls");
    candidate.variant = &kHostStalls;
    candidate.kind = FindingKind::kFault;
    candidate.what_if.opportunity = false;
    std::vector<Stalls> stalls;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) stalls.push_back(StallsOf(rank));
    double time = 0, calls = 0;
    std::vector<RankId> ranks;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const double common = CommonShare(rank, stalls);
      if (stalls[rank].time > 0 && common > 0) ranks.push_back(job_.ranks[rank].rank);
      for (const Removal::Edge& stall : stalls[rank].waits) {
        const TimeNs less = ShareOf(stall.less, common);
        if (less > 0) candidate.what_if.expect.waits.push_back({stall.edge, less});
      }
      time += common * static_cast<double>(stalls[rank].time);
      calls += common * static_cast<double>(stalls[rank].calls);
    }
    if (candidate.what_if.expect.waits.empty()) return;
    MeasureSums(calls, time, candidate);
    if (ranks.size() < job_.ranks.size()) candidate.ranks = std::move(ranks);
    candidates_.push_back(std::move(candidate));
  }

  Stalls StallsOf(RankIndex rank) const {
    Stalls stalls;
    const RankDiagnosis& part = job_.Part(rank);
    const std::vector<Interval> blocked = TimesOfBlockedCalls(part);
    const HostStretches stretches(job_, rank);
    HostPlaces::Reader places(part.places);
    const bool tells_calls = part.has_calls && part.source != kGpuSource;
    const std::map<NameId, TimeNs> of_like =
        tells_calls ? UsualCallsOf(part) : std::map<NameId, TimeNs>{};
    for (const TimeCategory category : {TimeCategory::kDispatchOp, TimeCategory::kDispatchCann}) {
      const TimeNs usual = stretches.UsualOf(category);
      if (usual == 0) continue;
      for (std::uint32_t i = 0; i < part.shares.size(); ++i) {
        const HostShare& row = part.shares[i];
        if (row.category != category || row.starts_up || stretches.IsBehindAll(row) ||
            static_cast<double>(row.time) <
                job_.thresholds[kStallRatio] * static_cast<double>(usual))
          continue;
        const std::optional<HostPlace> longest = LongestOf(places, i);
        if (!IsSingleCall(longest, row) || (tells_calls && !IsUnusual(longest, of_like))) continue;
        const TimeNs done = part.graph.nodes[part.graph.edges[row.edge].node].start;
        if (IsWithin(blocked, done)) continue;
        stalls.waits.push_back({job_.graph.first_edge[rank] + row.edge, row.time - usual});
        if (job_.StepOfEdge(rank, row.edge) < static_cast<std::int32_t>(job_.first_step)) continue;
        stalls.time += row.time - usual;
        ++stalls.calls;
      }
    }
    return stalls;
  }

  // The longest call of a stretch; empty: none has a name.
  static std::optional<HostPlace> LongestOf(HostPlaces::Reader& places, std::uint32_t share) {
    std::optional<HostPlace> longest;
    places.ForEachOf(share, [&](const HostPlace& place) {
      if (!longest || place.longest > longest->longest) longest = place;
    });
    return longest;
  }

  // Many short calls without a launch take long as well, but none of them stands still.
  static bool IsSingleCall(const std::optional<HostPlace>& longest, const HostShare& share) {
    return !longest || 2 * longest->longest >= share.time;
  }

  // How long calls of a name take, by their median, of those that a step has several of.
  static std::map<NameId, TimeNs> UsualCallsOf(const RankDiagnosis& part) {
    std::map<NameId, std::vector<TimeNs>> times;
    for (const HostPlace& place : part.places) times[place.name].push_back(place.longest);
    std::map<NameId, TimeNs> usual;
    for (auto& [name, of_name] : times) {
      if (of_name.size() > std::max<std::size_t>(2, part.steps.size()))
        usual[name] = Median(std::move(of_name));
    }
    return usual;
  }

  // An operator that always takes long does not stand still.
  bool IsUnusual(const std::optional<HostPlace>& longest,
                 const std::map<NameId, TimeNs>& of_like) const {
    if (!longest || longest->longest < Whole(job_.thresholds[kStallNs])) return false;
    const auto like = of_like.find(longest->name);
    return like == of_like.end() ||
           static_cast<double>(longest->longest) >=
               job_.thresholds[kStallOfLike] * static_cast<double>(like->second);
  }

  // A call that waits for the device does not stand still: it is judged as what it is.
  static std::vector<Interval> TimesOfBlockedCalls(const RankDiagnosis& part) {
    std::vector<Interval> times;
    for (const BlockedPart& call : part.blocked) {
      const TimeNs end = part.graph.nodes[part.graph.edges[call.edge].node].start;
      times.push_back({end - call.dur, end});
    }
    return times;
  }

  static bool IsWithin(const std::vector<Interval>& times, TimeNs time) {
    return std::ranges::any_of(
        times, [time](const Interval& of) { return of.begin < time && time <= of.end; });
  }

  // The part of the stalls of a rank that its peers have as well.
  double CommonShare(RankIndex rank, const std::vector<Stalls>& stalls) const {
    const std::vector<std::size_t>& peers = job_.RoleOf(rank);
    const TimeNs own = stalls[rank].time;
    // Where ranks cannot be compared, no other cause reports the stall.
    if (!CanCompare(job_, peers.size()) || own == 0) return 1;
    std::vector<TimeNs> times;
    for (const std::size_t peer : peers) times.push_back(stalls[peer].time);
    return static_cast<double>(std::min(own, LowerQuartile(std::move(times)))) /
           static_cast<double>(own);
  }

  // All hosts would have to launch faster. Launches come in bursts, so only those for which the
  // device waited tell how long one takes.
  void AddLaunchBound() {
    Finding candidate = NewFinding(job_, kHostLaunchBound);
    StarvedRuns runs;
    std::vector<double> shares;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const StarvedRuns of_rank = StarvedKernels(job_, rank).Find();
      shares.push_back(Share(of_rank.starved, job_.CountedSteps()));
      runs.kernels += of_rank.kernels;
      runs.launches += of_rank.launches;
      runs.host += of_rank.host;
      runs.device += of_rank.device;
      for (const HostShare& row : job_.Part(rank).shares) {
        if (!IsOf(DispatchCategories(), row.category) || row.starts_up) continue;
        const std::uint32_t edge = job_.graph.first_edge[rank] + row.edge;
        candidate.what_if.expect.waits.push_back(
            {edge, ShareOf(row.time, job_.thresholds[kLaunchGain])});
        candidate.what_if.bound.waits.push_back({edge, row.time});
      }
    }
    // A single rank that is starved is late.
    const bool is_common = Median(std::move(shares)) >=
                           job_.thresholds[kLaunchShare] * static_cast<double>(job_.step_time);
    if (!is_common || runs.launches == 0) return;
    const double per_launch = Share(runs.host, runs.launches);
    const double mean_kernel = Share(runs.device, runs.kernels);
    if (per_launch <= mean_kernel) return;
    candidate.Measure(kTimePerLaunch, per_launch);
    candidate.Measure(kMeanKernel, mean_kernel);
    AddMemory(candidate);
    candidates_.push_back(std::move(candidate));
  }

  // Where much memory is never used, larger batches give the device more to do for each launch.
  void AddMemory(Finding& candidate) const {
    std::int64_t most = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const std::int64_t peak = job_.Part(rank).memory.peak;
      if (peak <= 0) return;
      most = std::max(most, peak);
    }
    if (2 * static_cast<double>(most) > job_.thresholds[kMemoryBytes]) return;
    candidate.facts.memory_is_free = true;
    candidate.Measure(kPeakReserved, most);
  }
};

AdvicePart LargerBatches() {
  return If([](const AdviceFacts& facts) { return facts.memory_is_free; },
            {"larger batches: most of the memory is free", Change("batch size", "larger")});
}

AdvicePart MendBreaks() {
  return If(IsCompiled, {"find what breaks compiled functions apart (TORCH_LOGS=graph_breaks)",
                         Check("breaks of compiled functions", "TORCH_LOGS=graph_breaks")});
}

}  // namespace

const FindingType kHostLaunchBound = Opportunity(
    Area::kHosts, "host.launch_bound", {"framework", "model"},
    "the host feeds the device too slowly",
    {.looked_at =
         "runs of kernels that start as soon as they are launched, with the device free before",
     .refuted_by = "launches are ahead of the device: kernels start when the one before ends",
     .categories = {TimeCategory::kDispatchOp, TimeCategory::kDispatchCann,
                    TimeCategory::kDispatchComm},
     .find = FindBy<LaunchCauses>,
     .advice = {{LargerBatches(), Setting(kTaskQueueAdvice, "TASK_QUEUE_ENABLE", "2"), BindCores(),
                 If(IsNotCompiled, {"use fused operators or graphs",
                                    Change("operators", "fused, or captured as a graph")}),
                 MendBreaks()},
                {BindProcesses(),
                 If(IsNotCompiled, {"use CUDA graphs or torch.compile",
                                    Change("operators", "CUDA graphs or torch.compile")}),
                 MendBreaks()}},
     .thresholds = {&kLaunchGain, &kLaunchRun, &kLaunchShare, &kStallRatio, &kStallNs,
                    &kStallOfLike, &kMemoryBytes}});

const FindingVariant kHostStalls{
    "single calls of the host stand still",
    {{If([](const AdviceFacts& facts) { return !facts.has_stacks; },
         {"capture with stacks (with_stack=True), which show what the calls do",
          Capture({{"with_stack", true}})}),
      If([](const AdviceFacts& facts) { return facts.has_stacks; },
         {"see in their stacks what the calls do", Check("stacks of the calls")}),
      {"capture later steps", Capture({{"skip_first", std::string("more")}})}}}};

}  // namespace mpa
