// SPDX-License-Identifier: Apache-2.0
// Tables of a capture that contradict each other, and rows that were written twice.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <vector>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/io/json_document.h"
#include "mpa/model/repeated_rows.h"

namespace mpa {
namespace {

void CountRepeated(RankTrace& trace, const char* table, std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i) {
    trace.issues.Count(kWrittenTwice, table);
  }
}

void DropRepeatedTasks(RankTrace& trace) {
  const auto task_key = [](const auto& table) {
    return [&table](std::size_t i) {
      return std::tuple(table.start[i], table.task_id[i], table.dur[i], table.stream[i]);
    };
  };
  const auto has_ids = [](const auto& table) { return !table.Empty() && table.task_id[0] >= 0; };
  std::size_t rows = 0;
  if (has_ids(trace.device_tasks)) {
    rows = std::max(rows, DropRepeated(trace.device_tasks, task_key(trace.device_tasks)));
  }
  if (has_ids(trace.kernels)) {
    const std::vector<bool> repeated = Repeated(trace.kernels, task_key(trace.kernels));
    const auto count = static_cast<std::size_t>(std::ranges::count(repeated, true));
    const auto keep = [&](std::size_t row) { return !repeated[row]; };
    if (count > 0) {
      if (!trace.kernel_loads.Empty()) trace.kernel_loads.Filter(keep);
      trace.kernels.Filter(keep);
    }
    rows = std::max(rows, count);
  }
  if (has_ids(trace.schedule_kernels)) {
    rows = std::max(rows, DropRepeated(trace.schedule_kernels, task_key(trace.schedule_kernels)));
  }
  const ListedKernels& listed = trace.listed_kernels;
  rows = std::max(rows, DropRepeated(trace.listed_kernels, [&](std::size_t i) {
                    // Collectives have no number.
                    return std::tuple(listed.start[i], listed.id[i], listed.dur[i],
                                      listed.id[i] < 0 ? i : 0);
                  }));
  const CommTasks& tasks = trace.comm_tasks;
  rows =
      std::max(rows, DropRepeated(trace.comm_tasks, [&](std::size_t i) {
                 return std::tuple(tasks.start[i], tasks.dur[i], tasks.stream[i], tasks.plane[i],
                                   tasks.op_id[i], tasks.name[i], tasks.peer[i], tasks.notify[i]);
               }));
  CountRepeated(trace, "TASK", rows);
}

std::size_t DropRepeatedTimes(StepTimes& times) {
  return DropRepeated(times, [&](std::size_t i) {
    return std::tuple(times.step[i], times.computing[i], times.communication[i], times.free[i],
                      times.stage[i], times.preparing[i]);
  });
}

void CheckSteps(RankTrace& trace) {
  CountRepeated(trace, trace.source == "database" ? "StepTraceTime" : "step_trace_time.csv",
                DropRepeatedTimes(trace.step_times));
  const Steps& steps = trace.steps;
  const std::size_t rows = DropRepeated(trace.steps, [&](std::size_t i) {
    return std::tuple(steps.id[i], steps.start[i], steps.end[i]);
  });
  CountRepeated(trace, trace.source == "database" ? "STEP_TIME" : "ProfilerStep", rows);
  const std::vector<std::size_t> order = steps.RowsByStart();
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t step = order[i - 1], next = order[i];
    constexpr TimeNs kMicrosecond = 1'000;
    if (steps.end[next] == steps.start[next]) continue;  // takes nothing from the other
    if (steps.start[next] + kMicrosecond >= steps.end[step]) continue;
    trace.issues.Count(
        "steps overlap, their times are wrong or belong to several runs",
        fmt::format("step {} begins {} us before step {} ends", steps.id[next],
                    (steps.end[step] - steps.start[next]) / kMicrosecond, steps.id[step]));
  }
}

// Steps follow each other, and the host works between them. Of raw data the reader says it.
void CheckGaps(RankTrace& trace) {
  const Steps& steps = trace.steps;
  const auto begins_within = [](TimeNs from, TimeNs to, const auto& table) {
    return std::ranges::any_of(table.start, [&](TimeNs t) { return t >= from && t < to; });
  };
  const std::vector<std::size_t> order = steps.RowsByStart();
  for (std::size_t i = 1; i < order.size() && trace.source != "raw"; ++i) {
    const TimeNs end = steps.end[order[i - 1]], begin = steps.start[order[i]];
    constexpr TimeNs kMaxLength = 1'000'000'000;
    if (begin - end <= kMaxLength) continue;
    // The device may still work for the one step, and a collection begin before the other.
    const TimeNs quarter = (begin - end) / 4;
    const auto is_in = [&](const auto&... tables) {
      return (begins_within(end + quarter, begin - quarter, tables) || ...);
    };
    if (is_in(trace.host_ops, trace.host_calls, trace.kernels, trace.device_tasks,
              trace.communications))
      continue;
    trace.issues.Count(
        "nothing was recorded between two steps, which counts as free in the first and end to end",
        fmt::format("{} ms before step {}", (begin - end) / 1'000'000, steps.id[order[i]]));
  }
}

