// SPDX-License-Identifier: Apache-2.0
// Pipelines that wait because a step has few micro-batches.
#include <algorithm>
#include <array>
#include <iterator>

#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/causes/evidence.h"
#include "mpa/diagnosis/causes/micro_batches.h"
#include "passes.h"

namespace mpa {
namespace {

// The share of the steps in which ranks wait for another stage.
double MeasuredBubble(const Job& job) {
  double bubble = 0, time = 0;
  for (const DiagnosedRank& rank : job.ranks) {
    for (std::size_t step = job.first_step; step < rank.part->steps.size(); ++step) {
      const StepPart& of = rank.part->steps[step];
      bubble += static_cast<double>(of.leaves[static_cast<std::size_t>(Leaf::kBubble)]);
      time += static_cast<double>(of.end - of.begin);
    }
  }
  return time > 0 ? bubble / time : 0;
}

}  // namespace

void AddBubble(const Job& job, const std::vector<const WhatIf*>& mended, Diagnosis& diagnosis) {
  const PipelineShape shape = ShapeOfPipeline(job);
  const double ideal = std::min(shape.IdealBubble(), MeasuredBubble(job));
  if (ideal < job.rules.bubble_share) return;
  // Gradients hide behind the last micro-batch. Half of it hides less, which no replay of the
  // recorded step shows: what overlapping saves is taken to be the same either way.
  std::vector<const Removal*> made;
  for (std::size_t i = 0; i < mended.size(); ++i) {
    if (diagnosis.findings[i].id != "comm.not_overlapped") made.push_back(&mended[i]->expect);
  }
  const MicroBatches batches(job, shape);
  FoundCause found = NewCause(job, "pp.bubble").finding;
  found.gain = StepTime(job.graph.graph, job.graph.steps, made) - batches.DoubledStep(made);
  found.alone = std::max<TimeNs>(0, diagnosis.step - batches.DoubledStep({}));
  found.gain_max = std::max(found.gain, ShareOf(diagnosis.floor, ideal));
  const TimeNs least = LeastGain(job.rules, diagnosis.step);
  if (found.gain < least) {
    const auto step_with = [&](const Removal& finding) {
      const std::array<const Removal*, 1> fixed = {&finding};
      return batches.DoubledStep(fixed);
    };
    if (found.alone >= least && !mended.empty())
      AddHidden(mended, step_with, std::move(found), diagnosis);
    return;
  }
  if (!shape.complete) found.confidence = Certainty::kLow;
  found.metrics.push_back({"ideal_bubble", ideal, "share"});
  found.metrics.push_back({"micro_batches", static_cast<double>(shape.micro_batches), "count"});
  WhatIf waits;
  for (std::size_t i = 0; i < job.operations.all.size(); ++i) {
    const auto& members = job.operations.all[i].joint.members;
    for (std::size_t member = 0; IsPairKind(job.operations.all[i].kind) && member < members.size();
         ++member)
      waits.expect.waits.push_back({job.graph.leaves[i][member], job.PartOf(members[member]).dur});
  }
  EvidenceFinder(job).Find(waits, {}, found);
  diagnosis.floor -= found.gain;
  diagnosis.findings.push_back(std::move(found));
}

void PlaceBubble(Diagnosis& diagnosis) {
  auto& findings = diagnosis.findings;
  const auto bubble = std::find_if(findings.begin(), findings.end(), [](const FoundCause& finding) {
    return finding.id == "pp.bubble";
  });
  if (bubble == findings.end()) return;
  auto at = bubble;
  while (at != findings.begin() && std::prev(at)->kind == FindingKind::kOpportunity &&
         std::prev(at)->gain < bubble->gain)
    --at;
  // What pays together stays together.
  if (at != findings.begin() && at != bubble && std::prev(at)->with_next) --at;
  std::rotate(at, bubble, std::next(bubble));
}

}  // namespace mpa
