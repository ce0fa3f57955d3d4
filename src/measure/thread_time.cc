// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/thread_time.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

bool Waits(ThreadState state) {
  return state == ThreadState::kPreempted || state == ThreadState::kWoken;
}

}  // namespace

std::int64_t ThreadOfTrack(const RankTrace& trace, std::int32_t track) {
  const auto row = static_cast<std::size_t>(track);
  return track >= 0 && row < trace.tracks.Size() ? trace.tracks.tid[row] : -1;
}

ThreadDoing DoingOf(ThreadState state) {
  switch (state) {
    case ThreadState::kRunning:
      return ThreadDoing::kRunning;
    case ThreadState::kPreempted:
      return ThreadDoing::kPreempted;
    case ThreadState::kWoken:
      return ThreadDoing::kWoken;
    case ThreadState::kSleeping:
      return ThreadDoing::kSleeping;
    case ThreadState::kUninterruptible:
      return ThreadDoing::kUninterruptible;
    case ThreadState::kUnknown:
      break;
  }
  return ThreadDoing::kUnknown;
}

std::string_view NameOf(ThreadDoing doing) {
  static constexpr std::array<std::string_view, kThreadDoings> kNames = {
      "running", "preempted", "woken", "interrupted", "sleeping", "uninterruptible", "unknown"};
  return kNames[static_cast<std::size_t>(doing)];
}

TimeNs ThreadAccount::HeldUp() const {
  return Of(ThreadDoing::kPreempted) + Of(ThreadDoing::kWoken) + Of(ThreadDoing::kInterrupted);
}

ThreadTimes::ThreadTimes(const RankTrace& trace) : trace_(trace) {
  const ThreadStates& states = trace.thread_states;
  for (std::uint32_t row = 0; row < states.Size(); ++row)
    threads_[states.thread[row]].rows.push_back(row);
  const Interrupts& interrupts = trace.interrupts;
  std::map<std::int64_t, std::vector<Contender>> of_thread;
  for (std::uint32_t row = 0; row < interrupts.Size(); ++row) {
    if (!threads_.contains(interrupts.thread[row])) continue;
    of_thread[interrupts.thread[row]].push_back(
        {interrupts.start[row], interrupts.start[row] + interrupts.dur[row], 0, row});
  }
  for (auto& [number, one] : threads_) {
    Thread& thread = one;
    StableSort(thread.rows, {}, [&](std::uint32_t row) { return states.start[row]; });
    const auto found = of_thread.find(number);
    if (found == of_thread.end()) continue;
    // Of nested ones the innermost.
    Skyline(std::move(found->second), Tie::kLatest,
            [&](const Won& won) { thread.interrupts.push_back(won); });
  }
}

std::vector<std::int64_t> ThreadTimes::Threads() const {
  std::vector<std::int64_t> numbers;
  for (const auto& [number, thread] : threads_) numbers.push_back(number);
  return numbers;
}

StringId ThreadTimes::NameOfThread(std::int64_t thread) const {
  const auto found = threads_.find(thread);
  return found == threads_.end() ? StringId::kEmpty
                                 : trace_.thread_states.name[found->second.rows.back()];
}

void ThreadTimes::WalkRunning(const Thread& thread, const Interval& stretch, std::int64_t row,
                              const std::function<void(const ThreadPiece&)>& visit) const {
  TimeNs from = stretch.begin;
  auto at = std::ranges::partition_point(thread.interrupts,
                                         [&](const Won& won) { return won.end <= stretch.begin; });
  for (; at != thread.interrupts.end() && at->begin < stretch.end; ++at) {
    const TimeNs begin = std::max(at->begin, from), end = std::min(at->end, stretch.end);
    if (begin > from) visit({from, begin, ThreadDoing::kRunning, row});
    visit({begin, end, ThreadDoing::kInterrupted, at->index});
    from = end;
  }
  if (from < stretch.end) visit({from, stretch.end, ThreadDoing::kRunning, row});
}

