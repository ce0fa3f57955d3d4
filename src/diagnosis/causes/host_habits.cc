// SPDX-License-Identifier: Apache-2.0
// How the hosts work: launches that wait, launches that are held up, Python between the operators.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "finder.h"
#include "mpa/diagnosis/causes/cause.h"

namespace mpa {
namespace {

class HostHabits : Finder {
 public:
  using Finder::Finder;

  void Find() {
    AddBlocking();
    AddContention();
    AddPython();
  }

 private:
  bool Counts(std::int32_t step) const {
    return step >= static_cast<std::int32_t>(job_.first_step) &&
           static_cast<std::size_t>(step) < job_.steps;
  }

  void AddBlocking() {
    Cause cause = NewCause(job_, kHostLaunchBlocking);
    double worst = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const double waits = WaitsOfLaunches(job_, rank);
      if (!BlocksLaunches(job_, rank)) continue;
      worst = std::max(worst, waits);
      cause.finding.ranks.push_back(job_.ranks[rank].rank);
      for (const BlockedPart& call : job_.Part(rank).blocked) {
        if (call.behind_launch) DropWait(job_, rank, call, cause.what_if.expect);
      }
    }
    if (cause.finding.ranks.empty()) return;
    if (cause.finding.ranks.size() == job_.ranks.size()) cause.finding.ranks.clear();
    cause.finding.metrics.push_back({"waits_of_launches", worst, "share"});
    causes_.push_back(std::move(cause));
  }

  // One call of equal kind takes many times another: something else has the core.
  void AddContention() {
    if (static_cast<double>(job_.CountedSteps()) < rules_.cpu_steps) return;
    Cause cause = NewCause(job_, kHostCpuContention);
    cause.finding.confidence = Certainty::kLow;
    double worst = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      std::vector<double> share(job_.steps, 0);  // of the launches that is not their usual time
      std::size_t held_up = 0;
      for (std::size_t step = job_.first_step; step < std::min(job_.steps, part.steps.size());
           ++step) {
        const StepPart& of = part.steps[step];
        if (static_cast<double>(of.launches) < rules_.cpu_launches || of.launch_median <= 0)
          continue;
        const double ratio =
            static_cast<double>(of.launch_decile) / static_cast<double>(of.launch_median);
        if (ratio < rules_.cpu_ratio) continue;
        ++held_up;
        worst = std::max(worst, ratio);
        share[step] = std::max(0.0, 1 - static_cast<double>(of.launch_median * of.launches) /
                                            static_cast<double>(of.launch_time));
      }
      if (2 * held_up <= job_.CountedSteps()) continue;
      cause.finding.ranks.push_back(job_.ranks[rank].rank);
      for (const HostShare& row : part.shares) {
        const std::int32_t step = job_.StepOfEdge(rank, row.edge);
        if (!Counts(step) || row.leaf != Leaf::kDispatchCann) continue;
        const TimeNs less = ShareOf(row.time, share[static_cast<std::size_t>(step)]);
        if (less > 0)
          cause.what_if.expect.waits.push_back({job_.graph.first_edge[rank] + row.edge, less});
      }
    }
    if (cause.finding.ranks.empty()) return;
    if (cause.finding.ranks.size() == job_.ranks.size()) cause.finding.ranks.clear();
    cause.finding.metrics.push_back({"slowest_tenth", worst, "ratio"});
    causes_.push_back(std::move(cause));
  }

  void AddPython() {
    Cause cause = NewCause(job_, kHostPython);
    // What may be garbage collection is not sold again.
    std::set<ReplayGraph::Edge> collects;
    for (const Cause& other : causes_) {
      if (!other.finding.Is(kHostGc) || other.finding.confidence != Certainty::kLow) continue;
      for (const Removal::Edge& wait : other.what_if.expect.waits) collects.insert(wait.edge);
    }
    double time = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      if (!job_.Part(rank).has_host_ops) continue;  // what the host does is unknown, not Python
      for (const HostShare& row : job_.Part(rank).shares) {
        if (row.starts_up || (row.leaf != Leaf::kPython && row.leaf != Leaf::kHostIdle)) continue;
        const std::uint32_t edge = job_.graph.first_edge[rank] + row.edge;
        if (collects.contains(edge)) continue;
        cause.what_if.expect.waits.push_back({edge, ShareOf(row.time, rules_.python_gain)});
        cause.what_if.bound.waits.push_back({edge, row.time});
        if (Counts(job_.StepOfEdge(rank, row.edge))) time += static_cast<double>(row.time);
      }
    }
    time /= static_cast<double>(job_.ranks.size() * job_.CountedSteps());
    if (time < rules_.python_share * static_cast<double>(job_.step_time)) return;
    cause.finding.metrics.push_back({"time_per_step", time, "ns"});
    causes_.push_back(std::move(cause));
  }
};

