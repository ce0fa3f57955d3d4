// SPDX-License-Identifier: Apache-2.0
// Whether calls into the operating system, and waits for locks, are on the clock of the capture.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "mpa/measure/host_waits.h"

namespace mpa {
namespace {

// Both sides round, some to microseconds.
constexpr TimeNs kRounding = 20'000;
// Calls that are shorter hardly ever contradict, whatever their clock is.
constexpr TimeNs kTelling = 100'000;
// So many of those that tell may contradict: what is left out then is damage, not another clock.
constexpr std::size_t kMostOf = 10;

// When the rank's threads began what the profiler recorded of them.
class RecordedStarts {
 public:
  explicit RecordedStarts(const RankTrace& trace) : of_track_(trace.tracks.Size()) {
    const auto add = [&](const auto& table) {
      for (std::size_t i = 0; i < table.Size(); ++i) {
        if constexpr (requires { table.replayed; }) {
          if (table.replayed[i] != 0) continue;  // these times are not of this run
        }
        if (table.track[i] < 0) continue;
        of_track_[static_cast<std::size_t>(table.track[i])].push_back(table.start[i]);
        first_ = std::min(first_, table.start[i]);
        last_ = std::max(last_, table.start[i] + table.dur[i]);
      }
    };
    add(trace.host_ops);
    add(trace.python_calls);
    add(trace.host_calls);
    for (std::vector<TimeNs>& starts : of_track_) std::ranges::sort(starts);
  }

  bool Any() const { return first_ <= last_; }
  bool Meet(TimeNs begin, TimeNs end) const { return begin <= last_ && end >= first_; }
  bool AnyWithin(std::int32_t track, TimeNs begin, TimeNs end) const {
    const std::vector<TimeNs>& starts = of_track_[static_cast<std::size_t>(track)];
    const auto next = std::ranges::upper_bound(starts, begin);
    return next != starts.end() && *next < end;
  }

 private:
  std::vector<std::vector<TimeNs>> of_track_;
  TimeNs first_ = std::numeric_limits<TimeNs>::max(), last_ = std::numeric_limits<TimeNs>::min();
};

struct Words {
  std::string_view elsewhere, no_thread, other_clock, contradicts;
};

template <typename Table, typename Holds>
void Check(const RecordedStarts& recorded, const SystemThreads& threads, const Words& words,
           Holds holds_thread, Table& table, RankTrace& trace) {
  if (table.Empty()) return;
  const auto leave_out = [&](std::string_view why) {
    trace.issues.Count(Promise::kOwnRun, why, trace.capture_path);
    table = {};
  };
  bool meets = false, knows_any = false;
  std::size_t telling = 0;
  std::vector<bool> contradicts(table.Size(), false);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < table.Size(); ++i) {
    const TimeNs begin = table.start[i], end = begin + table.dur[i];
    meets = meets || recorded.Meet(begin, end);
    const std::int32_t track = threads.TrackOf(table.process[i], table.thread[i]);
    if (track < 0) continue;
    knows_any = true;
    if (table.dur[i] < kTelling || !holds_thread(i)) continue;
    ++telling;
    contradicts[i] = recorded.AnyWithin(track, begin + kRounding, end - kRounding);
    if (contradicts[i]) ++wrong;
  }
  if (!meets) return leave_out(words.elsewhere);
  if (!knows_any) return leave_out(words.no_thread);
  if (wrong * kMostOf > telling) return leave_out(words.other_clock);
  if (wrong == 0) return;
  for (std::size_t i = 0; i < table.Size(); ++i) {
    if (contradicts[i])
      trace.issues.Count(Promise::kTimesPossible, words.contradicts, trace.capture_path);
  }
  table.Filter([&](std::size_t i) { return !contradicts[i]; });
}

}  // namespace

void CheckHostWaits(RankTrace& trace) {
  if (trace.system_calls.Empty() && trace.lock_uses.Empty() && trace.function_counts.Empty())
    return;
  const RecordedStarts recorded(trace);
  if (!recorded.Any()) return;  // nothing to hold them against
  const SystemThreads threads(trace.tracks);
  constexpr Words kOfCalls{
      "system calls left out, they are of another time than the capture: record both together",
      "system calls left out, none is of a thread of the capture: record them in its container",
      "system calls left out, their clock is not that of the capture: threads begin operators while"
      " they are in such calls",
      "system call left out, its thread begins operators meanwhile"};
  Check(
      recorded, threads, kOfCalls, [](std::size_t) { return true; }, trace.system_calls, trace);
  constexpr Words kOfLocks{
      "uses of locks left out, they are of another time than the capture: record both together",
      "uses of locks left out, none is of a thread of the capture: record them in its container",
      "uses of locks left out, their clock is not that of the capture: threads begin operators"
      " while they wait for the lock",
      "wait for a lock left out, its thread begins operators meanwhile"};
  const LockUses& locks = trace.lock_uses;
  Check(
      recorded, threads, kOfLocks, [&](std::size_t i) { return locks.is_held[i] == 0; },
      trace.lock_uses, trace);
  // Threads do begin operators in functions of the program.
  constexpr Words kOfFunctions{
      "calls of functions left out, they are of another time than the capture: record both"
      " together",
      "calls of functions left out, none is of a thread of the capture: record them in its"
      " container",
      "", ""};
  Check(
      recorded, threads, kOfFunctions, [](std::size_t) { return false; }, trace.function_counts,
      trace);
}

}  // namespace mpa
