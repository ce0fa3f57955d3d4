// SPDX-License-Identifier: Apache-2.0
// Ranks that hold up the others, among those that were captured.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "finder.h"
#include "host_comparison.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "small_operations.h"

namespace mpa {
namespace {

constexpr Threshold kLateClockRatio{"clock_ratio", 0.97, 0, 1,
                                    "a clock below this share of that of the peers is named"},
    kForeignShare{
        "foreign_share", 0.5, 0, 1,
        "if this share of the excess has shapes of its own, the rank does more work rather than"
        " slower work"},
    kJitterSteps{"steps", 5, 2, kMaxCalls, "fewer steps do not show a pattern"},
    kJitterRanks{"ranks", 3, 2, kMaxCalls, "at least this many ranks are the worst in turn"},
    kJitterShare{"share", 0.03, 0, 1,
                 "stalls on changing ranks cost at least this share of the step"},
    kJitterTopShare{"top_share", 0.4, 0, 1,
                    "no rank is the worst in more of the steps than this share"};

constexpr MetricInfo kClockOfPeers{"clock_of_peers", "MHz", "peers at {}"},
    kDifferentRanks{"different_ranks", "count", "{} different ranks"},
    kExcessPerStep{"excess_per_step", "ns", "{} a step more than its peers"};

class RankCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    FindCompute();
    for (const HostFamily& family : HostFamilies()) FindHost(family);
  }

