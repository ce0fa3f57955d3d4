// SPDX-License-Identifier: Apache-2.0
#include "labels.h"

#include <map>
#include <utility>

namespace mpa::recipes::pp {
namespace {

LabelledBox Plain(const PassBox& box) {
  return {box.start, box.end, box.forward ? "FP" : "BP", box.forward ? 0 : 1};
}

// Without those that begin before the end of the one before: they are parts of it.
std::vector<PassBox> Apart(const std::vector<PassBox>& boxes) {
  std::vector<PassBox> kept;
  for (const PassBox& box : boxes) {
    if (kept.empty() || box.start >= kept.back().end) kept.push_back(box);
  }
  return kept;
}

void NoteMisfit(std::int64_t rank, std::int32_t step, std::size_t found, std::size_t expected,
                Misfit& misfit) {
  if (misfit.steps++ > 0) return;
  misfit.rank = rank;
  misfit.step = step;
  misfit.found = found;
  misfit.expected = expected;
}

// Every step by the schedule of the stage; what lies outside of steps stays plain.
std::vector<LabelledBox> ByScheduleOf(const OfRank<PipelinePart>& rank,
                                      const std::vector<ScheduledBox>& schedule, Misfit& misfit) {
  const std::vector<PassBox> boxes = Apart(rank.part.boxes);
  std::map<std::int32_t, std::vector<std::size_t>> steps;
  std::vector<LabelledBox> labelled;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    labelled.push_back(Plain(boxes[i]));
    steps[boxes[i].step].push_back(i);
  }
  for (const auto& [step, of_step] : steps) {
    if (of_step.size() != schedule.size()) {
      NoteMisfit(rank.rank, step, of_step.size(), schedule.size(), misfit);
      continue;
    }
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      labelled[of_step[i]].name = schedule[i].name;
      labelled[of_step[i]].type = schedule[i].type;
    }
  }
  return labelled;
}

}  // namespace

std::vector<std::vector<LabelledBox>> LabelBoxes(const Ranks& ranks, const PipelineLayout& layout,
                                                 Misfit& misfit) {
  const bool scheduled = layout.type == "dualpipev" && layout.stages && layout.micro_batches;
  std::map<std::int64_t, std::vector<ScheduledBox>> schedules;  // by stage
  std::vector<std::vector<LabelledBox>> result;
  for (const auto& rank : ranks) {
    const auto stage = scheduled ? layout.StageOf(rank.rank) : std::nullopt;
    if (stage && !schedules.contains(*stage)) {
      schedules[*stage] = DualPipeVSchedule(*layout.stages, *layout.micro_batches, *stage);
    }
    if (stage && !schedules[*stage].empty()) {
      result.push_back(ByScheduleOf(rank, schedules[*stage], misfit));
      continue;
    }
    if (layout.type == "dualpipev") ++misfit.unknown_stages;
    std::vector<LabelledBox>& plain = result.emplace_back();
    for (const PassBox& box : rank.part.boxes) plain.push_back(Plain(box));
  }
  return result;
}

}  // namespace mpa::recipes::pp
