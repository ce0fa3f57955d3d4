// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/transfer_times.h"

#include <algorithm>
#include <map>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/quantiles.h"

namespace mpa {

double UsualBandwidth(std::vector<double> bandwidths) {
  return ValueAtPosition(bandwidths, PercentileIndexAbove(bandwidths.size(), 75));
}

bool HasPeer(const RankTrace& trace, std::size_t task) {
  const CommTasks& tasks = trace.comm_tasks;
  return tasks.peer[task] >= 0 && tasks.peer[task] != tasks.own_rank[task];
}

std::vector<TimeNs> OwnTransferTimes(const RankTrace& trace,
                                     std::span<const std::int64_t> operations) {
  const CommTasks& tasks = trace.comm_tasks;
  std::vector<TimeNs> times = tasks.dur;
  const auto end_of = [&](std::size_t task) { return tasks.start[task] + tasks.dur[task]; };
  std::map<std::int64_t, std::vector<std::size_t>> of_operation;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    const bool is_through_port = operations[i] >= 0 && HasPeer(trace, i) &&
                                 trace.strings.View(tasks.transport[i]) == kPortTransport &&
                                 MovesData(trace, i);
    if (is_through_port) of_operation[operations[i]].push_back(i);
  }
  for (auto& [operation, rows] : of_operation) {
    StableSort(rows, {}, end_of);
    std::vector<Interval> busy;  // the port, up to the task
    for (const std::size_t i : rows) {
      Interval span{tasks.start[i], end_of(i)};
      while (!busy.empty() && busy.back().end > span.begin) {
        times[i] -= busy.back().end - std::max(busy.back().begin, tasks.start[i]);
        span.begin = std::min(span.begin, busy.back().begin);
        busy.pop_back();
      }
      busy.push_back(span);
    }
  }
  return times;
}

}  // namespace mpa
