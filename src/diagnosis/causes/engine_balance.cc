// SPDX-License-Identifier: Apache-2.0
// Engines of a server that wait for each other in every step, and have different work to do.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "small_operations.h"

namespace mpa {
namespace {

constexpr MetricInfo kDummySteps{"dummy_steps", "share", "{} of the steps without requests"},
    kMaxTokens{"most_tokens", "count", "{} tokens a step on them"},
    kTokensOfOthers{"tokens_of_others", "count", "{} on the others"};

class EngineBalance : Finder {
 public:
  using Finder::Finder;

  void Find() {
    Add(kServeBalance, false);
    Add(kServePrefill, true);
  }

 private:
  struct Found {
    std::set<RankId> ranks;
    std::set<std::size_t> steps;
    double dummy = 0, busy_tokens = 0, other_tokens = 0, busy = 0, others = 0;
  };

  static bool ReadsPrompts(const ServingBatch& batch) {
    return batch.phase == ServingPhase::kPrefill || batch.phase == ServingPhase::kMixed;
  }

  void Add(const FindingType& finding, bool of_prompts) {
    Finding candidate = NewFinding(job_, finding);
    Found found;
    for (const auto& [role, ranks] : job_.ranks_of_role) {
      std::size_t steps = job_.steps;  // that all of them have
      for (const RankIndex rank : ranks) steps = std::min(steps, job_.Part(rank).steps.size());
      for (std::size_t step = 0; step < steps; ++step) {
        if (job_.HaveOneLoad(ranks, step) || PromptsDiffer(ranks, step) != of_prompts) continue;
        Even(ranks, step, candidate.what_if.expect, found);
      }
    }
    if (candidate.what_if.expect.durations.empty() || found.steps.empty()) return;
    candidate.steps = job_.IdsOf(found.steps);
    candidate.ranks.assign(found.ranks.begin(), found.ranks.end());
    if (of_prompts && found.ranks.size() == job_.ranks.size()) candidate.ranks.clear();
    if (found.dummy > 0)
      candidate.Measure(kDummySteps, found.dummy / static_cast<double>(RankSteps()));
    candidate.Measure(kMaxTokens, found.busy_tokens / std::max(1.0, found.busy));
    candidate.Measure(kTokensOfOthers, found.other_tokens / std::max(1.0, found.others));
    candidates_.push_back(std::move(candidate));
  }

  // True where some read prompts in the step and others do not.
  bool PromptsDiffer(const std::vector<std::size_t>& ranks, std::size_t step) const {
    const auto reads = [&](RankIndex rank) {
      return ReadsPrompts(job_.Part(rank).steps[step].batch);
    };
    return std::ranges::any_of(ranks, reads) && !std::ranges::all_of(ranks, reads);
  }

  // Of a step without what the rank waits for others.
  double OwnTime(RankIndex rank, std::size_t step) const {
    const std::vector<TimeNs>& categories = job_.Part(rank).steps[step].categories;
    TimeNs own = 0;
    for (std::size_t category = 0; category < categories.size(); ++category) {
      const auto of = static_cast<TimeCategory>(category);
      if (of != TimeCategory::kWaitPeer && of != TimeCategory::kUnsplit &&
          of != TimeCategory::kBubble)
        own += categories[category];
    }
    return static_cast<double>(own);
  }

  // Takes out of the busiest what they do beyond the mean: of all their work the same share.
  void Even(const std::vector<std::size_t>& ranks, std::size_t step, Removal& removal,
            Found& found) const {
    double sum = 0;
    for (const RankIndex rank : ranks) sum += OwnTime(rank, step);
    const double mean = sum / static_cast<double>(ranks.size());
    std::map<std::size_t, double> less;  // by rank
    for (const RankIndex rank : ranks) {
      const ServingBatch& batch = job_.Part(rank).steps[step].batch;
      const double own = OwnTime(rank, step);
      const bool counts = step >= job_.first_step;
      const auto tokens = static_cast<double>(std::max<std::int64_t>(0, batch.Tokens()));
      if (own <= mean) {
        found.dummy += counts && batch.phase == ServingPhase::kDummy ? 1 : 0;
        found.other_tokens += counts ? tokens : 0;
        found.others += counts ? 1 : 0;
        continue;
      }
      less[rank] = 1 - mean / own;
      Shorten(rank, static_cast<std::int32_t>(step), less[rank], removal);
      if (!counts) continue;
      found.ranks.insert(job_.ranks[rank].rank);
      found.steps.insert(step);
      found.busy_tokens += tokens;
      ++found.busy;
    }
    ShortenTransfers(less, static_cast<std::int32_t>(step), removal);
  }

  void ShortenTransfers(const std::map<std::size_t, double>& less, std::int32_t step,
                        Removal& removal) const {
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (operation.step != step) continue;
      double share = 1;
      for (const JointOperation::Member& member : operation.joint.members) {
        const auto found = less.find(member.rank);
        share = found == less.end() ? 0 : std::min(share, found->second);
        if (share <= 0) break;
      }
      if (share > 0 && share < 1)
        ShortenOperation(job_, i, ShareOf(LeastOfMembers(job_, i, &OperationPart::moved), share),
                         removal);
    }
  }

  void Shorten(RankIndex rank, std::int32_t step, double share, Removal& removal) const {
    const RankDiagnosis& part = job_.Part(rank);
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.kind == NodeKind::kKernel && node.step == step)
        removal.durations.push_back({job_.graph.first_node[rank] + i, ShareOf(node.dur, share)});
    }
    for (const HostShare& row : part.shares) {
      if (job_.StepOfEdge(rank, row.edge) == step)
        removal.waits.push_back({job_.graph.first_edge[rank] + row.edge, ShareOf(row.time, share)});
    }
  }
};

}  // namespace

const FindingType kServeBalance =
    Fault(Area::kBalance, "serve.balance", {"framework"}, "the engines of {} get more requests",
          {.looked_at = "requests and tokens of each engine in the steps in which others wait",
           .refuted_by = "the engines have equal work in these steps",
           .applies = [](const Coverage& job) { return job.serves && job.compares; },
           .find = FindBy<EngineBalance>,
           .advice = {{{"balance the requests of the engines by their tokens",
                        Change("requests of the engines", "even by tokens")}}}});

const FindingType kServePrefill = Fault(
    Area::kBalance, "serve.prefill", {"framework"},
    "engines that decode wait while others read prompts",
    {.looked_at = "phases of the engines in the steps in which some wait: prefill on some, decode"
                  " on others",
     .refuted_by = "all engines read prompts, or all decode",
     .applies = [](const Coverage& job) { return job.serves && job.compares; },
     .advice = {
         {{"read prompts in chunks (chunked prefill)", Change("prompts", "in chunks")},
          {"prefill on engines of their own", Change("prefill", "on engines of its own")}}}});

}  // namespace mpa
