// SPDX-License-Identifier: Apache-2.0
// From the ranks of a job to one trace of them.
#include "timeline_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/visit_ranks.h"
#include "mpa/timeline/longest_slices.h"
#include "mpa/timeline/trace_document.h"

namespace mpa {
namespace {

std::int64_t Number(std::size_t count) { return static_cast<std::int64_t>(count); }

SliceRequest RequestOf(RankId rank, const TimelinePlan& plan, const TimelineExport& wanted) {
  SliceRequest request;
  request.window = wanted.window;
  request.step = wanted.step;
  request.python = wanted.python;
  if (const TimelinePlan::Rank* planned = plan.Find(rank)) {
    request.clock = planned->clock;
    for (const TimelinePlan::Step& step : planned->steps)
      request.steps.push_back({step.id, step.window});
  }
  return request;
}

void AddMarks(const RankSlices& rank, const TimelinePlan& plan, std::vector<TraceMark>& marks) {
  const TimelinePlan::Rank* planned = plan.Find(rank.rank);
  if (planned == nullptr) return;
  for (const TimelinePlan::Mark& mark : plan.marks) {
    if (mark.rank != rank.rank) continue;
    const TimeNs time =
        planned->clock.Convert(mark.on_host ? mark.time - rank.host_offset : mark.time);
    if (rank.window && (time < rank.window->begin || time >= rank.window->end)) continue;
    marks.push_back({mark.rank, time, mark.name, mark.details});
  }
}

}  // namespace

ExportedTimeline ExportTimeline(const TimelinePlan& plan, const TimelineExport& wanted) {
  LongestSlices longest(wanted.most);
  VisitedRanks visited = VisitRanks(wanted.ranks, SliceTables(wanted.python),
                                    [&](std::size_t position, RankId rank, const RankTrace& trace) {
                                      RankSlices slices =
                                          SlicesOf(trace, RequestOf(rank, plan, wanted));
                                      slices.rank = rank;
                                      longest.Add(position, std::move(slices));
                                    });
  TraceDocument document;
  document.ranks = longest.Take();
  document.first_step = plan.first_step;
  std::size_t left_out = 0, moved = 0, kept = 0;
  for (const RankSlices& rank : document.ranks) {
    left_out += rank.left_out;
    moved += rank.moved;
    kept += rank.slices.size();
    AddMarks(rank, plan, document.marks);
  }
  if (kept == 0) {
    Fail(ErrorKind::kInput,
         "nothing lies in that part of the captures; times count from the first step");
  }
  document.facts = {{"clock", Say("us since the first event, on the clock of the first rank")},
                    {"left_out_slices", std::to_string(left_out)},
                    {"moved_slices", std::to_string(moved)}};
  if (plan.focus) document.facts.emplace_back("finding", plan.focus->key);
  if (!plan.notes.empty())
    document.facts.emplace_back("clocks", fmt::format("{}", fmt::join(plan.notes, "; ")));
  io::OutputFile file(wanted.path);
  const TraceCounts counts =
      WriteTrace(document, file.temporary_path(), wanted.path.extension() == ".gz");
  file.Replace(wanted.path);

  ExportedTimeline exported;
  exported.notes = std::move(visited.notes);
  exported.partial = visited.partial;
  const TimeNs zero = counts.begin - plan.first_step;
  exported.lines = {
      Say("{}, {:.3f} ms: {}, {}, {} of findings", Counted(Number(document.ranks.size()), "rank"),
          InMs(counts.end - counts.begin), Counted(Number(counts.slices), "slice"),
          Counted(Number(counts.arrows), "arrow"), Counted(Number(counts.marks), "mark")),
      zero < 0
          ? Say("  starts {:.3f} ms before the first step of the job", InMs(-zero))
          : Say("  starts {:.3f} ms after the start of the first step of the job", InMs(zero))};
  if (left_out > 0) {
    exported.lines.push_back(
        Say("  left out: the {} shortest slices; --max_events keeps more", left_out));
  }
  if (moved > 0) {
    exported.lines.push_back(
        Say("  moved to tracks beside their own because they overlap others: {}",
            Counted(Number(moved), "slice")));
  }
  return exported;
}

}  // namespace mpa
