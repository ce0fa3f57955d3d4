// SPDX-License-Identifier: Apache-2.0
// Requests that wait for their next token while prompts of others are read.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kStallShare{"share", 0.1, 0, 1,
                                "reading prompts takes at least this share of the time"},
    kStallRatio{"ratio", 3, 1, 1000,
                "a token that waits for a prompt takes this many times the usual time"};

constexpr MetricInfo kStalls{"stalls", "count", "{} times"},
    kStalledShare{"stalled_share", "share", "{} of the time"},
    kMaxStall{"longest_stall", "ns", "a token comes {} late at worst"},
    kUsualStep{"usual_step", "ns", "usually after {}"};

// Of a rank: the steps that read prompts between two that decode, and how long all of them take.
struct Stalls {
  std::set<std::size_t> steps;
  TimeNs time = 0, longest = 0, usual = 0, all = 0;
};

Stalls StallsOf(const Job& job, RankIndex rank) {
  const std::vector<StepPart>& steps = job.Part(rank).steps;
  const auto decodes = [&](std::size_t i) { return steps[i].batch.phase == ServingPhase::kDecode; };
  const auto length = [&](std::size_t i) { return steps[i].end - steps[i].begin; };
  const std::size_t end = std::min(job.steps, steps.size());
  Stalls stalls;
  std::vector<TimeNs> usual;
  for (std::size_t i = job.first_step; i < end; ++i) {
    stalls.all += length(i);
    if (decodes(i)) usual.push_back(length(i));
  }
  if (usual.empty()) return stalls;
  stalls.usual = Median(std::move(usual));
  for (std::size_t i = job.first_step + 1; i < end; ++i) {
    if (!decodes(i - 1)) continue;
    std::size_t next = i;  // the next step that decodes
    TimeNs time = 0;
    for (; next < end && steps[next].batch.phase == ServingPhase::kPrefill; ++next)
      time += length(next);
    if (next == end || !decodes(next) ||
        static_cast<double>(time) < job.thresholds[kStallRatio] * static_cast<double>(stalls.usual))
      continue;
    for (std::size_t step = i; step < next; ++step) stalls.steps.insert(step);
    stalls.time += time;
    stalls.longest = std::max(stalls.longest, time);
  }
  return stalls;
}

// The rank whose requests wait most tells it. A server that reads prompts in chunks gets no step
// shorter, but its tokens come evenly.
void FindStalls(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  Stalls most;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    Stalls stalls = StallsOf(job, rank);
    if (stalls.time > most.time) most = std::move(stalls);
  }
  if (most.steps.empty() ||
      static_cast<double>(most.time) < job.thresholds[kStallShare] * static_cast<double>(most.all))
    return;
  Finding found = NewFinding(job, kServeStall);
  found.steps = job.IdsOf(most.steps);
  found.Measure(kStalls, most.steps.size());
  found.Measure(kStalledShare, Share(most.time, most.all));
  found.Measure(kMaxStall, most.longest);
  found.Measure(kUsualStep, most.usual);
  diagnosis.findings.push_back(std::move(found));
}

}  // namespace

const FindingType kServeStall = Opportunity(
    Area::kLatency, "serve.stall", {"framework"}, "tokens wait while prompts are read",
    {.looked_at = "time between two tokens of a request in steps that read prompts",
     .refuted_by = "few steps read prompts, or they take as long as others",
     .applies = [](const Coverage& job) { return job.serves; },
     .conclude = FindStalls,
     .advice = {{{"read prompts in chunks (chunked prefill), fewer tokens in each",
                  Change("prompts", "in smaller chunks")},
                 {"prefill on engines of their own", Change("prefill", "on engines of its own")}}},
     .thresholds = {&kStallShare, &kStallRatio}});

}  // namespace mpa
