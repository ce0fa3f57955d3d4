// SPDX-License-Identifier: Apache-2.0
// Functions on the threads that launch whose caches miss more often than in other calls of the
// same functions, at other times or on other ranks, and which take longer for it.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kMissRatio{
    "ratio", 2, 1, 1000, "a call misses often that misses this many times as often as is usual"},
    kMissNs{"miss_ns", 300, 1, 1e6, "a miss holds a core up for at most this time"};
// Of a function: fewer calls do not show what is usual.
constexpr std::size_t kFewCalls = 8;
// A call misses as is usual up to this many times the lower quartile; from this share on it is
// slower than they are.
constexpr double kAlike = 1.5, kSlowerShare = 0.1;

constexpr MetricInfo kMissesPerStep{"cache_misses_per_step", "count", "{} cache misses a step"},
    kMissesOfUsual{"cache_misses_of_usual", "ratio", "caches miss {} times as often as usual"};

// A call, the time in which it ran, and its work: instructions, or where these were not counted the
// call itself.
struct Call {
  RankIndex rank = 0;
  std::uint32_t number = 0;
  const CountedCall* counted = nullptr;
  double time = 0;
  double work = 1;

  double Rate() const { return static_cast<double>(counted->misses) / work; }
};

// What the calls of a function take where they miss as often as is usual.
struct Usual {
  double rate = 0, time = 0, cycles = 0;  // for each piece of work; cycles 0: not counted
};

class CacheCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    excess_.resize(job_.ranks.size());
    FindHeld();
    std::map<std::string_view, std::vector<Call>> functions;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      const std::vector<TimeNs> times = RunningTimes(rank);
      excess_[rank].resize(times.size());
      for (std::uint32_t i = 0; i < times.size(); ++i) {
        const CountedCall& call = part.functions.calls[i];
        functions[part.names[call.name]].push_back({rank, i, &call, static_cast<double>(times[i])});
      }
    }
    for (auto& [name, calls] : functions) Compare(calls);
    Add();
  }

 private:
  // What the findings about the scheduler explain: while a thread does not run, its caches do not
  // hold it up.
  void FindHeld() {
    for (const Finding& candidate : candidates_) {
      if (!IsOfScheduler(*candidate.type)) continue;
      for (const Removal::Edge& wait : candidate.what_if.expect.waits)
        held_[wait.edge] += wait.less;
    }
  }
  TimeNs HeldOn(RankIndex rank, std::uint32_t edge) const {
    const auto found = held_.find(job_.graph.first_edge[rank] + edge);
    return found == held_.end() ? 0 : found->second;
  }

  // By call of the rank.
  std::vector<TimeNs> RunningTimes(RankIndex rank) const {
    const FunctionFacts& functions = job_.Part(rank).functions;
    std::vector<TimeNs> times;
    for (const CountedCall& call : functions.calls) times.push_back(call.dur);
    for (const CountedTime& piece : functions.times) {
      const TimeNs held = std::min(piece.time, HeldOn(rank, piece.edge));
      times[piece.call] = std::max<TimeNs>(1, times[piece.call] - held);
    }
    return times;
  }

  void Compare(std::vector<Call>& calls) {
    if (calls.size() < kFewCalls) return;
    const bool knows_work =
        std::ranges::all_of(calls, [](const Call& call) { return call.counted->instructions > 0; });
    for (Call& call : calls)
      call.work = knows_work ? static_cast<double>(call.counted->instructions) : 1;
    const Usual usual = UsualOf(calls);
    for (const Call& call : calls) {
      const TimeNs excess = ExcessOf(call, usual);
      excess_[call.rank][call.number] = excess;
      if (excess == 0) continue;
      missed_ += static_cast<double>(call.counted->misses);
      expected_ += usual.rate * call.work;
    }
  }

  static Usual UsualOf(const std::vector<Call>& calls) {
    std::vector<double> rates, times, cycles;
    for (const Call& call : calls) rates.push_back(call.Rate());
    const double rate = ValueAtPosition(rates, rates.size() / 4);
    for (const Call& call : calls) {
      if (call.Rate() > kAlike * rate) continue;
      times.push_back(call.time / call.work);
      if (call.counted->cycles > 0)
        cycles.push_back(static_cast<double>(call.counted->cycles) / call.work);
    }
    const bool knows_cycles = cycles.size() == times.size();
    return {rate, Median(std::move(times)), knows_cycles ? Median(std::move(cycles)) : 0};
  }

  // What the misses of a call cost: no more than it takes longer for its work than others, than its
  // core had to wait, where cycles were counted, and than so many misses can take.
  TimeNs ExcessOf(const Call& call, const Usual& usual) const {
    const double misses = static_cast<double>(call.counted->misses) - usual.rate * call.work;
    if (misses <= 0 || call.Rate() < job_.thresholds[kMissRatio] * usual.rate) return 0;
    const double expected = usual.time * call.work;
    double excess = std::min(call.time - expected, misses * job_.thresholds[kMissNs]);
    if (usual.cycles > 0 && call.counted->cycles > 0) {
      const double stalled =
          1 - usual.cycles * call.work / static_cast<double>(call.counted->cycles);
      excess = std::min(excess, call.time * stalled);
    }
    return excess >= kSlowerShare * expected ? static_cast<TimeNs>(excess) : 0;
  }

  void Add() {
    Finding candidate = NewFinding(job_, kHostCacheMisses);
    std::map<RankId, double> of_rank;
    double time = 0, misses = 0;
    bool counts_cycles = true;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      std::map<std::uint32_t, double> of_edge;
      for (const CountedTime& piece : part.functions.times) {
        const TimeNs excess = excess_[rank][piece.call];
        if (excess == 0 || job_.StepOfEdge(rank, piece.edge) < 0) continue;
        const CountedCall& call = part.functions.calls[piece.call];
        const double share = Share(piece.time, call.dur);
        of_edge[piece.edge] += share * static_cast<double>(excess);
        counts_cycles = counts_cycles && call.cycles > 0;
        if (job_.Counts(job_.StepOfEdge(rank, piece.edge)))
          misses += share * static_cast<double>(call.misses);
      }
      for (const auto& [edge, excess] : of_edge) {
        const TimeNs left = part.graph.edges[edge].weight - HeldOn(rank, edge);
        const TimeNs less = std::min(static_cast<TimeNs>(excess), left);
        if (less <= 0) continue;
        candidate.what_if.expect.waits.push_back({job_.graph.first_edge[rank] + edge, less});
        if (!job_.Counts(job_.StepOfEdge(rank, edge))) continue;
        of_rank[job_.ranks[rank].rank] += static_cast<double>(less);
        time += static_cast<double>(less);
      }
    }
    if (time == 0) return;
    candidate.confidence = counts_cycles ? Certainty::kHigh : Certainty::kMedium;
    candidate.ranks = MostlyOf(of_rank);
    const double ranks = candidate.ranks.empty()
                             ? RankSteps()
                             : static_cast<double>(candidate.ranks.size() * job_.CountedSteps());
    candidate.Measure(kTimePerStep, time / ranks);
    if (expected_ > 0) candidate.Measure(kMissesOfUsual, missed_ / expected_);
    candidate.Measure(kMissesPerStep, misses / ranks);
    candidates_.push_back(std::move(candidate));
  }

  std::unordered_map<ReplayGraph::Edge, TimeNs> held_;
  std::vector<std::vector<TimeNs>> excess_;  // by rank and call
  double missed_ = 0, expected_ = 0;
};

}  // namespace

const FindingType kHostCacheMisses = Fault(
    Area::kHosts, "host.cache_misses", {"platform"},
    "caches of the cores that launch miss more often than usual",
    {.looked_at = "functions on threads that launch, in which the counters of the processor were"
                  " read (function_monitor): calls that miss more often than other calls of the"
                  " same function, by instruction, and take longer",
     .refuted_by = "calls with few misses take as long, or slow calls execute more instructions;"
                   " or the core did not run meanwhile",
     .applies = [](const Coverage& job) { return job.cache_misses; },
     .find = FindBy<CacheCauses>,
     .advice = {{BindCores(), BindThreads(), KeepOthersOff()},
                {BindProcesses(), BindThreads(), KeepOthersOff()}},
     .thresholds = {&kMissRatio, &kMissNs}});

}  // namespace mpa
