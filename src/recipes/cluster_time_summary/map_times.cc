// SPDX-License-Identifier: Apache-2.0
// Where the time of each step of a rank went.
#include <algorithm>
#include <map>
#include <utility>

#include "mpa/measure/accounting.h"
#include "mpa/measure/host_timeline.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/model/step_bounds.h"
#include "mpa/recipe/chosen_step.h"
#include "rows.h"

namespace mpa::time_summary {
namespace {

Intervals CommunicationOf(const RankTrace& trace) {
  const Communications& operations = trace.communications;
  std::vector<Interval> rows;
  rows.reserve(operations.Size());
  for (std::size_t i = 0; i < operations.Size(); ++i) {
    rows.push_back({operations.start[i], operations.start[i] + operations.dur[i]});
  }
  return Union(std::move(rows));
}

StepSums SumsOf(const StepAccount& account, const Intervals& communication) {
  const LeafTimes& leaves = account.leaves;
  StepSums sums;
  sums.step = account.id;
  sums.length = account.window.end - account.window.begin;
  sums.computing = leaves.SumOf(IsCompute);
  sums.exposed_communication = leaves.SumOf(IsCommunication);
  sums.exposed_copies = leaves.SumOf(IsDeviceCopy);
  sums.free = leaves.SumOf(IsFree);
  sums.waiting = leaves[Leaf::kWaitPeer] + leaves[Leaf::kBubble];
  sums.unsplit = leaves[Leaf::kUnsplit];
  sums.communication = LengthWithin(communication, account.window);
  return sums;
}

// Each copy belongs to the step that launched it; of a capture without steps all to the only one.
void AddCopies(const RankTrace& trace, const HostClock& clock, std::vector<StepSums>& steps) {
  const StepBounds bounds(trace, clock.offset);
  const DeviceTasks& tasks = trace.device_tasks;
  for (const std::size_t i : MemoryCopies(trace)) {
    if (bounds.Count() == 0) {
      if (!steps.empty()) steps.front().copies += tasks.dur[i];
    } else if (const auto step = bounds.OfDeviceWork(tasks.link[i], tasks.start[i])) {
      steps[*step].copies += tasks.dur[i];
    }
  }
}

// What the threads of the host compiled during each step.
void AddCompiling(const RankTrace& trace, std::vector<StepSums>& steps) {
  const HostSteps on_host(trace.steps);
  if (on_host.Count() != steps.size()) return;
  const HostTimeline timeline(trace);
  const auto nothing = [](TimeNs, TimeNs) {};
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto add = [&](const HostPiece& piece) {
      if (piece.leaf == Leaf::kCompile || piece.leaf == Leaf::kAclOp)
        steps[step].compiling += piece.end - piece.begin;
    };
    for (std::size_t track = 0; track < trace.tracks.Size(); ++track) {
      timeline.Walk(static_cast<std::int32_t>(track), on_host.HostBegin(step),
                    on_host.HostEnd(step), add, nothing);
    }
  }
}

}  // namespace

TimesOfRank MapTimes(const RankTrace& trace, const RecipeArguments& arguments) {
  const auto chosen = ChosenStep(trace.steps, arguments);
  TimesOfRank part;
  part.collectives = CollectivesOfRank(trace, chosen);
  part.is_base = arguments.contains(kIsBaseline);
  const RankTrace no_host;  // what the host did is not asked for
  const RankAccount account = AccountRank(trace, HostTimeline(no_host), {});
  const Intervals communication = CommunicationOf(trace);
  for (const StepAccount& step : account.steps) part.steps.push_back(SumsOf(step, communication));
  if (part.steps.empty()) return part;
  AddCopies(trace, account.clock, part.steps);
  AddCompiling(trace, part.steps);
  if (chosen) {
    std::erase_if(part.steps, [&](const StepSums& of_step) { return of_step.step != *chosen; });
  }
  return part;
}

}  // namespace mpa::time_summary
