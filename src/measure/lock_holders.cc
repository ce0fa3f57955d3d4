// SPDX-License-Identifier: Apache-2.0
// Who held the lock for which a thread waits, and what it ran.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/rows_by.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/host_waits.h"
#include "mpa/measure/nesting.h"

namespace mpa {
namespace {

class LockHolders {
 public:
  explicit LockHolders(const RankTrace& trace)
      : trace_(trace),
        locks_(trace.lock_uses),
        threads_(trace.tracks),
        frames_(SpansOf(trace.python_calls)),
        ops_(OpSpans(trace)) {
    for (const std::size_t row :
         RowsBy(locks_.Size(), [&](std::size_t i) { return locks_.start[i]; })) {
      if (locks_.is_held[row] != 0) held_[{locks_.process[row], locks_.lock[row]}].push_back(row);
    }
  }

  // "thread 4711, train.py(90): decode"; empty: nobody else is known to have held it.
  std::string Of(std::size_t wait) const {
    const auto found = held_.find({locks_.process[wait], locks_.lock[wait]});
    if (found == held_.end()) return "";
    const TimeNs begin = locks_.start[wait], end = begin + locks_.dur[wait];
    struct Time {
      TimeNs all = 0, longest = 0, middle = 0;
    };
    std::map<std::int64_t, Time> times;  // by thread
    // One thread holds the lock at a time, so that they lie one behind the other.
    const std::vector<std::size_t>& rows = found->second;
    auto at = std::ranges::partition_point(
        rows, [&](std::size_t row) { return locks_.start[row] + locks_.dur[row] <= begin; });
    for (std::size_t looked = 0;
         at != rows.end() && locks_.start[*at] < end && looked < kMostLookedAt; ++at, ++looked) {
      if (locks_.thread[*at] == locks_.thread[wait]) continue;
      const TimeNs from = std::max(begin, locks_.start[*at]);
      const TimeNs time = std::min(end, locks_.start[*at] + locks_.dur[*at]) - from;
      Time& of_thread = times[locks_.thread[*at]];
      of_thread.all += time;
      if (time <= of_thread.longest) continue;
      of_thread.longest = time;
      of_thread.middle = from + time / 2;
    }
    const auto most =
        std::ranges::max_element(times, {}, [](const auto& one) { return one.second.all; });
    if (most == times.end()) return "";
    const std::string runs = DoingOf(locks_.process[wait], most->first, most->second.middle);
    return runs.empty() ? fmt::format("thread {}", most->first)
                        : fmt::format("thread {}, {}", most->first, runs);
  }

 private:
  static constexpr std::size_t kMostLookedAt = 10'000;

  std::string DoingOf(std::int64_t process, std::int64_t thread, TimeNs time) const {
    const std::int32_t track = threads_.TrackOf(process, thread);
    if (track < 0) return "";
    if (const std::int64_t row = frames_.Find(track, time); row != Nesting::kNone)
      return HostNameOf(trace_, PieceTable::kPythonCalls, static_cast<std::int32_t>(row));
    const std::int64_t row = ops_.Find(track, time);
    return row == Nesting::kNone
               ? ""
               : HostNameOf(trace_, PieceTable::kHostOps, static_cast<std::int32_t>(row));
  }

  const RankTrace& trace_;
  const LockUses& locks_;
  const SystemThreads threads_;
  const Nesting frames_, ops_;
  std::map<std::pair<std::int64_t, StringId>, std::vector<std::size_t>> held_;  // by start
};

}  // namespace

void NameLockHolders(RankTrace& trace) {
  LockUses& locks = trace.lock_uses;
  if (locks.Empty()) return;
  std::vector<std::pair<std::size_t, std::string>> found;
  {
    const LockHolders holders(trace);
    for (std::size_t i = 0; i < locks.Size(); ++i) {
      if (locks.is_held[i] != 0 || locks.dur[i] < kLongGilWait) continue;
      if (std::string holder = holders.Of(i); !holder.empty())
        found.emplace_back(i, std::move(holder));
    }
  }
  for (const auto& [row, holder] : found) {
    locks.lock[row] = trace.strings.Intern(
        fmt::format("{} held by {}", trace.strings.View(locks.lock[row]), holder));
  }
}

}  // namespace mpa