 private:
  void FindCompute() {
    std::vector<Excess> late, uneven, larger;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      // A slow role was compared with the others.
      const bool is_slow_role = job_.slow_roles.contains(job_.role[rank]);
      const std::vector<std::size_t>& compared =
          is_slow_role ? hosts_.AllWith(rank) : job_.RoleOf(rank);
      if (!CanCompare(job_, compared.size())) continue;
      Excess excess = ComputeExcess(rank);
      excess.compared = &compared;
      if (!Matters(job_, excess) || !IsSure(job_, excess)) continue;
      // Work of other shapes than the peers have is more work, not slower work.
      const bool more_work = static_cast<double>(excess.unmatched_shape_ns) >
                             job_.thresholds[kForeignShare] * static_cast<double>(excess.time);
      if (more_work && 2 * excess.grouped_matmul_ns > excess.unmatched_shape_ns)
        ShortenExchanges(excess);
      (!more_work                                                 ? late
       : 2 * excess.grouped_matmul_ns > excess.unmatched_shape_ns ? uneven
                                                                  : larger)
          .push_back(std::move(excess));
    }
    AddAlike(kRankLateCompute, "", TimeCategory::kMatmul, late,
             [&](const Excess& first, Finding& candidate) {
               candidate.category = LargestComputeCategory(first.rank);
               AddClock(first.rank, candidate);
             });
    AddAlike(kEpImbalance, "", TimeCategory::kGroupedMatmul, uneven,
             [&](const Excess&, Finding& candidate) {
               // A few tokens fall on some experts by chance, and on others in the next step.
               if (Infers(job_)) candidate.confidence = Certainty::kLow;
             });
    AddAlike(kDataImbalance, "", TimeCategory::kMatmul, larger,
             [&](const Excess& first, Finding& candidate) {
               candidate.category = LargestComputeCategory(first.rank);
             });
  }

  Excess ComputeExcess(RankIndex rank) const {
    Excess excess;
    excess.rank = rank;
    excess.by_step.assign(job_.steps, 0);
    excess.normal_by_step.assign(job_.steps, 0);
    TimeNs time = 0, normal_time = 0, unmatched_shapes = 0, grouped_matmuls = 0;
    std::vector<std::map<std::string, TimeNs>> more(job_.steps);  // by type
    std::vector<TimeNs> of_experts(job_.steps), more_tokens(job_.steps);
    for (std::size_t step = 0; step < job_.steps; ++step) {
      if (!job_.RoleHasOneLoad(rank, step)) continue;
      for (const auto& [type, own] : job_.work[rank][step].kernels) {
        const UsualKernel& usual = job_.UsualOf(rank, step, type);
        const TimeNs normal = usual.time;
        // Of a type that others do not have at all it is not more, but other work.
        const bool shared = usual.ranks > 1;
        const TimeNs over = std::max<TimeNs>(0, own.time - normal);
        if (over > 0) more[step][type] = over;
        if (shared && ToLower(type).starts_with("grouped")) {
          of_experts[step] += own.time;
          more_tokens[step] += std::min(over, own.unmatched_shape_ns);
        }
        if (step < job_.first_step) continue;
        time += over;
        excess.by_step[step] += over;
        excess.normal_by_step[step] += std::min(normal, own.time);
        normal_time += std::min(normal, own.time);
        unmatched_shapes += shared ? std::min(over, own.unmatched_shape_ns) : 0;
        if (shared && ToLower(type).starts_with("grouped"))
          grouped_matmuls += std::min(over, own.unmatched_shape_ns);
      }
    }
    excess.time = PerStep(job_, time);
    excess.normal = PerStep(job_, normal_time);
    excess.unmatched_shape_ns = PerStep(job_, unmatched_shapes);
    excess.grouped_matmul_ns = PerStep(job_, grouped_matmuls);
    for (std::size_t step = 0; step < job_.steps; ++step)
      excess.tokens_share.push_back(
          of_experts[step] > 0 ? Share(more_tokens[step], of_experts[step]) : 0);
    RemoveExcess(rank, more, excess.removal);
    return excess;
  }

  // `more`: by step and type.
  void RemoveExcess(RankIndex rank, const std::vector<std::map<std::string, TimeNs>>& more,
                    Removal& removal) const {
    const RankDiagnosis& part = job_.Part(rank);
    std::map<std::pair<std::size_t, std::string>, std::vector<std::uint32_t>> kernels;
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.kind != NodeKind::kKernel || !job_.Holds(node.step)) continue;
      const auto step = static_cast<std::size_t>(node.step);
      const std::string& type = part.TypeOf(node);
      if (more[step].contains(type)) kernels[{step, type}].push_back(i);
    }
    constexpr double kStandsOut = 5;
    for (const auto& [place, nodes] : kernels) {
      std::vector<TimeNs> times;
      for (const std::uint32_t node : nodes) times.push_back(part.graph.nodes[node].dur);
      const std::vector<TimeNs> less =
          SpreadExcess(times, more[place.first].at(place.second), kStandsOut);
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (less[i] > 0)
          removal.durations.push_back({job_.graph.first_node[rank] + nodes[i], less[i]});
      }
    }
  }

  // Tokens of experts come by exchanges of all ranks, which last as long as the one that gets most.
  void ShortenExchanges(Excess& excess) const {
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (!operation.kind.starts_with("alltoall") || !job_.Holds(operation.step)) continue;
      const auto& members = operation.joint.members;
      const auto own = std::ranges::find(members, excess.rank, &JointOperation::Member::rank);
      if (own == members.end()) continue;
      const double share = excess.tokens_share[static_cast<std::size_t>(operation.step)];
      const TimeNs moved = job_.PartOf(*own).moved;
      const TimeNs less = ShareOf(moved > 0 ? moved : PostOf(job_, i), share);
      if (less > 0) ShortenOperation(job_, i, less, excess.removal);
    }
  }

  std::string LargestComputeCategory(RankIndex rank) const {
    std::array<TimeNs, kTimeCategories> own{}, normal{};
    const auto sum = [&](std::size_t of, std::array<TimeNs, kTimeCategories>& times) {
      for (std::size_t step = job_.first_step; step < job_.Part(of).steps.size(); ++step) {
        for (std::size_t category = 0; category < kTimeCategories; ++category)
          times[category] += job_.Part(of).steps[step].categories[category];
      }
    };
    sum(rank, own);
    const std::vector<std::size_t>& peers = job_.RoleOf(rank);
    for (const std::size_t peer : peers) sum(peer, normal);
    std::size_t largest = 0;
    const auto over = [&](std::size_t category) {
      return own[category] - normal[category] / static_cast<TimeNs>(peers.size());
    };
    for (std::size_t category = 0;
         category < kTimeCategories && IsCompute(static_cast<TimeCategory>(category)); ++category) {
      if (over(category) > over(largest)) largest = category;
    }
    return std::string(NameOf(static_cast<TimeCategory>(largest)));
  }

  void AddClock(RankIndex rank, Finding& candidate) const {
    const auto mean = [&](std::size_t of) {
      double sum = 0;
      for (std::size_t step = job_.first_step; step < job_.Part(of).steps.size(); ++step)
        sum += static_cast<double>(job_.Part(of).steps[step].mhz);
      return sum / static_cast<double>(job_.CountedSteps());
    };
    std::vector<double> peers;
    for (const std::size_t peer : job_.RoleOf(rank)) peers.push_back(mean(peer));
    std::ranges::sort(peers);
    const double usual = peers[peers.size() / 2], own = mean(rank);
    if (own <= 0 || own >= job_.thresholds[kLateClockRatio] * usual) return;
    candidate.Measure(kMeanClock, own);
    candidate.Measure(kClockOfPeers, usual);
  }

  void FindHost(const HostFamily& family) {
    std::vector<Excess> late, any = hosts_.ExcessesOf(family);
    if (AddJitter(any, family.named)) return;
    for (Excess& excess : any) {
      const bool matters = Matters(job_, excess) || !excess.removal.cuts.empty();
      if (matters && IsSure(job_, excess)) late.push_back(std::move(excess));
    }
    AddAlike(family.finding, family.place, family.named, late,
             [&](const Excess& worst, Finding& candidate) {
               candidate.category = NameOf(hosts_.CategoryOf(family, worst));
               candidate.late->categories = family.categories;
               candidate.late->copies = family.copies;
             });
  }

  // Another rank is late in each step, by far: nothing is wrong with any of them alone.
  bool AddJitter(std::vector<Excess>& excesses, TimeCategory category) {
    const auto steps = static_cast<double>(job_.CountedSteps());
    if (steps < job_.thresholds[kJitterSteps] || excesses.size() < 2) return false;
    std::map<std::size_t, double> worst_in;  // steps, by rank
    double cost = 0;
    std::vector<StepStall> found;
    for (std::size_t step = job_.first_step; step < job_.steps; ++step) {
      const Excess* worst = nullptr;
      TimeNs others = 0;
      for (const Excess& excess : excesses) {
        if (worst == nullptr || excess.by_step[step] > worst->by_step[step]) worst = &excess;
      }
      for (const Excess& excess : excesses)
        others = &excess == worst ? others : std::max(others, excess.by_step[step]);
      // A moment more than the others is noise, whoever has it.
      const bool stalls =
          worst->by_step[step] >= ShareOf(job_.step_time, job_.thresholds[kJitterShare]);
      if (!stalls || 2 * others > worst->by_step[step]) continue;
      ++worst_in[worst->rank];
      cost += static_cast<double>(worst->by_step[step] - others);
      found.push_back({job_.Part(0).IdOfStep(static_cast<std::int32_t>(step)),
                       job_.ranks[worst->rank].rank, worst->by_step[step], others});
    }
    double seen = 0, top = 0;
    for (const auto& [rank, count] : worst_in) {
      seen += count;
      top = std::max(top, count);
    }
    // A stall in a single step is an accident of a rank.
    if (!IsAtLeast(worst_in.size(), job_.thresholds[kJitterRanks]) || 2 * seen <= steps ||
        top > job_.thresholds[kJitterTopShare] * steps)
      return false;
    if (cost / steps < job_.thresholds[kJitterShare] * static_cast<double>(job_.step_time))
      return false;
    Finding candidate = NewFinding(job_, kRankJitter, std::string(NameOf(category)));
    for (const Excess& excess : excesses) Append(excess.removal, candidate.what_if.expect);
    candidate.stalls = std::move(found);
    candidate.category = NameOf(category);
    candidate.Measure(kDifferentRanks, worst_in.size());
    candidate.Measure(kExcessPerStep, cost / steps);
    candidates_.push_back(std::move(candidate));
    return true;
  }

  static void Append(const Removal& more, Removal& removal) {
    removal.durations.insert(removal.durations.end(), more.durations.begin(), more.durations.end());
    removal.waits.insert(removal.waits.end(), more.waits.begin(), more.waits.end());
    removal.cuts.insert(removal.cuts.end(), more.cuts.begin(), more.cuts.end());
  }

  // In the steps in which it is late.
  void AddMetrics(const Excess& worst, Finding& candidate) const {
    const std::vector<std::size_t> steps = LateSteps(job_, worst);
    TimeNs time = 0, normal = 0;
    for (const std::size_t step : steps) {
      time += worst.by_step[step];
      normal += worst.normal_by_step[step];
    }
    if (normal > 0) {
      candidate.Measure(kSlowerThanPeers, Share(normal + time, normal));
    }
    const auto count = static_cast<TimeNs>(std::max<std::size_t>(1, steps.size()));
    candidate.Measure(kExcessPerStep, time / count);
  }

  // Ranks that are about equally late are one cause: mending one of them wins nothing.
  template <typename Describe>
  void AddAlike(const FindingType& finding, std::string_view place, TimeCategory category,
                std::vector<Excess>& late, Describe describe) {
    StableSort(late, std::greater{}, &Excess::time);
    for (std::size_t first = 0; first < late.size();) {
      std::size_t last = first;
      while (last + 1 < late.size() &&
             static_cast<double>(late[first].time) <=
                 job_.thresholds[kLateAlike] * static_cast<double>(late[last + 1].time))
        ++last;
      std::vector<RankId> ranks;
      std::set<std::size_t> steps;
      Removal removal;
      for (std::size_t i = first; i <= last; ++i) {
        ranks.push_back(job_.ranks[late[i].rank].rank);
        for (const std::size_t step : LateSteps(job_, late[i])) steps.insert(step);
        Append(late[i].removal, removal);
      }
      std::ranges::sort(ranks);
      Finding candidate = NewFinding(
          job_, finding,
          fmt::format("r{}{}{}", RankNames(ranks, "+"), place.empty() ? "" : "/", place));
      candidate.ranks = std::move(ranks);
      candidate.steps = job_.IdsOf(steps);
      candidate.category = NameOf(category);
      AddMetrics(late[first], candidate);
      const bool may_be_either =
          std::ranges::none_of(late.begin() + static_cast<std::ptrdiff_t>(first),
                               late.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                               [&](const Excess& one) { return IsOdd(job_, one); });
      if (may_be_either) candidate.confidence = CertaintyOfLast(job_, late[first]);
      candidate.late = LateWork{late[first].rank, *late[first].compared, {}, false};
      describe(late[first], candidate);
      candidate.what_if.expect = std::move(removal);
      candidates_.push_back(std::move(candidate));
      first = last + 1;
    }
  }

  HostComparison hosts_{job_};
};

}  // namespace