// Reads a side file into tables of its own; what is wrong with it is said where it is wanted.
RankTrace ReadSideFile(const CaptureFile& file, const ReadRequest& request) {
  RankTrace side;
  for (const Reader& reader : AllReaders()) {
    if (reader.reads != file.kind) continue;
    try {
      CheckFollowed(file);
      reader.read(file, request, side);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kResource) throw;
      return {};
    }
  }
  return side;
}

TimeNs Sum(const std::vector<TimeNs>& times) {
  return std::accumulate(times.begin(), times.end(), TimeNs{0});
}

// The others say how long the device computed; kernels may overlap, but not be fewer.
void CheckComputing(RankTrace& trace, TimeNs computing, const char* said_by) {
  constexpr TimeNs kRounding = 10'000;
  const TimeNs kernels = Sum(trace.kernels.dur);
  if (computing - kernels <= std::max(kRounding, kernels / 500)) return;
  trace.issues.Count(
      fmt::format("kernel_details.csv lacks kernels, {} has more computing; copy the file again",
                  said_by),
      fmt::format("{} of {} us", kernels / 1000, computing / 1000));
}

// Of the whole job, as it says of itself.
std::int64_t WorldSize(const RankInput& input, const RankTrace& trace) {
  const auto args = nlohmann::json::parse(trace.job.distributed_args, nullptr, false);
  const nlohmann::json& told = io::Member(args, "world_size");
  std::int64_t world = input.gpu ? input.gpu->world_size.value_or(0) : 0;
  if (told.is_number_integer()) world = told.get<std::int64_t>();
  return world > 0 ? std::min(world, kMaxRanks) : kMaxRanks;
}

bool IsPossible(std::vector<std::int64_t> ranks, std::int64_t world) {
  std::ranges::sort(ranks);
  return static_cast<std::int64_t>(ranks.size()) <= world &&
         (ranks.empty() || (ranks.front() >= 0 && ranks.back() < kMaxRanks)) &&
         std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end();
}

}  // namespace

void CheckGroups(const RankInput& input, RankTrace& trace) {
  constexpr std::string_view kImpossible =
      "members of a group left out, no job has such; correct its description, or collect again";
  const std::int64_t world = WorldSize(input, trace);
  const auto count = [&](std::string_view group, std::size_t members) {
    trace.issues.Count(kImpossible,
                       fmt::format("group {}: {} members in a job of {}", group, members, world));
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
      trace.issues.Count("rank of a collective's task left out, no group has it; parse again",
                         fmt::format("rank {}", rank));
      rank = -1;
    }
  }
}

void DropRepeatedRows(RankTrace& trace) {
  if (trace.source == "database") DropRepeatedTasks(trace);
  CheckSteps(trace);
  CheckGaps(trace);
}

void CheckKernelTable(const RankInput& input, const ReadRequest& request, RankTrace& trace) {
  if (input.kind != CaptureKind::kNpuText || trace.kernels.Empty()) return;
  if (!trace.issues.Empty() || input.Find(FileKind::kKernelDetails) == nullptr) return;
  if (const CaptureFile* file = input.Find(FileKind::kOpStatistic)) {
    const RankTrace side = ReadSideFile(*file, request);
    const auto& counts = side.kernel_statistics.count;
    const std::int64_t counted = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    const auto kernels = static_cast<std::int64_t>(trace.kernels.Size());
    if (counted > 0 && counted != kernels && side.issues.Empty()) {
      trace.issues.Count(
          "kernel_details.csv and op_statistic.csv contradict each other, one of them was cut; "
          "copy both again",
          fmt::format("{} and {} kernels", kernels, counted));
      return;
    }
  }
  if (const CaptureFile* file = input.Find(FileKind::kStepTraceTime)) {
    RankTrace side = ReadSideFile(*file, request);
    DropRepeatedTimes(side.step_times);
    CheckComputing(trace, Sum(side.step_times.computing), "step_trace_time.csv");
  }
  if (!trace.issues.Empty()) return;
  TimeNs computing = 0;
  for (std::size_t i = 0; i < trace.overlaps.Size(); ++i) {
    if (trace.overlaps.activity[i] == Activity::kComputing) computing += trace.overlaps.dur[i];
  }
  CheckComputing(trace, computing, "the trace");
}

}  // namespace mpa
