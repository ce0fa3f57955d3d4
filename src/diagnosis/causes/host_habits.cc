// SPDX-License-Identifier: Apache-2.0
// How the hosts work: launches that wait, launches that are held up, Python between the operators.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "finder.h"
#include "host_stretches.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"

namespace mpa {
namespace {

constexpr Threshold kPythonShare{"share", 0.02, 0, 1,
                                 "Python between operators takes at least this share of the step"},
    kUnrecordedShare{"share", 0.02, 0, 1,
                     "the device waits for this share of the step while nothing is recorded"},
    kBlockingShare{"share", 0.5, 0, 1, "this share of the launches is followed by a wait"},
    kCpuRatio{"ratio", 3, 1, 1000,
              "the upper decile of the launches takes this many times the median"},
    kCpuLaunches{"launches", 50, 1, kMaxCalls, "steps with fewer launches are not judged"},
    kCpuSteps{"steps", 3, 1, kMaxCalls, "fewer steps are not judged"};

constexpr MetricInfo kWaitsOfLaunches{"waits_of_launches", "share", "{} of the launches wait"};

class HostHabits : Finder {
 public:
  using Finder::Finder;

  void Find() {
    AddBlocking();
    AddContention();
    AddGaps(kHostPython, TimeCategory::kPython, thresholds_[kPythonShare]);
    AddGaps(kHostUnrecorded, TimeCategory::kHostIdle, thresholds_[kUnrecordedShare]);
  }

 private:
  void AddBlocking() {
    Finding candidate = NewFinding(job_, kHostLaunchBlocking);
    double worst = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const double waits = WaitsOfLaunches(job_, rank);
      if (!BlocksLaunches(job_, rank)) continue;
      worst = std::max(worst, waits);
      candidate.ranks.push_back(job_.ranks[rank].rank);
      for (const BlockedPart& call : job_.Part(rank).blocked) {
        if (call.behind_launch) DropWait(job_, rank, call, candidate.what_if.expect);
      }
    }
    if (candidate.ranks.empty()) return;
    if (candidate.ranks.size() == job_.ranks.size()) candidate.ranks.clear();
    candidate.Measure(kWaitsOfLaunches, worst);
    candidates_.push_back(std::move(candidate));
  }

  // One call of equal kind takes many times another: something else has the core.
  void AddContention() {
    if (static_cast<double>(job_.CountedSteps()) < thresholds_[kCpuSteps]) return;
    Finding candidate = NewFinding(job_, kHostCpuContention);
    candidate.confidence = Certainty::kLow;
    double worst = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      std::vector<double> share(job_.steps, 0);  // of the launches that is not their usual time
      std::size_t held_up = 0;
      for (std::size_t step = job_.first_step; step < std::min(job_.steps, part.steps.size());
           ++step) {
        const StepPart& of = part.steps[step];
        if (static_cast<double>(of.launches) < thresholds_[kCpuLaunches] || of.launch_median <= 0)
          continue;
        const double ratio = Share(of.launch_decile, of.launch_median);
        if (ratio < thresholds_[kCpuRatio]) continue;
        ++held_up;
        worst = std::max(worst, ratio);
        share[step] = std::max(0.0, 1 - Share(of.launch_median * of.launches, of.launch_time));
      }
      if (2 * held_up <= job_.CountedSteps()) continue;
      candidate.ranks.push_back(job_.ranks[rank].rank);
      for (const HostShare& row : part.shares) {
        const std::int32_t step = job_.StepOfEdge(rank, row.edge);
        if (!job_.Counts(step) || row.category != TimeCategory::kDispatchCann) continue;
        const TimeNs less = ShareOf(row.time, share[static_cast<std::size_t>(step)]);
        if (less > 0)
          candidate.what_if.expect.waits.push_back({job_.graph.first_edge[rank] + row.edge, less});
      }
    }
    if (candidate.ranks.empty()) return;
    if (candidate.ranks.size() == job_.ranks.size()) candidate.ranks.clear();
    candidate.Measure(kSlowestTenth, worst);
    candidates_.push_back(std::move(candidate));
  }

  // What the class takes of the host between two moments at which it issues work, beyond what is
  // usual there. A stretch that stands still is a fault, many that are long are a habit.
  void AddGaps(const FindingType& finding, TimeCategory category, double least) {
    Finding candidate = NewFinding(job_, finding);
    // Time that may be garbage collection counts for that cause only.
    std::set<ReplayGraph::Edge> collects;
    for (const Finding& other : candidates_) {
      if (!other.Is(kHostGc) || other.confidence != Certainty::kLow) continue;
      for (const Removal::Edge& wait : other.what_if.expect.waits) collects.insert(wait.edge);
    }
    double time = 0, stalled = 0;
    std::map<RankId, double> of_rank;  // how long its host stood still
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      if (!job_.Part(rank).has_host_ops) continue;  // what the host does is unknown
      const HostStretches stretches(job_, rank);
      const TimeNs usual = stretches.UsualOfAll(category);
      const double stall = thresholds_[kStallRatio] * static_cast<double>(stretches.Whole());
      for (const HostShare& row : job_.Part(rank).shares) {
        if (row.starts_up || row.category != category || stretches.IsBehindAll(row)) continue;
        const std::uint32_t edge = job_.graph.first_edge[rank] + row.edge;
        if (collects.contains(edge)) continue;
        candidate.what_if.bound.waits.push_back({edge, row.time});
        const bool counts = job_.Counts(job_.StepOfEdge(rank, row.edge));
        if (counts) time += static_cast<double>(row.time);
        const TimeNs more = row.time - usual;
        if (more <= 0) continue;
        candidate.what_if.expect.waits.push_back({edge, more});
        if (!counts || static_cast<double>(more) < stall) continue;
        stalled += static_cast<double>(more);
        of_rank[job_.ranks[rank].rank] += static_cast<double>(more);
      }
    }
    if (time / RankSteps() < least * static_cast<double>(job_.step_time)) return;
    if (2 * stalled >= time) {
      candidate.kind = FindingKind::kFault;
      candidate.what_if.opportunity = false;
      candidate.ranks = MostlyOf(of_rank);
    }
    candidate.Measure(kTimePerStep, time / RankSteps());
    candidates_.push_back(std::move(candidate));
  }
};

