// SPDX-License-Identifier: Apache-2.0
// The overlap analysis of a trace against the kernels and collectives that it is made of.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "checks.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/device_tasks.h"

namespace mpa::promises {
namespace {

Intervals During(const RankTrace& trace, Activity activity) {
  std::vector<Interval> rows;
  for (std::size_t i = 0; i < trace.overlaps.Size(); ++i) {
    if (trace.overlaps.activity[i] == activity)
      rows.push_back({trace.overlaps.start[i], trace.overlaps.End(i)});
  }
  return Union(std::move(rows));
}

// What the device ran on its cores: `all` has whatever may count as computing, `cores` what does.
struct CoreTime {
  Intervals all, cores;
};

CoreTime CoreTimeOf(const RankTrace& trace) {
  const DeviceTasks& tasks = trace.device_tasks;
  std::vector<Interval> all, cores;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    const std::string_view name = trace.strings.View(tasks.name[i]);
    const std::string_view type = trace.strings.View(tasks.type[i]);
    if (!IsWork(name, type) || IsCopy(name) || IsCopy(type) || IsLcclKernel(name)) continue;
    all.push_back({tasks.start[i], tasks.End(i)});
    if (IsOneOf(type, {"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV"}))
      cores.push_back(all.back());
  }
  return {Union(std::move(all)), Union(std::move(cores))};
}

Intervals CollectiveTime(const RankTrace& trace) {
  const Communications& collectives = trace.communications;
  std::vector<Interval> rows;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    if (IsLcclKernel(trace.strings.View(collectives.name[i]))) continue;
    rows.push_back({collectives.start[i], collectives.End(i)});
  }
  return Union(std::move(rows));
}

// Real captures agree to the nanosecond and their rounding.
bool Lacks(const Intervals& some, const Intervals& whole, TimeNs& lacking) {
  constexpr TimeNs kRounding = 10'000;
  lacking = Length(Difference(whole, some));
  return lacking > std::max(kRounding, Length(whole) / 200);
}

}  // namespace

void CheckActivities(RankTrace& trace) {
  if (trace.source != "text" || trace.overlaps.Empty() || !trace.issues.Empty()) return;
  const auto count = [&](std::string_view lost, TimeNs lacking) {
    trace.issues.Count(
        Promise::kTablesAgree,
        Say("{} of the trace were lost: its overlap analysis and its events contradict"
            " each other; copy or parse the capture again",
            Translated(lost)),
        fmt::format("{:.3f} ms", InMs(lacking)));
  };
  TimeNs lacking = 0;
  const Intervals computing = During(trace, Activity::kComputing);
  const Intervals communication = During(trace, Activity::kCommunication);
  const CoreTime cores = CoreTimeOf(trace);
  if (Lacks(cores.all, computing, lacking)) count("kernels", lacking);
  if (Lacks(Union(computing, communication), cores.cores, lacking))
    count("times of computing", lacking);
  const Intervals collectives = CollectiveTime(trace);
  if (Lacks(collectives, communication, lacking)) count("collectives", lacking);
  if (Lacks(communication, collectives, lacking)) count("times of communication", lacking);
}

}  // namespace mpa::promises
