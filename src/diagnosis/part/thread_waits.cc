// SPDX-License-Identifier: Apache-2.0
// What the scheduler of the operating system says of the threads that issue work.
#include <algorithm>
#include <set>
#include <string>

#include "far_nodes.h"
#include "mpa/measure/thread_time.h"
#include "part_facts.h"

namespace mpa {
namespace {

// Of the threads of the stretches, from the first stretch to the last.
void CountSwitches(const RankTrace& trace, const ThreadTimes& threads,
                   const std::vector<HostStretch>& stretches, SchedulerFacts& facts) {
  if (stretches.empty()) return;
  Interval all{stretches.front().begin, stretches.front().end};
  std::set<std::int64_t> launching;
  for (const HostStretch& stretch : stretches) {
    all.begin = std::min(all.begin, stretch.begin);
    all.end = std::max(all.end, stretch.end);
    launching.insert(ThreadOfTrack(trace, stretch.track));
  }
  for (const std::int64_t thread : launching) {
    const ThreadAccount account = threads.Of(thread, all);
    facts.given += account.given;
    facts.taken += account.taken;
    facts.moves += account.moves;
    facts.far_moves = std::max<std::int64_t>(facts.far_moves, 0) + account.far_moves;
  }
  const auto& nodes = trace.thread_states.node;
  if (std::ranges::all_of(nodes, [](std::int32_t node) { return node < 0; })) facts.far_moves = -1;
}

}  // namespace

void AddThreadWaits(const RankTrace& trace, const std::vector<HostStretch>& stretches,
                    PartNames& names, RankDiagnosis& part) {
  const ThreadTimes threads(trace);
  if (threads.Empty()) return;
  part.scheduler.recorded = true;
  CountSwitches(trace, threads, stretches, part.scheduler);
  for (const HostStretch& stretch : stretches) {
    if (stretch.end <= stretch.begin) continue;
    const std::int64_t thread = ThreadOfTrack(trace, stretch.track);
    for (const HoldUp& hold : threads.HoldUps(thread, ThreadOfTrack(trace, stretch.before),
                                              {stretch.begin, stretch.end})) {
      // A core without a thread is slow to wake up; another machine's name for it is the same.
      const std::string_view by = hold.by == StringId::kEmpty
                                      ? (hold.by_thread == 0 ? "<idle>" : "?")
                                      : trace.strings.View(hold.by);
      part.scheduler.waits.push_back(
          {.edge = stretch.edge,
           .doing = hold.doing,
           .by_own = hold.by_own,
           .name = names.Of(std::string(by) + " -> " +
                            std::string(trace.strings.View(threads.NameOfThread(hold.thread)))),
           .core = hold.core,
           .count = static_cast<std::uint32_t>(hold.count),
           .time = hold.time,
           .longest = hold.longest,
           .start = hold.start});
    }
  }
  AddFarTimes(trace, threads, stretches, names, part);
}

}  // namespace mpa
