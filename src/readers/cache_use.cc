// SPDX-License-Identifier: Apache-2.0
// l2_cache.csv, l2_cache_*.csv: how tasks used the L2 cache. Its rows name no time, so tasks are
// found by their numbers.
#include "cache_use.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "csv_rows.h"
#include "kernel_load_columns.h"
#include "mpa/base/amounts.h"
#include "mpa/measure/cache_hits.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

using TaskKey = std::tuple<std::int64_t, std::int64_t, StringId>;  // stream, number, name

// The mean of those that are recorded.
double MeanOf(const std::vector<const CacheUse*>& uses, double CacheUse::*rate) {
  Tally<double> recorded;
  for (const CacheUse* use : uses) {
    if (std::isfinite(use->*rate)) recorded.AddOne(use->*rate);
  }
  return recorded.count > 0 ? recorded.Mean() : std::numeric_limits<double>::quiet_NaN();
}

// A part of all requests; NaN: none is recorded.
double RateOf(std::string_view cell, const io::CsvFile& csv, Issues& issues) {
  if (!IsRecorded(cell)) return std::numeric_limits<double>::quiet_NaN();
  constexpr double kMost = 1.001;  // rounding of the profiler
  const double rate = io::ParseReal(cell).value_or(-1);
  if (rate >= 0 && rate <= kMost) return rate;
  issues.Count("invalid rate of the L2 cache left out", csv.Place());
  return std::numeric_limits<double>::quiet_NaN();
}

void ReadCacheUse(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const auto name = csv.Require("Op Name");
  const auto stream = csv.Require("Stream Id");
  const auto task = csv.Require("Task Id");
  const auto hit = csv.Find("Hit Rate");
  const auto victim = csv.Find("Victim Rate");
  const auto device = csv.Find("Device_id");
  std::vector<CacheUse> uses;
  while (NextRowOfDevice(csv, device, trace)) {
    uses.push_back({.stream = io::ParseInt(csv[stream]).value_or(-1),
                    .task = io::ParseInt(csv[task]).value_or(-1),
                    .name = trace.strings.Intern(csv[name]),
                    .hit_rate = RateOf(csv[hit], csv, trace.issues),
                    .victim_rate = RateOf(csv[victim], csv, trace.issues)});
  }
  if (!AddCacheUses(uses, trace.strings, trace)) {
    trace.issues.Count("use of the L2 cache left out, no row has the task of a kernel",
                       csv.Place());
  }
}

}  // namespace

bool AddCacheUses(const std::vector<CacheUse>& uses, StringPool& strings, RankTrace& trace) {
  KernelLoads& loads = trace.kernel_loads;
  std::map<TaskKey, std::vector<const CacheUse*>> by_task;
  std::map<StringId, std::vector<const CacheUse*>> by_name;
  for (const CacheUse& use : uses) {
    by_task[{use.stream, use.task, use.name}].push_back(&use);
    by_name[use.name].push_back(&use);
  }
  std::map<TaskKey, std::vector<std::size_t>> kernels;
  for (std::size_t i = 0; i < loads.Size(); ++i) {
    const bool numbered = loads.task[i] >= 0;
    kernels[{numbered ? trace.kernels.stream[i] : -1, loads.task[i], trace.kernels.name[i]}]
        .push_back(i);
  }
  const StringId hit_rate = strings.Intern(kHitRate);
  const StringId victim_rate = strings.Intern(kVictimRate);
  bool any = uses.empty() || loads.Empty();
  const auto give = [&](std::size_t kernel, std::span<const CacheUse* const> found) {
    const std::vector<const CacheUse*> of_kernel(found.begin(), found.end());
    for (const auto& [name, rate] :
         {std::pair(hit_rate, &CacheUse::hit_rate), {victim_rate, &CacheUse::victim_rate}}) {
      const double mean = MeanOf(of_kernel, rate);
      if (std::isfinite(mean)) SetCounter(name, mean, trace.counter_names, loads.counters[kernel]);
    }
    any = true;
  };
  for (const auto& [key, rows] : kernels) {
    const bool numbered = std::get<1>(key) >= 0;
    const auto of_task = by_task.find(key);
    const auto of_name = by_name.find(std::get<2>(key));
    if (numbered ? of_task == by_task.end() : of_name == by_name.end()) continue;
    const std::vector<const CacheUse*>& found = numbered ? of_task->second : of_name->second;
    const bool in_order = numbered && found.size() == rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      give(rows[i], in_order ? std::span(found).subspan(i, 1) : std::span(found));
    }
  }
  return any;
}

Reader CacheUseCsv() {
  return {"l2_cache.csv", FileKind::kL2Cache, Tables::kKernelLoads, ReadCacheUse};
}

}  // namespace mpa::readers
