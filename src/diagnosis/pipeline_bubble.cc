// SPDX-License-Identifier: Apache-2.0
// Pipelines that wait because a step has few micro-batches.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "diagnose.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/causes/micro_batches.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

constexpr Threshold kBubbleShare{"share", 0.05, 0, 1, "smaller ideal bubbles are not reported"};

constexpr MetricInfo kIdealBubble{"ideal_bubble", "share", "ideal bubble {}"},
    kMicroBatches{"micro_batches", "count", "{} micro-batches"};

// The share of the steps in which ranks wait for another stage.
double MeasuredBubble(const Job& job) {
  double bubble = 0, time = 0;
  for (const DiagnosedRank& rank : job.ranks) {
    for (std::size_t step = job.first_step; step < rank.part->steps.size(); ++step) {
      const StepPart& of = rank.part->steps[step];
      bubble += static_cast<double>(of.categories[static_cast<std::size_t>(TimeCategory::kBubble)]);
      time += static_cast<double>(of.end - of.begin);
    }
  }
  return time > 0 ? bubble / time : 0;
}

// Tells it where more and smaller micro-batches win time.
void AddBubble(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  const PipelineShape shape = ShapeOfPipeline(job);
  const double ideal = std::min(shape.IdealBubble(), MeasuredBubble(job));
  if (ideal < job.thresholds[kBubbleShare]) return;
  // Gradients hide behind the last micro-batch. Half of it hides less, which no replay of the
  // recorded step shows: what overlapping saves is taken to be the same either way.
  std::vector<const Removal*> made;
  for (const Finding& finding : diagnosis.findings) {
    if (!finding.Is(kCommNotOverlapped)) made.push_back(&finding.what_if.expect);
  }
  const MicroBatches batches(job, shape);
  Finding found = NewFinding(job, kPpBubble);
  found.gain = StepTime(job.graph.graph, job.graph.steps, made) - batches.DoubledStep(made);
  found.alone = std::max<TimeNs>(0, diagnosis.step - batches.DoubledStep({}));
  found.gain_max = std::max(found.gain, ShareOf(diagnosis.step_after_fixes, ideal));
  const TimeNs least = LeastGain(job.thresholds, diagnosis.step);
  if (found.gain < least) {
    const auto step_with = [&](const Removal& finding) {
      const std::array<const Removal*, 1> fixed = {&finding};
      return batches.DoubledStep(fixed);
    };
    if (found.alone >= least && !FixesOf(diagnosis).empty())
      AddHidden(step_with, std::move(found), diagnosis);
    return;
  }
  if (!shape.complete) found.confidence = Certainty::kLow;
  found.Measure(kIdealBubble, ideal);
  found.Measure(kMicroBatches, shape.micro_batches);
  WhatIf waits;
  for (std::size_t i = 0; i < job.operations.all.size(); ++i) {
    const auto& members = job.operations.all[i].joint.members;
    for (std::size_t member = 0; IsPairKind(job.operations.all[i].kind) && member < members.size();
         ++member)
      waits.expect.waits.push_back(
          {job.graph.categories[i][member], job.PartOf(members[member]).dur});
  }
  EvidenceFinder(job).Find(waits, {}, found);
  conclusions.AddGain(std::move(found));
}

}  // namespace

const FindingType kPpBubble = Opportunity(
    Area::kCommunication, "pp.bubble", {"model"}, "too few micro-batches fill the pipeline",
    {.looked_at = "stages, micro-batches and the idle time that follows from them",
     .refuted_by = "the bubble is hidden or small, or a stage is the cause",
     .applies = HasStages,
     .conclude = AddBubble,
     .advice = {{{"use more micro-batches", Change("micro-batches", "more")},
                 {"use an interleaved schedule", Change("schedule", "interleaved")}}},
     .thresholds = {&kBubbleShare}});

}  // namespace mpa
