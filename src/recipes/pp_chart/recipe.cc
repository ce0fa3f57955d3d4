// SPDX-License-Identifier: Apache-2.0
// The boxes of a chart of a pipeline: when each rank ran which micro-batch.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "labels.h"
#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/step_bounds.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"
#include "mpa/report/screen_list.h"

namespace mpa::recipes::pp_chart {
namespace {

using namespace pp;

PipelinePart MapPpChart(const RankTrace& trace, const RecipeArguments&) {
  PipelinePart part;
  part.distributed_args = trace.job.distributed_args;
  part.type = trace.job.pipeline_type;
  part.micro_batches = trace.job.micro_batches;
  const HostSteps steps(trace.steps);
  const MstxEvents& events = trace.mstx;
  for (std::size_t i = 0; i < events.Size(); ++i) {
    const std::string message = ToLower(trace.strings.View(events.message[i]));
    if (!ContainsAny(message, {"forward", "backward", "weightgradstore_pop"})) continue;
    if (!trace.IsOfStep(events.start[i])) continue;
    const auto step = steps.OfHostTime(events.start[i]);
    if (events.device_start[i] < 0) {
      ++part.without_device;
      continue;
    }
    part.boxes.push_back({.start = events.device_start[i],
                          .end = events.device_start[i] + events.device_dur[i],
                          .step = step ? steps.Id(*step) : -1,
                          .forward = message.find("forward") != std::string::npos});
  }
  StableSort(part.boxes, {}, &PassBox::start);
  return part;
}

struct BoxOfRank {
  RankId rank;
  const LabelledBox* box = nullptr;
};

void AddChartSheet(const Ranks& ranks, const std::vector<std::vector<LabelledBox>>& boxes,
                   Report& report) {
  using Item = BoxOfRank;
  const std::vector<ColumnOf<Item>> columns = {
      TextColumn<&Item::box, &LabelledBox::name>(
          "name", 14,
          "FP or BP; in a DualPipeV pipeline the micro-batches: 3F+5B runs the forward"
          " pass of 3 and the backward pass of 5."),
      CountColumn<&Item::box, &LabelledBox::start>("startNs", 22,
                                                   "Start of the pass on the device, in ns."),
      CountColumn<&Item::box, &LabelledBox::end>("endNs", 22,
                                                 "End of the pass on the device, in ns."),
      CountColumn<&Item::box, &LabelledBox::type>(
          "type", 8,
          "0 for FP, 1 for BP; in a DualPipeV pipeline the phase of the schedule, 0 to 6."),
      CountColumn<&Item::rank, kRank>("rank", 8, "The rank.")};
  ItemSheet list({"StepTaskInfo", ToTranslate("Passes of the pipeline on each rank")}, columns);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankIndex rank = BeginRank(ranks[i].rank, report);
    for (const LabelledBox& box : boxes[i]) list.Add({ranks[i].rank, &box}, rank);
  }
  report.sheets.push_back(std::move(list.sheet));
}

void Widen(std::map<std::int32_t, Interval>& steps, const PassBox& box) {
  Interval& step = steps.try_emplace(box.step, Interval{box.start, box.end}).first->second;
  step = {std::min(step.begin, box.start), std::max(step.end, box.end)};
}

// Of the first step, which all ranks begin at about the same time: later ones look alike.
std::optional<PageChart> PipelineChart(const Ranks& ranks,
                                       const std::vector<std::vector<LabelledBox>>& boxes) {
  constexpr std::size_t kMaxLanes = 64;
  std::map<std::int32_t, Interval> steps;
  for (const auto& rank : ranks) {
    for (const PassBox& box : rank.part.boxes) Widen(steps, box);
  }
  if (steps.empty()) return std::nullopt;
  const auto& [step, window] = *steps.begin();
  Timeline lanes{.title = step < 0 ? Say("The passes of each rank")
                                   : Say("The passes of each rank in step {}", step),
                 .text = Say("FP is forward, BP backward; white is idle."),
                 .begin = window.begin,
                 .end = window.end,
                 .kinds = {{"var(--compute)", Say("forward")}, {"var(--t3)", Say("backward")}}};
  for (std::size_t i = 0; i < std::min(ranks.size(), kMaxLanes); ++i) {
    lanes.Lane(RankText(ranks[i].rank));
    for (std::size_t box = 0; box < boxes[i].size(); ++box) {
      const LabelledBox& of = boxes[i][box];
      if (of.end <= window.begin || of.start >= window.end) continue;
      const std::size_t kind = ranks[i].part.boxes[box].forward ? 0 : 1;
      lanes.Add({of.start, of.end, kind, of.name, of.name});
    }
  }
  if (ranks.size() > kMaxLanes)
    lanes.text += Say(" Shown are {} of {} ranks.", kMaxLanes, ranks.size());
  return LanesOf(std::move(lanes));
}

// The share of the steps in which each rank ran no box, in %. A step lasts from the first to the
// last box of all ranks.
std::vector<RankValue> BubbleShares(const Ranks& ranks) {
  std::map<std::int32_t, Interval> steps;
  for (const auto& rank : ranks) {
    for (const PassBox& box : rank.part.boxes) Widen(steps, box);
  }
  std::vector<RankValue> shares;
  for (const auto& rank : ranks) {
    std::map<std::int32_t, std::vector<Interval>> of_step;
    for (const PassBox& box : rank.part.boxes) of_step[box.step].push_back({box.start, box.end});
    TimeNs busy = 0, whole = 0;
    for (auto& [step, boxes] : of_step) {
      busy += Length(Union(std::move(boxes)));
      whole += steps[step].end - steps[step].begin;
    }
    if (whole > 0) {
      shares.push_back(
          {rank.rank, 100 - 100 * static_cast<double>(busy) / static_cast<double>(whole)});
    }
  }
  return shares;
}

void AddChartLines(const Ranks& ranks, const PipelineLayout& layout, Report& report) {
  const std::vector<RankValue> shares = BubbleShares(ranks);
  if (shares.empty()) return;
  const RankSpread all_ranks = SpreadOf(shares);
  AddSentence(Say("the pipeline is idle for {:.1f} % of a step (median), most on {}:"
                  " {:.1f} %",
                  all_ranks.median, RankText(all_ranks.max.rank), all_ranks.max.value),
              report.lines);
  report.lines.push_back(Say("pipeline{}{}: idle share of a step, in %",
                             layout.type.empty() ? "" : " " + CutEnd(Printable(layout.type), 16),
                             layout.stages ? Say(" of {} stages", *layout.stages) : ""));
  const ScreenList list(2,
                        {ScreenText("", 24), ScreenNumber("ranks", 9), ScreenNumber("min", 9, 1),
                         ScreenNumber("median", 9, 1), ScreenNumber("max", 9, 1), ScreenText("")});
  const auto add = [&](std::string_view what, const std::vector<RankValue>& values) {
    const RankSpread spread = SpreadOf(values);
    report.lines.push_back(list.Line(what, values.size(), spread.min.value, spread.median,
                                     spread.max.value,
                                     Say("(rank {})", RankName(spread.max.rank))));
  };
  report.lines.push_back(list.Heading());
  add(Translated("all ranks"), shares);
  std::map<std::int64_t, std::vector<RankValue>> stages;
  for (const RankValue& share : shares) {
    if (const auto stage = layout.StageOf(share.rank)) stages[*stage].push_back(share);
  }
  constexpr std::size_t kShown = 12;
  std::size_t shown = 0;
  for (const auto& [stage, values] : stages) {
    if (shown++ == kShown) break;
    add(Say("stage {}", stage), values);
  }
  AddMoreLine(stages.size(), kShown, "stage", report.lines);
}

void AddChartNotes(const Ranks& ranks, const PipelineLayout& layout, const Misfit& misfit,
                   Report& report) {
  std::int64_t without_device = 0;
  std::vector<RankId> empty;
  for (const auto& [rank, part] : ranks) {
    without_device += part.without_device;
    if (part.boxes.empty()) empty.push_back(rank);
  }
  if (!empty.empty()) {
    report.notes.push_back(Say(
        "{} of {} ranks have no marked forward or backward passes on the device (first: {}); mark"
        " them with mstx ranges on a stream, named *forward* and *backward*",
        empty.size(), ranks.size(), RankText(empty.front())));
  }
  if (without_device > 0) {
    report.notes.push_back(
        Say("passes left out because they have no stream and no time on the device: {}",
            without_device));
  }
  if (misfit.steps > 0) {
    report.notes.push_back(Say(
        "steps that do not fit the schedule and keep the names FP and BP: {}; the first is step {}"
        " of {}, with {} passes instead of {}; see --pp_type, --microbatch_num, --pp",
        misfit.steps, misfit.step, RankText(misfit.rank), misfit.found, misfit.expected));
  }
  if (misfit.unknown_stages > 0) {
    report.notes.push_back(
        Say("{} ranks of the DualPipeV pipeline keep the names FP and BP: its sizes are {}; give"
            " --tp, --pp, --dp and --microbatch_num (at least twice --pp)",
            misfit.unknown_stages,
            Translated(layout.stages && layout.micro_batches ? "contradictory" : "unknown")));
  }
}

void ReducePpChart(const Ranks& ranks, const RecipeArguments& arguments, OutputSelection wanted,
                   Report& report) {
  const PipelineLayout layout = LayoutOf(ranks, arguments);
  Misfit misfit;
  const auto boxes = LabelBoxes(ranks, layout, misfit);
  if (wanted.sheets) {
    AddChartSheet(ranks, boxes, report);
    if (auto chart = PipelineChart(ranks, boxes)) report.drawings.push_back(std::move(*chart));
  }
  if (wanted.screen != Detail::kNone) AddChartLines(ranks, layout, report);
  AddChartNotes(ranks, layout, misfit, report);
}

Verdict JudgePpChart(const RankFacts& facts) {
  return JudgeReadable(facts)
      .RefuseKineto(facts, "have no mstx marks")
      .Refuse(facts.recorded.mstx == Recorded::kNo,
              "no forward and backward passes were marked (mstx)",
              "mstx=True with ranges on a stream around the passes of micro-batches");
}

}  // namespace

Recipe PpChart() {
  return MakeRecipe<MapPpChart, ReducePpChart>(
      {.name = "pp_chart",
       .folder = "PPChart",
       .summary = "when each rank ran which micro-batch, for a chart of the pipeline",
       .needs = Tables::kMstx | Tables::kSteps | Tables::kJobInfo,
       .options = {pp::kType, pp::kMicroBatches, pp::kStages, pp::kTensorSize, pp::kDataSize},
       .can_run = JudgePpChart,
       .only_with = "passes of micro-batches"});
}

}  // namespace mpa::recipes::pp_chart
