// SPDX-License-Identifier: Apache-2.0
// Where the time of each step of a rank went, and its rows.
#include "rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/host_timeline.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/serving_steps.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/step_bounds.h"
#include "mpa/recipe/arguments.h"

namespace mpa::time_summary {

const std::array<Metric, kMetrics> kMetricsOfStep = {
    {{"stepTime", ToTranslate("step"), "Step Time(us)",
      ToTranslate(
          "Time of the step on the device, in us: computation, exposed communication, free time and"
          " time in which nothing but copies ran.")},
     {"computation", ToTranslate("computation"), "Computation(us)",
      ToTranslate("Time in which kernels computed, in us.")},
     {"communicationNotOverlapComputation", ToTranslate("exposed communication"),
      "Communication Not Overlap Computation(us)",
      ToTranslate("Communication while nothing was computed, in us.")},
     {"communicationOverlapComputation", ToTranslate("hidden communication"),
      "Communication Overlap Computation(us)",
      ToTranslate("Communication while kernels computed, in us.")},
     {"communication", ToTranslate("all communication"), "Communication(us)",
      ToTranslate("All communication, in us.")},
     {"free", ToTranslate("free"), "Free(us)",
      ToTranslate("Time in which the device did nothing, not even copy, in us; from the beginning"
                  " of the step"
                  " to its end.")},
     {"communicationWaitStageTime", ToTranslate("waiting for other ranks"),
      "Communication Wait Stage Time(us)",
      ToTranslate("Exposed communication until the last rank of the operation had come, in us;"
                  " empty where the"
                  " capture does not tell it.")},
     {"communicationTransmitStageTime", ToTranslate("transfer"),
      "Communication Transmit Stage Time(us)",
      ToTranslate("Exposed communication after the last rank of the operation had come, in us.")},
     {"memory", ToTranslate("all copies"), "Memory(us)",
      ToTranslate("Copies between memories, in us.")},
     {"memoryNotOverlapComputationCommunication", ToTranslate("copies alone"),
      "Memory Not Overlap Computation Communication(us)",
      ToTranslate("Time in which nothing but copies ran, in us.")}}};

std::vector<StepRow> RowsOf(const Ranks& ranks, std::vector<std::string>& notes) {
  std::vector<StepRow> rows;
  std::size_t not_split = 0, divided_otherwise = 0;
  bool level_tells = false;
  for (const auto& [rank, part] : ranks) {
    for (const EarlierStep& step : part.earlier) {
      rows.push_back({rank, step.step, step.times});
      divided_otherwise += step.divided_otherwise ? 1 : 0;
    }
    for (std::size_t i = 0; i < part.steps.size(); ++i) {
      const StepSums& sums = part.steps[i];
      const StepLoad& load = part.load.steps[i];
      StepRow& row = rows.emplace_back();
      row.rank = rank;
      row.step = sums.step;
      auto& times = row.times;
      times[kStepTime] = load.length;
      times[kComputation] = load.computing;
      times[kExposedCommunication] = load.communication;
      times[kOverlappedCommunication] = sums.communication - load.communication;
      times[kCommunication] = sums.communication;
      times[kFree] = load.free;
      times[kMemory] = sums.copies;
      times[kExposedMemory] = load.copies;
      if (load.waiting >= 0) {
        times[kWait] = load.waiting;
        times[kTransmit] = load.communication - load.waiting;
      } else {
        ++not_split;
        level_tells = level_tells || sums.level_tells;
      }
    }
  }
  for (const auto& [rank, part] : ranks) {
    if (part.steps.empty() && part.earlier.empty()) notes.push_back(NoDeviceWorkNote(rank));
  }
  if (not_split > 0) {
    notes.push_back(
        Say("the wait for other ranks is unknown in {} (of all ranks together) without recorded"
            " communication tasks{}",
            Counted(not_split, "step"),
            level_tells ? Translated("; collect with profiler_level=Level1") : ""));
  }
  if (divided_otherwise > 0) {
    notes.push_back(Say(
        "the table of the earlier run was made by another tool or version, which defines free time,"
        " wait and transfer differently, so they are not compared; run cluster_time_summary on its"
        " captures again"));
  }
  return rows;
}

std::optional<std::int32_t> WarmUpOf(const Ranks& ranks, const std::vector<StepRow>& rows) {
  std::map<std::int32_t, std::pair<TimeNs, TimeNs>> steps;  // the longest rank, all compiling
  std::map<std::int32_t, ServingBatch> batches;
  for (const StepRow& row : rows) {
    TimeNs& length = steps[row.step].first;
    length = std::max(length, row.times[kStepTime].value_or(0));
  }
  for (const auto& [rank, part] : ranks) {
    for (const StepSums& sums : part.steps) {
      steps[sums.step].second += sums.compiling;
      batches.try_emplace(sums.step, sums.batch);
    }
  }
  std::vector<TimeNs> lengths, compiling;
  for (const auto& [id, step] : steps) {
    if (!AreAlike(batches[id], batches[steps.begin()->first])) continue;
    lengths.push_back(step.first);
    compiling.push_back(step.second);
  }
  if (!FirstStepIsWarmUp(lengths, compiling, ranks.size())) return std::nullopt;
  return steps.begin()->first;
}

namespace {

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

// Without such names no piece of a HostTimeline is of compiling, and making one takes long.
bool HasCompilingNames(const RankTrace& trace) {
  const auto has = [&](const std::vector<StringId>& names,
                       TimeCategory (*class_of)(std::string_view)) {
    NamedClasses classes(trace.strings, class_of);
    return std::ranges::any_of(names, [&](StringId name) {
      const TimeCategory category = classes.Of(name);
      return category == TimeCategory::kCompile || category == TimeCategory::kAclOp;
    });
  };
  const auto class_of_call = [](std::string_view name) {
    return IsOpCompileAndExecute(name) ? TimeCategory::kAclOp : ClassOfCall(name);
  };
  return has(trace.host_ops.name, ClassOfOp) || has(trace.host_calls.name, class_of_call) ||
         has(trace.python_calls.name, ClassOfPython);
}

// What the threads of the host compiled during each step.
void AddCompiling(const RankTrace& trace, std::vector<StepSums>& steps) {
  const HostSteps on_host(trace.steps);
  if (on_host.Count() != steps.size() || !HasCompilingNames(trace)) return;
  const HostTimeline timeline(trace);
  const auto nothing = [](TimeNs, TimeNs) {};
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto add = [&](const HostPiece& piece) {
      if (piece.category == TimeCategory::kCompile || piece.category == TimeCategory::kAclOp)
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
  part.is_base = arguments.is_baseline;
  const RankTrace no_host;  // what the host did is not asked for
  const RankAccount account = AccountRank(trace, HostTimeline(no_host), {});
  part.load = LoadOfRank(trace, account, chosen);
  const Intervals communication = Covered(trace.communications);
  const bool level_tells = trace.device == DeviceKind::kNpu && trace.source != "torch.profiler" &&
                           !IsOneOf(trace.profiler_level, {"Level1", "Level2"});
  for (const StepAccount& step : account.steps) {
    part.steps.push_back({.step = step.id,
                          .level_tells = level_tells,
                          .communication = LengthWithin(communication, step.window)});
  }
  if (part.steps.empty()) return part;
  AddCopies(trace, account.clock, part.steps);
  AddCompiling(trace, part.steps);
  const std::vector<ServingBatch> batches = BatchesOfSteps(trace);
  for (std::size_t i = 0; i < std::min(batches.size(), part.steps.size()); ++i) {
    part.steps[i].batch = batches[i];
  }
  if (!chosen || *chosen == part.steps.front().step) part.left_out = account.earlier;
  if (chosen) {
    std::erase_if(part.steps, [&](const StepSums& of_step) { return of_step.step != *chosen; });
  }
  return part;
}

std::vector<StepPair> PairSteps(const std::vector<StepRow>& comparison,
                                const std::vector<StepRow>& base, std::vector<std::string>& notes) {
  std::map<std::pair<RankId, std::int32_t>, StepPair> pairs;
  const auto add = [&](const std::vector<StepRow>& rows, const StepRow* StepPair::*side) {
    for (const StepRow& row : rows) {
      StepPair& pair = pairs[{row.rank, row.step}];
      pair.rank = row.rank;
      pair.step = row.step;
      pair.*side = &row;
    }
  };
  add(comparison, &StepPair::comparison);
  add(base, &StepPair::base);
  std::vector<StepPair> listed;
  std::size_t alone = 0;
  for (const auto& [key, pair] : pairs) {
    listed.push_back(pair);
    alone += pair.comparison == nullptr || pair.base == nullptr ? 1 : 0;
  }
  if (alone > 0) {
    notes.push_back(
        Say("{} of {} steps of ranks are in one run only, so they have no difference; steps"
            " are compared by rank and number",
            alone, listed.size()));
  }
  return listed;
}

}  // namespace mpa::time_summary
