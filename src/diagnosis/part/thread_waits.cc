// SPDX-License-Identifier: Apache-2.0
// What the scheduler of the operating system says of the threads that issue work.
#include <fmt/format.h>

#include "mpa/measure/thread_time.h"
#include "part_facts.h"

namespace mpa {
namespace {

std::int64_t ThreadOf(const RankTrace& trace, std::int32_t track) {
  const auto row = static_cast<std::size_t>(track);
  return track >= 0 && row < trace.tracks.Size() ? trace.tracks.tid[row] : -1;
}

}  // namespace

void AddThreadWaits(const RankTrace& trace, const std::vector<HostStretch>& stretches,
                    PartNames& names, RankDiagnosis& part) {
  const ThreadTimes threads(trace);
  if (threads.Empty()) return;
  part.scheduler.recorded = true;
  for (const HostStretch& stretch : stretches) {
    if (stretch.end <= stretch.begin) continue;
    const std::int64_t thread = ThreadOf(trace, stretch.track);
    for (const HoldUp& hold :
         threads.HoldUps(thread, ThreadOf(trace, stretch.before), {stretch.begin, stretch.end})) {
      // A core without a thread is slow to wake up; another machine's name for it is the same.
      const std::string_view by = hold.by == StringId::kEmpty
                                      ? (hold.by_thread == 0 ? "<idle>" : "?")
                                      : trace.strings.View(hold.by);
      part.scheduler.waits.push_back(
          {.edge = stretch.edge,
           .doing = hold.doing,
           .by_own = hold.by_own,
           .name = names.Of(
               fmt::format("{} -> {}", by, trace.strings.View(threads.NameOfThread(hold.thread)))),
           .core = hold.core,
           .count = static_cast<std::uint32_t>(hold.count),
           .time = hold.time,
           .longest = hold.longest,
           .start = hold.start});
    }
  }
}

}  // namespace mpa