bool CanCompare(const Job& job, std::size_t ranks) {
  return IsAtLeast(ranks, job.thresholds[kLatePeers]) &&
         (ranks > kPairOfRanks || IsAtLeast(job.CountedSteps(), job.thresholds[kLatePairSteps]) ||
          job.operations.lateness.known > 0);
}

namespace {

AdvicePart CheckLoad() { return {"check the CPU load of the node", Check("CPU load of the node")}; }
AdvicePart SwapCard() { return {"swap the card", Change("card", "another")}; }

}  // namespace

const FindingType kRankLateCompute = Fault(
    Area::kRanks, "rank.late_compute", {"hardware", "operator", "data"}, "kernels run slowly on {}",
    {.looked_at =
         "the time of each kind of kernel, step by step, compared with ranks of the same role",
     .refuted_by =
         "the peers take as long, or the excess has shapes of its own, which means more work",
     .dimension = Dimension::kComputation,
     .problem = kSlowRankProblem,
     .needs = {Record::kPeers},
     .find = FindBy<RankCauses>,
     .advice = {{{"check clock, power and temperature of the device (npu-smi)",
                  Check("clock, power and temperature of the device", "npu-smi")},
                 SwapCard()},
                {{"check clock, power and temperature of the device (nvidia-smi)",
                  Check("clock, power and temperature of the device", "nvidia-smi")},
                 SwapCard()}},
     .thresholds = {&kLateClockRatio}});