bool IsOn(const std::map<std::string, std::string>& settings, const char* name) {
  const auto found = settings.find(name);
  return found != settings.end() && found->second != "0";
}

}  // namespace

double WaitsOfLaunches(const Job& job, std::size_t rank) {
  const RankDiagnosis& part = job.Part(rank);
  std::int64_t launches = 0, waits = 0;
  for (const StepPart& step : part.steps) launches += step.launches;
  for (const BlockedPart& call : part.blocked) waits += call.behind_launch ? 1 : 0;
  return launches == 0 ? 0 : static_cast<double>(waits) / static_cast<double>(launches);
}

bool BlocksLaunches(const Job& job, std::size_t rank) {
  const auto& settings = job.Part(rank).settings;
  return WaitsOfLaunches(job, rank) >= job.rules.blocking_share ||
         IsOn(settings, "ASCEND_LAUNCH_BLOCKING") || IsOn(settings, "CUDA_LAUNCH_BLOCKING");
}

const FindingInfo kHostLaunchBlocking =
    Fault("host.launch_blocking", {"framework"},
          {"every launch waits for the device", "每次下发都同步等待设备"},
          {.area = Area::kHosts,
           .category = {"Synchronize Stream Issues", "Synchronize Stream Issues"},
           .leaves = {Leaf::kExplicitSync},
           .npu_alone = true,
           .find = FindBy<HostHabits>,
           .advice = {{Setting({"unset ASCEND_LAUNCH_BLOCKING", "取消 ASCEND_LAUNCH_BLOCKING"},
                               "ASCEND_LAUNCH_BLOCKING", "0"),
                       {{"do not synchronise behind every operator", "不要在每个算子后同步"},
                        Change("synchronisations behind operators", "none")}},
                      {Setting({"unset CUDA_LAUNCH_BLOCKING", "取消 CUDA_LAUNCH_BLOCKING"},
                               "CUDA_LAUNCH_BLOCKING", "0"),
                       {{"do not synchronise behind every operator", "不要在每个算子后同步"},
                        Change("synchronisations behind operators", "none")}}},
           .thresholds = {{"share", &Rules::blocking_share, 0, 1,
                           "this share of the launches is followed by a wait"}}});

const FindingInfo kHostCpuContention = Fault(
    "host.cpu_contention", {"platform"}, {"launches are held up now and then", "算子下发时快时慢"},
    {.area = Area::kHosts,
     .leaves = {Leaf::kDispatchCann},
     .applies =
         [](const Coverage& job) {
           return job.calls && !job.on_gpu && job.steps >= job.rules.cpu_steps;
         },
     .advice = {{BindCores(), KeepOthersOff()}, {BindProcesses(), KeepOthersOff()}},
     .thresholds = {{"ratio", &Rules::cpu_ratio, 1, 1000,
                     "the upper decile of the launches takes this many times the median"},
                    {"launches", &Rules::cpu_launches, 1, kMostCalls,
                     "fewer launches per step are not judged"},
                    {"steps", &Rules::cpu_steps, 1, kMostCalls, "fewer steps are not judged"}}});

const FindingInfo kHostPython = Opportunity(
    "host.python", {"model"}, {"Python delays the next operators", "算子之间的 Python 耗时"},
    {.area = Area::kHosts,
     .leaves = {Leaf::kPython, Leaf::kHostIdle},
     .needs = {Record::kStacks},
     .advice = {{{{"move logging, metrics and locks out of the step",
                   "把日志、指标统计和锁移出 step"},
                  Change("logging, metrics and locks", "out of the step")}}},
     .thresholds = {{"share", &Rules::python_share, 0, 1,
                     "Python between operators takes at least this share of the step"},
                    {"gain", &Rules::python_gain, 0, 1, "a fix removes this share of it"}}});

}  // namespace mpa