void ThreadTimes::Walk(std::int64_t thread, const Interval& stretch,
                       const std::function<void(const ThreadPiece&)>& visit) const {
  TimeNs from = stretch.begin;
  const auto pass = [&](TimeNs until) {
    if (until > from) visit({from, until, ThreadDoing::kUnknown, -1});
    from = std::max(from, until);
  };
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return pass(stretch.end);
  const ThreadStates& states = trace_.thread_states;
  const std::vector<std::uint32_t>& rows = found->second.rows;
  auto at = std::ranges::partition_point(rows, [&](std::uint32_t row) {
    return states.start[row] + states.dur[row] <= stretch.begin;
  });
  for (; at != rows.end() && states.start[*at] < stretch.end; ++at) {
    pass(std::min(states.start[*at], stretch.end));
    const TimeNs end = std::min(states.start[*at] + states.dur[*at], stretch.end);
    if (end <= from) continue;
    const ThreadDoing doing = DoingOf(states.state[*at]);
    if (doing == ThreadDoing::kRunning)
      WalkRunning(found->second, {from, end}, *at, visit);
    else
      visit({from, end, doing, doing == ThreadDoing::kUnknown ? -1 : std::int64_t{*at}});
    from = end;
  }
  pass(stretch.end);
}

ThreadAccount ThreadTimes::Of(std::int64_t thread, const Interval& stretch) const {
  ThreadAccount sum;
  Walk(thread, stretch, [&](const ThreadPiece& piece) {
    sum.times[static_cast<std::size_t>(piece.doing)] += piece.end - piece.begin;
  });
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return sum;
  const ThreadStates& states = trace_.thread_states;
  const std::vector<std::uint32_t>& rows = found->second.rows;
  auto at = std::ranges::partition_point(
      rows, [&](std::uint32_t row) { return states.start[row] < stretch.begin; });
  std::int64_t ran = -1;  // the last row of running
  for (auto before = at; before != rows.begin() && ran < 0;) {
    --before;
    if (states.state[*before] == ThreadState::kRunning) ran = *before;
  }
  for (; at != rows.end() && states.start[*at] < stretch.end; ++at) {
    const ThreadState state = states.state[*at];
    if (state == ThreadState::kUnknown) ran = -1;
    const bool leaves = at != rows.begin() &&
                        states.state[*std::prev(at)] == ThreadState::kRunning &&
                        state != ThreadState::kRunning && state != ThreadState::kUnknown;
    if (leaves) ++(Waits(state) ? sum.taken : sum.given);
    if (state != ThreadState::kRunning) continue;
    if (ran >= 0) {
      const auto last = static_cast<std::size_t>(ran);
      const bool moves = states.core[*at] != states.core[last];
      const bool is_far =
          states.node[*at] >= 0 && states.node[last] >= 0 && states.node[*at] != states.node[last];
      sum.moves += moves ? 1 : 0;
      sum.far_moves += moves && is_far ? 1 : 0;
    }
    ran = *at;
  }
  return sum;
}

std::vector<HoldUp> ThreadTimes::HoldUps(std::int64_t thread, std::int64_t before,
                                         const Interval& stretch) const {
  std::map<std::tuple<ThreadDoing, StringId, bool, std::int64_t>, HoldUp> found;
  const auto add = [&](std::int64_t of, const ThreadPiece& piece) {
    if (!HoldsUp(piece.doing)) return;
    const auto row = static_cast<std::size_t>(piece.row);
    const ThreadStates& states = trace_.thread_states;
    const bool is_interrupt = piece.doing == ThreadDoing::kInterrupted;
    const StringId by = is_interrupt ? trace_.interrupts.name[row] : states.by[row];
    const bool by_own = !is_interrupt && states.by_own[row] != 0;
    HoldUp& sum = found[{piece.doing, by, by_own, of}];
    const TimeNs time = piece.end - piece.begin;
    sum.doing = piece.doing;
    sum.by = by;
    sum.by_own = by_own;
    sum.thread = of;
    ++sum.count;
    sum.time += time;
    if (time <= sum.longest) return;
    sum.longest = time;
    sum.start = piece.begin;
    sum.core = is_interrupt ? trace_.interrupts.core[row] : states.core[row];
    sum.by_thread = is_interrupt ? -1 : states.by_thread[row];
  };
  Walk(thread, stretch, [&](const ThreadPiece& piece) {
    add(thread, piece);
    const bool waits =
        piece.doing == ThreadDoing::kSleeping || piece.doing == ThreadDoing::kUnknown;
    if (!waits || before < 0 || before == thread) return;
    Walk(before, {piece.begin, piece.end}, [&](const ThreadPiece& other) { add(before, other); });
  });
  std::vector<HoldUp> sums;
  for (const auto& [key, sum] : found) sums.push_back(sum);
  StableSort(sums, [](const HoldUp& a, const HoldUp& b) { return a.time > b.time; });
  return sums;
}

}  // namespace mpa
