// SPDX-License-Identifier: Apache-2.0
// What keeps the threads that launch work from running, as the scheduler of the operating system
// recorded it: others that have their core, cores that are slow to come, interrupts.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"

namespace mpa {
namespace {

constexpr MetricInfo kHoldUpsPerStep{"hold_ups_per_step", "count", "{} times a step"},
    kLongestHoldUp{"longest_hold_up", "ns", "the longest {}"},
    kTakenPerStep{"cores_taken_per_step", "count", "cores are taken {} times a step"},
    kMovesPerStep{"moves_per_step", "count", "{} moves to other cores a step"},
    kFarMovesPerStep{"moves_between_nodes_per_step", "count",
                     "{} moves to other NUMA nodes a step"},
    kSlowerOnNode{"slower_on_node", "ratio", "operators take {} times as long there"};

const std::vector<const FindingType*>& SchedulerFindings() {
  static const std::vector<const FindingType*> findings = {
      &kHostPreempted, &kHostFewCores, &kHostWokenLate, &kHostInterrupts, &kHostNumaMoves};
  return findings;
}

class SchedulerCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    for (const FindingType* type : SchedulerFindings()) Add(*type);
  }

 private:
  void Add(const FindingType& type) {
    Finding candidate = NewFinding(job_, type);
    std::map<RankId, double> of_rank;
    double time = 0, count = 0;
    TimeNs longest = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      std::map<std::uint32_t, TimeNs> of_edge;
      for (const ThreadWait& wait : part.scheduler.waits) {
        if (!IsAbout(type, wait) || job_.StepOfEdge(rank, wait.edge) < 0) continue;
        of_edge[wait.edge] += wait.time;
        if (!job_.Counts(job_.StepOfEdge(rank, wait.edge))) continue;
        of_rank[job_.ranks[rank].rank] += static_cast<double>(wait.time);
        time += static_cast<double>(wait.time);
        count += wait.count;
        longest = std::max(longest, wait.longest);
      }
      for (const auto& [edge, held] : of_edge) {
        const TimeNs less = std::min(held, part.graph.edges[edge].weight);
        if (less > 0)
          candidate.what_if.expect.waits.push_back({job_.graph.first_edge[rank] + edge, less});
      }
    }
    if (candidate.what_if.expect.waits.empty() || time == 0) return;
    candidate.confidence = Certainty::kHigh;
    candidate.ranks = MostlyOf(of_rank);
    const double ranks = candidate.ranks.empty()
                             ? RankSteps()
                             : static_cast<double>(candidate.ranks.size() * job_.CountedSteps());
    candidate.Measure(kTimePerStep, time / ranks);
    if (&type == &kHostNumaMoves) {
      candidate.Measure(kSlowerOnNode, MostOnOtherNode(candidate));
    } else {
      candidate.Measure(kHoldUpsPerStep, count / ranks);
      candidate.Measure(kLongestHoldUp, longest);
    }
    MeasureSwitches(candidate);
    candidates_.push_back(std::move(candidate));
  }

  double MostOnOtherNode(const Finding& candidate) const {
    double most = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      if (candidate.Concerns(job_.ranks[rank].rank))
        most = std::max(most, job_.Part(rank).scheduler.far_ratio);
    }
    return most;
  }

  // Of all steps that were captured, of the ranks that it names.
  void MeasureSwitches(Finding& candidate) const {
    double steps = 0, taken = 0, moves = 0, far = 0;
    bool knows_nodes = false;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      if (!candidate.Concerns(job_.ranks[rank].rank)) continue;
      const SchedulerFacts& facts = job_.Part(rank).scheduler;
      steps += static_cast<double>(job_.Part(rank).steps.size());
      taken += static_cast<double>(facts.taken);
      moves += static_cast<double>(facts.moves);
      far += static_cast<double>(std::max<std::int64_t>(facts.far_moves, 0));
      knows_nodes = knows_nodes || facts.far_moves >= 0;
    }
    if (steps == 0) return;
    if (taken > 0) candidate.Measure(kTakenPerStep, taken / steps);
    if (moves > 0) candidate.Measure(kMovesPerStep, moves / steps);
    if (knows_nodes && far > 0) candidate.Measure(kFarMovesPerStep, far / steps);
  }
};

}  // namespace

bool IsOfScheduler(const FindingType& type) {
  return std::ranges::find(SchedulerFindings(), &type) != SchedulerFindings().end();
}

