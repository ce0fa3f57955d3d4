// SPDX-License-Identifier: Apache-2.0
// Tables of a capture that contradict each other, or say what no job has.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/measure/collectives.h"
#include "mpa/promises/promise.h"

namespace mpa {
namespace {

TimeNs Sum(const std::vector<TimeNs>& times) {
  return std::accumulate(times.begin(), times.end(), TimeNs{0});
}

// The others say how long the device computed; kernels may overlap, but not be fewer.
void CheckComputing(RankTrace& trace, TimeNs computing, const char* said_by) {
  constexpr TimeNs kRounding = 10'000;
  const TimeNs kernels = Sum(trace.kernels.dur);
  if (computing - kernels <= std::max(kRounding, kernels / 500)) return;
  trace.issues.Count(
      Promise::kTablesAgree,
      Say("kernel_details.csv lacks kernels, {} has more computing; copy the file again", said_by),
      Say("{} of {} us", kernels / 1000, computing / 1000));
}

bool IsPossible(std::vector<RankId> ranks, std::int64_t world) {
  std::ranges::sort(ranks);
  return static_cast<std::int64_t>(ranks.size()) <= world &&
         (ranks.empty() || (ranks.front() >= 0 && ranks.back() < kMaxRanks)) &&
         std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end();
}

}  // namespace

void CheckGroups(std::int64_t world, RankTrace& trace) {
  constexpr std::string_view kImpossible =
      "group members left out, they are more than the job has ranks or out of range; correct the"
      " description, or collect again";
  const auto count = [&](std::string_view group, std::size_t members) {
    trace.issues.Count(Promise::kGroupsPossible, kImpossible,
                       Say("group {}: {} members in a job of {}", group, members, world));
  };
  for (JobGroup& group : trace.job.groups) {
    if (IsPossible(group.ranks, world)) continue;
    count(group.id, group.ranks.size());
    group.ranks.clear();
  }
  for (std::size_t i = 0; i < trace.comm_groups.Size(); ++i) {
    std::int32_t& ranks = trace.comm_groups.ranks[i];
    if (ranks <= world) continue;
    count(trace.strings.View(trace.comm_groups.name[i]), static_cast<std::size_t>(ranks));
    ranks = 0;
  }
  for (auto* ends : {&trace.comm_tasks.own_rank, &trace.comm_tasks.peer}) {
    for (std::int32_t& rank : *ends) {
      if (rank < kMaxRanks) continue;
      trace.issues.Count(Promise::kGroupsPossible,
                         "rank of a collective's task left out, it is in no group; parse again",
                         fmt::format("rank {}", rank));
      rank = -1;
    }
  }
}

void CheckStepTable(const StepTimes& told, RankTrace& trace) {
  std::set<std::int32_t> steps(trace.steps.id.begin(), trace.steps.id.end());
  std::size_t numbered = 0, unknown = 0;
  std::int32_t first = -1;
  for (const std::int32_t step : told.step) {
    if (step < 0) continue;
    ++numbered;
    if (steps.contains(step)) continue;
    if (unknown++ == 0) first = step;
  }
  if (unknown > 0) {
    const bool of_other = unknown == numbered && !steps.empty();
    trace.issues.Count(of_other ? Promise::kOwnRun : Promise::kTablesAgree,
                       of_other
                           ? "step_trace_time.csv is of another run, the trace has other steps;"
                             " copy the whole capture again"
                           : "step_trace_time.csv has steps that the trace lacks, events were"
                             " lost; copy both again",
                       fmt::format("step {}", first));
    return;
  }
  TimeNs computing = 0, exposed = 0, communication = 0;
  for (std::size_t i = 0; i < trace.overlaps.Size(); ++i) {
    const TimeNs dur = trace.overlaps.dur[i];
    if (trace.overlaps.activity[i] == Activity::kComputing) computing += dur;
    if (trace.overlaps.activity[i] == Activity::kExposedCommunication) exposed += dur;
    if (trace.overlaps.activity[i] == Activity::kCommunication) communication += dur;
  }
  if (trace.overlaps.Empty()) return;
  // A step has no more than the whole trace, from which the profiler summed it up.
  const auto check = [&](const char* what, TimeNs of_table, TimeNs of_trace) {
    constexpr TimeNs kRounding = 10'000;
    if (of_table - of_trace <= std::max(kRounding, of_trace / 1000)) return;
    trace.issues.Count(
        Promise::kTablesAgree,
        "step_trace_time.csv and trace_view.json contradict each other, one of them was cut or is"
        " of another run; copy both again",
        Say("{}: {} and {} us", Translated(what), of_table / 1000, of_trace / 1000));
  };
  check("computing", Sum(told.computing), computing);
  check("exposed communication", Sum(told.exposed_communication), exposed);
  check("communication", Sum(told.communication), communication);
}

namespace {

// The profiler takes the collectives of the file from the same records as those of the trace.
void CheckCollectives(RankTrace& trace) {
  std::map<std::string_view, TimeNs> starts;
  const Communications& collectives = trace.communications;
  for (std::size_t i = 0; i < collectives.Size(); ++i)
    starts.emplace(trace.strings.View(collectives.name[i]), collectives.start[i]);
  std::size_t told = 0, strange = 0;
  std::string_view first;
  const auto look = [&](const std::vector<CommunicationOp>& ops) {
    for (const CommunicationOp& op : ops) {
      if (op.group.empty()) continue;  // a total
      ++told;
      const auto found = starts.find(op.name);
      constexpr double kMargin = 1'000'000;  // us
      if (found != starts.end() &&
          (op.time.start_us <= 0 || std::abs(op.time.start_us - InUs(found->second)) < kMargin))
        continue;
      if (strange++ == 0) first = op.name;
    }
  };
  for (const CommunicationStep& step : trace.communication_summary) {
    look(step.p2p);
    look(step.collective);
  }
  if (strange * 2 <= told) return;
  trace.issues.Count(Promise::kOwnRun,
                     "communication.json is of another run, the trace has other collectives; copy"
                     " the whole capture again",
                     Say("{} of {}, the first is {}", strange, told, first));
}

// The allocator's records have a sample at each allocation.
void CheckAllocations(RankTrace& trace) {
  const MemorySamples& samples = trace.memory_samples;
  std::vector<TimeNs> sampled;
  for (std::size_t i = 0; i < samples.Size(); ++i) {
    if (trace.strings.View(samples.component[i]) == "PTA") sampled.push_back(samples.time[i]);
  }
  if (sampled.empty()) return;
  if (trace.allocations.Empty()) {
    trace.issues.Count(Promise::kTablesAgree,
                       "operator_memory.csv has no rows, memory_record.csv has allocations; copy"
                       " both again",
                       Say("{} samples", sampled.size()));
    return;
  }
  std::ranges::sort(sampled);
  std::size_t known = 0, found = 0;
  for (const TimeNs time : trace.allocations.allocated) {
    if (time < 0) continue;
    ++known;
    found += std::ranges::binary_search(sampled, time) ? 1 : 0;
  }
  constexpr std::size_t kEnough = 4;
  if (known < kEnough || found > 0) return;
  // Some exporters sample other moments.
  const auto [first, last] = std::ranges::minmax(trace.allocations.allocated);
  if (last >= sampled.front() && first <= sampled.back()) return;
  trace.issues.Count(Promise::kOwnRun,
                     "operator_memory.csv and memory_record.csv are of different runs; copy the"
                     " whole capture again",
                     Say("{} of {} allocations are in both", found, known));
}

}  // namespace

void CheckSideTables(const FilesRead& files, RankTrace& trace) {
  if (files.communication) {
    const Communications& collectives = trace.communications;
    const bool has_collectives = std::ranges::any_of(collectives.name, [&](StringId name) {
      const std::string_view text = trace.strings.View(name);
      return text.starts_with("hcom_") && !IsPointToPointName(text);
    });
    if (has_collectives && trace.transfers.Empty() && trace.communication_summary.empty()) {
      trace.issues.Count(Promise::kTablesAgree,
                         "communication.json is empty, the trace has collectives: what they moved"
                         " is unknown; copy or parse the capture again",
                         Say("{} collectives", collectives.Size()));
    }
    if (!collectives.Empty()) CheckCollectives(trace);
  }
  if (files.allocations && files.memory) CheckAllocations(trace);
}

void CheckKernelTable(const KernelClaims& claims, RankTrace& trace) {
  const auto kernels = static_cast<std::int64_t>(trace.kernels.Size());
  if (kernels > 0 && claims.with_trace && trace.device_tasks.Empty()) {
    trace.issues.Count(Promise::kTablesAgree,
                       "the trace holds no work of the device, kernel_details.csv does: events were"
                       " lost; copy both again",
                       Say("{} kernels", kernels));
    return;
  }
  if (claims.kernels > 0 && claims.kernels != kernels) {
    trace.issues.Count(
        Promise::kTablesAgree,
        "kernel_details.csv and op_statistic.csv contradict each other, one of them was cut;"
        " copy both again",
        Say("{} and {} kernels", kernels, claims.kernels));
    return;
  }
  if (claims.computing >= 0) CheckComputing(trace, claims.computing, "step_trace_time.csv");
  if (!trace.issues.Empty()) return;
  TimeNs computing = 0;
  for (std::size_t i = 0; i < trace.overlaps.Size(); ++i) {
    if (trace.overlaps.activity[i] == Activity::kComputing) computing += trace.overlaps.dur[i];
  }
  CheckComputing(trace, computing, "the trace");
}

}  // namespace mpa