bool LogsWithin(const AdviceFacts& facts) { return facts.logs; }
bool DoesNotLog(const AdviceFacts& facts) { return !facts.logs; }

bool IsOn(const std::map<std::string, std::string>& settings, const char* name) {
  const auto found = settings.find(name);
  return found != settings.end() && found->second != "0";
}

}  // namespace

double WaitsOfLaunches(const Job& job, RankIndex rank) {
  const RankDiagnosis& part = job.Part(rank);
  std::int64_t launches = 0, waits = 0;
  for (const StepPart& step : part.steps) launches += step.launches;
  for (const BlockedPart& call : part.blocked) waits += call.behind_launch ? 1 : 0;
  return launches == 0 ? 0 : Share(waits, launches);
}

bool BlocksLaunches(const Job& job, RankIndex rank) {
  const auto& settings = job.Part(rank).settings;
  return WaitsOfLaunches(job, rank) >= job.thresholds[kBlockingShare] ||
         IsOn(settings, "ASCEND_LAUNCH_BLOCKING") || IsOn(settings, "CUDA_LAUNCH_BLOCKING");
}

const FindingType kHostLaunchBlocking =
    Fault(Area::kHosts, "host.launch_blocking", {"framework"}, "every launch waits for the device",
          {.looked_at = "the share of launches followed at once by a wait for the device",
           .refuted_by = "few launches are followed by a wait",
           .problem = {"Synchronize Stream Issues"},
           .categories = {TimeCategory::kExplicitSync},
           .npu_alone = true,
           .find = FindBy<HostHabits>,
           .advice = {{Setting("unset ASCEND_LAUNCH_BLOCKING", "ASCEND_LAUNCH_BLOCKING", "0"),
                       {"do not synchronise after every operator",
                        Change("synchronisations after operators", "none")}},
                      {Setting("unset CUDA_LAUNCH_BLOCKING", "CUDA_LAUNCH_BLOCKING", "0"),
                       {"do not synchronise after every operator",
                        Change("synchronisations after operators", "none")}}},
           .thresholds = {&kBlockingShare}});

const FindingType kHostCpuContention =
    Fault(Area::kHosts, "host.cpu_contention", {"platform"}, "launches are held up now and then",
          {.looked_at =
               "the time of launches: the upper decile compared with the median, in several steps",
           .refuted_by = "all launches take about as long, or too few of them",
           .categories = {TimeCategory::kDispatchCann},
           .needs = {Record::kCalls},
           .applies =
               [](const Coverage& job) {
                 return job.calls && !job.on_gpu && job.steps >= job.thresholds[kCpuSteps];
               },
           .advice = {{BindCores(), KeepOthersOff()}, {BindProcesses(), KeepOthersOff()}},
           .thresholds = {&kCpuRatio, &kCpuLaunches, &kCpuSteps}});

const FindingType kHostPython = Opportunity(
    Area::kHosts, "host.python", {"model"}, "Python delays the next operators",
    {.looked_at = "Python events between operators while the device waits for the next launch",
     .refuted_by = "no Python event in the gap: the host is idle or was not recorded",
     .categories = {TimeCategory::kPython},
     .needs = {Record::kStacks},
     .advice = {{If(LogsWithin, {"move logging, metrics and locks out of the step",
                                 Change("logging, metrics and locks", "out of the step")}),
                 If(DoesNotLog, {"make the named functions faster, or run them outside of the step",
                                 Change("the named functions", "faster or outside of the step")})}},
     .thresholds = {&kPythonShare}});

const FindingType kHostUnrecorded = Opportunity(
    Area::kHosts, "host.unrecorded", {"model", "platform"},
    "the device waits, the host is not recorded",
    {.looked_at = "time in which the device waits for a launch and no host activity is recorded",
     .refuted_by = "an operator, a call or a Python function in the gap, which is then the cause",
     .categories = {TimeCategory::kHostIdle},
     .advice = {{If([](const AdviceFacts& facts) { return !facts.has_stacks; },
                    {"capture with stacks (with_stack=True), which show what runs then",
                     Capture({{"with_stack", true}})}),
                 If([](const AdviceFacts& facts) { return facts.has_stacks; },
                    {"see what else runs on the node at that time (locks, files, other processes)",
                     Check("what else runs on the node at that time")})}},
     .thresholds = {&kUnrecordedShare}});

}  // namespace mpa
