// SPDX-License-Identifier: Apache-2.0
// Where the time of each step of a rank went.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "mpa/measure/activities.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/model/step_bounds.h"
#include "mpa/recipe/chosen_step.h"
#include "part.h"

namespace mpa::time_summary {
namespace {

// The steps of a rank and what belongs to which. A capture without steps is one step, -1.
class StepsOfRank {
 public:
  explicit StepsOfRank(const RankTrace& trace) : bounds_(trace) {}

  std::optional<std::int32_t> Of(std::int64_t link, TimeNs start) const {
    if (bounds_.Count() == 0) return -1;
    const auto step = bounds_.OfDeviceWork(link, start);
    return step ? std::optional(bounds_.Id(*step)) : std::nullopt;
  }

  // The steps with their time on the device.
  std::vector<std::pair<std::int32_t, Interval>> Windows(const Interval& all) const {
    if (bounds_.Count() == 0) return {{-1, all}};
    std::vector<std::pair<std::int32_t, Interval>> windows;
    for (std::size_t i = 0; i < bounds_.Count(); ++i) {
      windows.push_back({bounds_.Id(i), {bounds_.DeviceBegin(i), bounds_.DeviceFinish(i)}});
    }
    return windows;
  }

 private:
  StepBounds bounds_;
};

using SumsByStep = std::map<std::int32_t, StepSums>;

StepSums& SumsOf(std::int32_t step, SumsByStep& sums) {
  StepSums& found = sums[step];
  found.step = step;
  return found;
}

// As the profiler's own step trace says.
void AddStepTrace(const StepTimes& times, SumsByStep& steps) {
  for (std::size_t i = 0; i < times.Size(); ++i) {
    StepSums& sums = SumsOf(times.step[i], steps);
    sums.computing += times.computing[i];
    sums.exposed_communication += times.exposed_communication[i];
    sums.overlapped += times.overlapped[i];
    sums.communication += times.communication[i];
    sums.free += times.free[i];
  }
}

// The same of captures without a step trace.
void AddActivities(const Activities& activities, const StepsOfRank& steps, SumsByStep& sums) {
  if (activities.Empty()) return;
  const Intervals free = activities.Free();
  for (const auto& [step, window] : steps.Windows(activities.span)) {
    const auto within = [&, &time = window](const Intervals& intervals) {
      return time.end > time.begin ? Length(Intersection(intervals, {time})) : 0;
    };
    StepSums& of_step = SumsOf(step, sums);
    of_step.computing = within(activities.computing);
    of_step.exposed_communication = within(activities.exposed);
    of_step.communication = within(activities.communication);
    of_step.overlapped = of_step.communication - of_step.exposed_communication;
    of_step.free = within(free);
  }
}

void AddCopies(const RankTrace& trace, const Activities& activities, const StepsOfRank& steps,
               SumsByStep& sums) {
  const DeviceTasks& tasks = trace.device_tasks;
  std::map<std::int32_t, std::vector<Interval>> copies;
  for (const std::size_t i : MemoryCopies(trace)) {
    const auto step = steps.Of(tasks.link[i], tasks.start[i]);
    if (!step) continue;
    copies[*step].push_back({tasks.start[i], tasks.start[i] + tasks.dur[i]});
    SumsOf(*step, sums).copies += tasks.dur[i];
  }
  const Intervals busy = Union(activities.computing, activities.communication);
  for (auto& [step, times] : copies) {
    SumsOf(step, sums).exposed_copies = Length(Difference(Union(std::move(times)), busy));
  }
}

RankRuns RunsOf(const RankTrace& trace, const StepsOfRank& steps,
                const std::optional<std::int32_t>& chosen) {
  RankRuns runs = CommunicationRuns(trace);
  const Communications& ops = trace.communications;
  std::erase_if(runs.rows, [&](RankRuns::Row& row) {
    const auto operation = static_cast<std::size_t>(row.operation);
    const auto step = steps.Of(ops.link[operation], row.start);
    if (step) row.step = *step;
    return !step || (chosen && *step != *chosen);
  });
  return runs;
}

}  // namespace

TimesOfRank MapTimes(const RankTrace& trace, const RecipeArguments& arguments) {
  const auto chosen = ChosenStep(trace.steps, arguments);
  TimesOfRank part;
  part.is_base = arguments.contains(kIsBaseline);
  const StepsOfRank steps(trace);
  const Activities activities = ActivitiesOf(trace);
  SumsByStep sums;
  for (std::size_t i = 0; i < trace.steps.Size(); ++i) {
    SumsOf(trace.steps.id[i], sums).length = trace.steps.end[i] - trace.steps.start[i];
  }
  if (trace.step_times.Empty()) {
    AddActivities(activities, steps, sums);
  } else {
    AddStepTrace(trace.step_times, sums);
  }
  AddCopies(trace, activities, steps, sums);
  part.runs = RunsOf(trace, steps, chosen);
  for (const auto& [step, of_step] : sums) part.steps.push_back(of_step);
  if (chosen) {
    std::erase_if(part.steps, [&](const StepSums& of_step) { return of_step.step != *chosen; });
  }
  return part;
}

}  // namespace mpa::time_summary
