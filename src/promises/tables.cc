// SPDX-License-Identifier: Apache-2.0
// Tables of a capture that contradict each other, or say what no job has.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "mpa/base/rank_names.h"
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
      fmt::format("kernel_details.csv lacks kernels, {} has more computing; copy the file again",
                  said_by),
      fmt::format("{} of {} us", kernels / 1000, computing / 1000));
}

bool IsPossible(std::vector<std::int64_t> ranks, std::int64_t world) {
  std::ranges::sort(ranks);
  return static_cast<std::int64_t>(ranks.size()) <= world &&
         (ranks.empty() || (ranks.front() >= 0 && ranks.back() < kMaxRanks)) &&
         std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end();
}

}  // namespace

void CheckGroups(std::int64_t world, RankTrace& trace) {
  constexpr std::string_view kImpossible =
      "members of a group left out, no job has such; correct its description, or collect again";
  const auto count = [&](std::string_view group, std::size_t members) {
    trace.issues.Count(Promise::kGroupsPossible, kImpossible,
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
      trace.issues.Count(Promise::kGroupsPossible,
                         "rank of a collective's task left out, no group has it; parse again",
                         fmt::format("rank {}", rank));
      rank = -1;
    }
  }
}

void CheckKernelTable(const KernelClaims& claims, RankTrace& trace) {
  const auto kernels = static_cast<std::int64_t>(trace.kernels.Size());
  if (claims.kernels > 0 && claims.kernels != kernels) {
    trace.issues.Count(
        Promise::kTablesAgree,
        "kernel_details.csv and op_statistic.csv contradict each other, one of them was cut; "
        "copy both again",
        fmt::format("{} and {} kernels", kernels, claims.kernels));
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