bool IsAbout(const FindingType& type, const ThreadWait& wait) {
  if (wait.doing == ThreadDoing::kInterrupted) return &type == &kHostInterrupts;
  if (wait.doing == ThreadDoing::kRunning) return &type == &kHostNumaMoves;
  if (wait.by_own) return &type == &kHostFewCores;
  return &type == (wait.doing == ThreadDoing::kPreempted ? &kHostPreempted : &kHostWokenLate);
}

void LeaveToCores(std::vector<Finding>& candidates) {
  const auto is_of_cores = [](const Finding& candidate) {
    return IsOfScheduler(*candidate.type) || candidate.Is(kHostCacheMisses);
  };
  std::unordered_map<ReplayGraph::Edge, TimeNs> held;
  for (const Finding& candidate : candidates) {
    if (!is_of_cores(candidate)) continue;
    for (const Removal::Edge& wait : candidate.what_if.expect.waits) held[wait.edge] += wait.less;
  }
  if (held.empty()) return;
  const auto leave = [&](Removal& removal) {
    for (Removal::Edge& wait : removal.waits) {
      const auto found = held.find(wait.edge);
      if (found != held.end()) wait.less = std::max<TimeNs>(0, wait.less - found->second);
    }
    std::erase_if(removal.waits, [](const Removal::Edge& wait) { return wait.less == 0; });
  };
  for (Finding& candidate : candidates) {
    if (is_of_cores(candidate)) continue;
    leave(candidate.what_if.expect);
    leave(candidate.what_if.bound);
  }
}

const FindingType kHostPreempted = Fault(
    Area::kHosts, "host.preempted", {"platform"}, "others take the core of the threads that launch",
    {.looked_at = "a trace of the scheduler: time in which these threads could run and"
                  " another one had been given their core, and which",
     .refuted_by = "the threads run or sleep in the gap, or the device has work meanwhile",
     .applies = KnowsThreads,
     .find = FindBy<SchedulerCauses>,
     .advice = {{BindCores(), BindThreads(), KeepOthersOff()},
                {BindProcesses(), BindThreads(), KeepOthersOff()}}});

const FindingType kHostFewCores = Fault(
    Area::kHosts, "host.few_cores", {"platform", "framework"},
    "the process has too few cores for its threads",
    {.looked_at = "a trace of the scheduler: time in which threads that launch waited for a core"
                  " that another thread of the process had",
     .refuted_by = "other processes had the core, or the threads did not want to run",
     .applies = KnowsThreads,
     .advice = {{{"give the process more cores (cpuset of the container, taskset)",
                  Change("cores of the process", "more")},
                 {"use fewer threads (OMP_NUM_THREADS, num_workers)",
                  Change("threads of the process", "fewer")},
                 BindThreads()}}});

const FindingType kHostWokenLate =
    Fault(Area::kHosts, "host.woken_late", {"platform"},
          "the threads that launch get a core late when they are woken",
          {.looked_at = "a trace of the scheduler: time from the moment at which these threads are"
                        " woken to that at which they run, and who has the core",
           .refuted_by = "they run at once, or nobody wakes them: what they wait for is late",
           .applies = KnowsThreads,
           .advice = {{BindCores(), BindThreads(), KeepOthersOff()},
                      {BindProcesses(), BindThreads(), KeepOthersOff()}}});

const FindingType kHostInterrupts = Fault(
    Area::kHosts, "host.interrupts", {"platform"}, "interrupts stop the threads that launch",
    {.looked_at = "a trace of the scheduler: interrupts that a core handles while such a thread has"
                  " it, by name",
     .refuted_by = "the interrupts are handled on other cores, or are short",
     .applies = KnowsThreads,
     .advice = {
         {{"handle these interrupts on other cores (/proc/irq/N/smp_affinity; stop irqbalance)",
           Change("interrupts", "other cores")},
          BindThreads()}}});

const FindingType kHostNumaMoves = Fault(
    Area::kHosts, "host.numa_moves", {"platform"},
    "threads that launch are moved to another NUMA node, where they are slower",
    {.looked_at = "a trace of the scheduler that says which cores are of which NUMA node: how long"
                  " operators of the same names run on one node and, after a move, on another",
     .refuted_by = "they take as long on both nodes, or were as slow before the move",
     .applies = [](const Coverage& job) { return job.nodes; },
     .advice = {{{"keep the process on one NUMA node (numactl --cpunodebind=N --membind=N)",
                  Change("cores and memory of the process", "one NUMA node")},
                 BindThreads(),
                 {"switch the balancing of NUMA nodes off (kernel.numa_balancing=0)",
                  Change("kernel.numa_balancing", "0")}}}});

}  // namespace mpa
