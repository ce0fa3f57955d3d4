// SPDX-License-Identifier: Apache-2.0
// Compares two captures: both are read, every comparison looks at them, the sheets are put in
// order.
#include "mpa/pipeline/compare.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "capture_mismatch.h"
#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/notes.h"
#include "mpa/base/parallel.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/activities.h"
#include "mpa/model/rank_tables.h"
#include "mpa/report/summary_tables.h"
#include "page_facts.h"

namespace mpa {
namespace {

constexpr Tables kEvents = Tables::kHostOps | Tables::kPythonCalls | Tables::kKernels |
                           Tables::kDeviceTasks | Tables::kCommunications | Tables::kOverlaps |
                           Tables::kAllocations | Tables::kKernelStatistics;

// A capture in which nothing was found would look as if everything in the other were new. Analyses
// that ask for no events say themselves what they lack.
void RefuseEmpty(const RankInput& input, const RankTrace& trace, Tables wanted) {
  if (!Intersects(wanted, kEvents)) return;
  if (trace.host_ops.Empty() && trace.python_calls.Empty() && trace.kernels.Empty() &&
      trace.device_tasks.Empty() && trace.communications.Empty() && trace.overlaps.Empty() &&
      trace.allocations.Empty() && trace.kernel_statistics.Empty()) {
    Fail(ErrorKind::kInput,
         "{}: nothing to compare, because it holds none of the requested events; 'msprof-analyze"
         " check' shows what is in it",
         input.path.string());
  }
}

/// Both captures and what analyses computed from them, which rows of the report are made of.
struct Sides {
  std::array<LoadedRank, 2> ranks;
  std::optional<CompareInput> input;
};

// Tables of the sizes of captures that some analyses alone need.
void DropAllBut(Tables needed, RankTrace& trace) {
  constexpr Tables kLarge = Tables::kHostCalls | Tables::kCommTasks | Tables::kOverlaps |
                            Tables::kMemorySamples | Tables::kMstx;
  VisitRankTables(trace, [&](const auto& info, auto& table) {
    if (Intersects(info.kFilled, kLarge) && !Intersects(info.kFilled, needed)) table = {};
  });
}

TimeNs EndToEnd(const RankTrace& trace) {
  return trace.HasTimeline() ? ActivitiesOf(trace).Length() : 0;
}

}  // namespace

CompareOutcome Compare(const CompareRequest& request) {
  const std::array<const RankInput*, 2> inputs = {&request.base, &request.comparison};
  // Of snapshots alone there is nothing but them to compare, and of records of servers.
  const auto is_any = [&](CaptureKind kind) {
    return std::ranges::any_of(inputs, [&](const RankInput* input) { return input->kind == kind; });
  };
  const bool of_servers = is_any(CaptureKind::kServer);
  for (const RankInput* input : inputs) {
    if (!of_servers || input->kind == CaptureKind::kServer) continue;
    Fail(ErrorKind::kInput,
         "{}: a profile of a device, which cannot be compared with records of a server's requests;"
         " give those of another server, or see '-m serving_requests'",
         input->path.string());
  }
  const bool alone = of_servers || is_any(CaptureKind::kSnapshot);
  std::vector<Comparison> comparisons = request.comparisons;
  if (alone) {
    std::erase_if(comparisons, [&](const Comparison& comparison) {
      return !Intersects(comparison.needs, of_servers ? Tables::kServer : Tables::kMemorySnapshot);
    });
  }
  Tables wanted = Tables::kSteps;
  for (const Comparison& comparison : comparisons) wanted = wanted | comparison.needs;
  const bool wants_totals = request.wants_totals && !alone;
  if (wants_totals) wanted = wanted | AllComparisons().front().needs;

  const std::array steps = {request.base_step, request.comparison_step};
  const auto sides = std::make_shared<Sides>();
  std::array<LoadedRank, 2>& ranks = sides->ranks;
  ParallelFor(ranks.size(), [&](std::size_t i) {
    ranks[i] = LoadRank(*inputs[i],
                        {wanted | request.visit_needs, request.gpu_flow_cat, request.options.masks},
                        steps[i]);
    if (request.visit) request.visit(i == 1, ranks[i].trace);
  });
  for (std::size_t i = 0; i < ranks.size(); ++i) RefuseEmpty(*inputs[i], ranks[i].trace, wanted);
  CompareOutcome outcome;
  if (wants_totals) {
    outcome.totals.base = EndToEnd(ranks[0].trace);
    outcome.totals.comparison = EndToEnd(ranks[1].trace);
  }
  Report& report = outcome.report;
  ComparedCollections collections =
      CompareCollections({request.base, ranks[0].trace}, {request.comparison, ranks[1].trace});
  report.preface = std::move(collections.mismatch);
  report.settings = std::move(collections.settings);
  if (!report.preface.empty()) report.notes.push_back(report.preface);
  AppendNew(request.notes, report.notes);  // a capture compared with itself says all twice
  for (const LoadedRank& rank : ranks) {
    outcome.partial = outcome.partial || rank.partial;
    AppendNew(rank.notes, report.notes);
  }
  report.facts =
      FactsOfSides({&request.base, &request.comparison}, {&ranks[0].trace, &ranks[1].trace});
  NoteUnreadRecords({&request.base, &request.comparison}, report.notes);

  CompareOptions options = request.options;
  options.one_step = request.base_step.has_value();
  const CompareInput& input =
      sides->input.emplace(ranks[0].trace, request.base.path.string(), ranks[1].trace,
                           request.comparison.path.string(), std::move(options));
  std::vector<Report> parts(comparisons.size());
  // Few analyses need these, and much memory for themselves: they go first and make room.
  constexpr Tables kOfFew = Tables::kCommTasks | Tables::kHostCalls;
  for (const bool first : {true, false}) {
    std::vector<std::size_t> places;
    Tables needed{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (Intersects(comparisons[i].needs, kOfFew) != first) continue;
      places.push_back(i);
      needed = needed | comparisons[i].needs;
    }
    if (!first) {
      for (LoadedRank& rank : ranks) DropAllBut(needed, rank.trace);
    }
    ParallelFor(places.size(),
                [&](std::size_t i) { comparisons[places[i]].run(input, parts[places[i]]); });
  }
  for (Report& part : parts) {
    std::move(part.screens.begin(), part.screens.end(), std::back_inserter(report.screens));
    std::move(part.story.begin(), part.story.end(), std::back_inserter(report.story));
    std::move(part.sheets.begin(), part.sheets.end(), std::back_inserter(report.sheets));
    std::move(part.drawings.begin(), part.drawings.end(), std::back_inserter(report.drawings));
    if (report.change.children.empty()) report.change = std::move(part.change);
    AppendNew(part.notes, report.notes);
    AppendNew(part.not_collected, report.not_collected);
  }
  const auto are_made = [](const Sheet& sheet) { return sheet.rows.AreMade(); };
  if (std::ranges::any_of(report.sheets, are_made)) report.sources.push_back(sides);
  report.as_reference = request.options.compat;
  if (!report.as_reference) {
    if (!report.change.children.empty()) report.sheets.push_back(ChangeSheet(report.change));
    report.summary = SummariseComparison(report);
  }
  return outcome;
}

}  // namespace mpa