const FindingType kRankLateHost = Fault(
    Area::kRanks, "rank.late_host", {"platform", "framework"}, "the host launches late on {}",
    {.looked_at =
         "host work by class, and how long the others wait, compared with ranks of the same role",
     .refuted_by =
         "the peers' hosts take as long, or the device was still busy when the launch came",
     .dimension = Dimension::kSchedule,
     .problem = kSlowRankProblem,
     .needs = {Record::kPeers},
     .advice = {{CheckLoad(), Setting("CPU_AFFINITY_CONF=2 on all ranks", "CPU_AFFINITY_CONF", "2"),
                 KeepOthersOff()},
                {CheckLoad(), BindProcesses()}},
     .take_advice_from = {&kHostCompile, &kHostAclop, &kHostMemory, &kHostSync, &kHostH2d}});

const FindingType kRankLateInput = Fault(
    Area::kRanks, "rank.late_input", {"data"}, "input arrives late on {}",
    {.looked_at =
         "time of the data loader and of copies to the device, compared with ranks of the same"
         " role",
     .refuted_by = "the peers load and copy for as long",
     .dimension = Dimension::kSchedule,
     .problem = kSlowRankProblem,
     .categories = {TimeCategory::kDataLoader, TimeCategory::kHostCopy},
     .needs = {Record::kPeers},
     .advice = {{{"check the storage of that node and the sizes of its shards",
                  Check("storage of the node and sizes of its shards")},
                 {"use more workers", MoreOf("DataLoader.num_workers")}}},
     .take_advice_from = {&kHostCompile, &kHostAclop, &kHostMemory, &kHostSync, &kHostH2d}});

