// SPDX-License-Identifier: Apache-2.0
#include "part.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"

namespace mpa::recipes::host_threads {
namespace {

// From the first record of the host to the end of the last.
Interval HostSpan(const RankTrace& trace) {
  Interval span{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
  const auto add = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      span.begin = std::min(span.begin, table.start[i]);
      span.end = std::max(span.end, table.start[i] + table.dur[i]);
    }
  };
  add(trace.host_ops);
  add(trace.host_calls);
  add(trace.queued_work);
  return span.end > span.begin ? span : Interval{};
}

std::set<std::int64_t> LaunchingThreads(const RankTrace& trace) {
  std::set<std::int64_t> threads;
  const auto add = [&](std::int32_t track) {
    const auto row = static_cast<std::size_t>(track);
    if (track >= 0 && row < trace.tracks.Size()) threads.insert(trace.tracks.tid[row]);
  };
  for (const std::int32_t track : trace.launches.host_track) add(track);
  for (const std::int32_t track : trace.queued_work.track) add(track);
  return threads;
}

std::vector<InterruptRow> InterruptsOf(const RankTrace& trace, const Interval& span) {
  std::map<std::tuple<std::int32_t, StringId, bool>, InterruptRow> sums;
  const Interrupts& rows = trace.interrupts;
  for (std::size_t i = 0; i < rows.Size(); ++i) {
    if (rows.start[i] < span.begin || rows.start[i] >= span.end) continue;
    InterruptRow& sum = sums[{rows.core[i], rows.name[i], rows.soft[i] != 0}];
    sum.core = rows.core[i];
    sum.name = trace.strings.View(rows.name[i]);
    sum.soft = rows.soft[i] != 0;
    ++sum.count;
    sum.time += rows.dur[i];
    sum.longest = std::max(sum.longest, rows.dur[i]);
    if (rows.thread[i] >= 0) sum.of_threads += rows.dur[i];
  }
  std::vector<InterruptRow> list;
  for (auto& [key, sum] : sums) list.push_back(std::move(sum));
  StableSort(list, [](const InterruptRow& a, const InterruptRow& b) { return a.time > b.time; });
  return list;
}

}  // namespace

RankThreads ThreadsOf(const RankTrace& trace) {
  RankThreads part;
  const ThreadTimes threads(trace);
  const Interval span = HostSpan(trace);
  if (threads.Empty() || span.end <= span.begin) return part;
  part.begin = span.begin;
  part.end = span.end;
  part.machine_cores = trace.machine_cores;
  const std::set<std::int64_t> launching = LaunchingThreads(trace);
  std::set<std::int32_t> all_cores;
  std::map<std::int64_t, std::set<std::int32_t>> cores;
  bool knows_nodes = false;
  const ThreadStates& states = trace.thread_states;
  for (std::size_t i = 0; i < states.Size(); ++i) {
    if (states.state[i] != ThreadState::kRunning) continue;
    knows_nodes = knows_nodes || states.node[i] >= 0;
    cores[states.thread[i]].insert(states.core[i]);
    all_cores.insert(states.core[i]);
  }
  part.used_cores = static_cast<std::int64_t>(all_cores.size());
  for (const std::int64_t thread : threads.Threads()) {
    const ThreadAccount account = threads.Of(thread, span);
    ThreadRow& row = part.threads.emplace_back();
    row.thread = thread;
    row.name = trace.strings.View(threads.NameOfThread(thread));
    row.launches = launching.contains(thread);
    row.running = account.Of(ThreadDoing::kRunning);
    row.preempted = account.Of(ThreadDoing::kPreempted);
    row.woken = account.Of(ThreadDoing::kWoken);
    row.interrupted = account.Of(ThreadDoing::kInterrupted);
    row.sleeping = account.Of(ThreadDoing::kSleeping);
    row.uninterruptible = account.Of(ThreadDoing::kUninterruptible);
    row.unknown = account.Of(ThreadDoing::kUnknown);
    row.given = account.given;
    row.taken = account.taken;
    row.moves = account.moves;
    row.far_moves = knows_nodes ? account.far_moves : -1;
    row.cores = static_cast<std::int64_t>(cores[thread].size());
    const std::vector<HoldUp> holds = threads.HoldUps(thread, -1, span);
    if (holds.empty()) continue;
    row.by = trace.strings.View(holds.front().by);
    row.by_time = holds.front().time;
  }
  StableSort(part.threads, [](const ThreadRow& a, const ThreadRow& b) {
    return std::pair{a.launches, a.HeldUp()} > std::pair{b.launches, b.HeldUp()};
  });
  part.interrupts = InterruptsOf(trace, span);
  return part;
}

}  // namespace mpa::recipes::host_threads