const FindingType kRankJitter = Fault(
    Area::kRanks, "rank.jitter", {"platform", "framework"}, "a different rank stalls in each step",
    {.looked_at = "the slowest rank of each step, and its excess over the second",
     .refuted_by =
         "one rank is the slowest in most steps, or there are too few steps to show a pattern",
     .problem = kSlowRankProblem,
     .applies =
         [](const Coverage& job) {
           return job.compares && job.steps >= job.thresholds[kJitterSteps];
         },
     .advice = {{{"collect garbage on all ranks together (gc.freeze)",
                  Change("garbage collection", "every n steps on all ranks together")},
                 {"check CPU load and storage", Check("CPU load and shared storage")}}},
     .thresholds = {&kJitterSteps, &kJitterRanks, &kJitterShare, &kJitterTopShare}});

const FindingType kDataImbalance =
    Fault(Area::kBalance, "data.imbalance", {"data"}, "the batches of {} are larger",
          {.looked_at = "kernels whose shapes only this rank has, as a share of its excess",
           .refuted_by = "the excess has the same shapes as the peers, so the kernels are slow",
           .needs = {Record::kShapesOfRanks},
           .advice = {
               {{"sort or pack samples by length", Change("samples", "sorted or packed by length")},
                {"balance the tokens of the ranks", Change("tokens of the ranks", "even")}}}});

const FindingType kEpImbalance = Fault(
    Area::kBalance, "ep.imbalance", {"model"}, "the experts of {} get more tokens",
    {.looked_at = "grouped products whose shapes only this rank has, as a share of its excess",
     .refuted_by = "the shapes are those of the peers, so the kernels are slow",
     .needs = {Record::kShapesOfRanks},
     .advice = {{{"balance the experts: auxiliary loss, capacity, placement or replicas",
                  Change("tokens of the experts",
                         "auxiliary loss, capacity, placement or replicas")}}},
     .thresholds = {&kForeignShare}});

}  // namespace mpa
