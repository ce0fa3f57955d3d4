// SPDX-License-Identifier: Apache-2.0
// What each thread of the host did when: of all that is open at a time the most telling counts.
#include "mpa/measure/host_timeline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <limits>
#include <string_view>
#include <utility>

#include "mpa/measure/graph_replays.h"
#include "mpa/measure/host_waits.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// Everything on one thread. The priority of a contender is its category.
using ThreadSpans = std::vector<Contender>;

// Rows of several tables in one sequence, of which positions are indices of contenders.
class RowNumbers {
 public:
  explicit RowNumbers(const RankTrace& trace)
      : blocks_{{{PieceTable::kPythonCalls, trace.python_calls.Size()},
                 {PieceTable::kQueuedWork, trace.queued_work.Size()},
                 {PieceTable::kHostCalls, trace.host_calls.Size()},
                 {PieceTable::kHostOps, trace.host_ops.Size()},
                 {PieceTable::kMstx, trace.mstx.Size()},
                 {PieceTable::kSystemCalls, trace.system_calls.Size()},
                 {PieceTable::kLockUses, trace.lock_uses.Size()}}} {}

  std::uint32_t Of(PieceTable table, std::size_t row) const {
    std::size_t number = row;
    for (const auto& [of_block, rows] : blocks_) {
      if (of_block == table) break;
      number += rows;
    }
    return static_cast<std::uint32_t>(number);
  }

  std::pair<PieceTable, std::int32_t> RowOf(std::uint32_t number) const {
    std::size_t row = number;
    for (const auto& [table, rows] : blocks_) {
      if (row < rows) return {table, static_cast<std::int32_t>(row)};
      row -= rows;
    }
    return {PieceTable::kNone, -1};
  }

 private:
  std::array<std::pair<PieceTable, std::size_t>, 7> blocks_;
};

class TimelineBuilder {
 public:
  /// `asked`: null is all times.
  TimelineBuilder(const RankTrace& trace, const RowNumbers& numbers, const Intervals* asked,
                  std::vector<BlockingCall>& blocking)
      : trace_(trace),
        numbers_(numbers),
        asked_(asked),
        threads_(trace.tracks.Size()),
        blocking_(blocking) {}

  std::vector<ThreadSpans> Build() && {
    if (asked_ == nullptr) Reserve();
    AddPythonCalls();
    AddQueuedWork();
    AddHostCalls();
    FindBlockingOps();
    std::ranges::stable_sort(blocking_, {}, &BlockingCall::end);
    AddHostOps();
    AddMarks();
    AddWaits();
    return std::move(threads_);
  }

  const Interval& span() const { return span_; }

 private:
  // A capture has millions of spans: vectors that grow move them again and again.
  void Reserve() {
    std::vector<std::size_t> counts(threads_.size(), 0);
    for (const auto* tracks :
         {&trace_.python_calls.track, &trace_.queued_work.queued_track, &trace_.queued_work.track,
          &trace_.host_calls.track, &trace_.host_ops.track}) {
      for (const std::int32_t track : *tracks) {
        if (track >= 0 && static_cast<std::size_t>(track) < counts.size()) {
          ++counts[static_cast<std::size_t>(track)];
        }
      }
    }
    for (std::size_t track = 0; track < counts.size(); ++track) {
      threads_[track].reserve(counts[track]);
    }
  }

  void Add(std::int32_t track, TimeNs begin, TimeNs end, TimeCategory category, PieceTable table,
           std::size_t row) {
    if (track < 0 || static_cast<std::size_t>(track) >= threads_.size()) return;
    span_.begin = std::min(span_.begin, begin);
    span_.end = std::max(span_.end, end);
    Put(track, begin, end, category, table, row);
  }

  void Put(std::int32_t track, TimeNs begin, TimeNs end, TimeCategory category, PieceTable table,
           std::size_t row) {
    if (asked_ != nullptr && !Touches(*asked_, {begin, end})) return;
    threads_[static_cast<std::size_t>(track)].push_back(
        {begin, end, static_cast<std::int32_t>(category), numbers_.Of(table, row)});
  }

  void AddPythonCalls() {
    const PythonCalls& calls = trace_.python_calls;
    NamedClasses classes(trace_.strings, ClassOfPython);
    const ReplayedCalls replayed(trace_);
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      if (replayed.Contain(calls.track[i], calls.start[i], calls.start[i] + calls.dur[i])) continue;
      Add(calls.track[i], calls.start[i], calls.start[i] + calls.dur[i], classes.Of(calls.name[i]),
          PieceTable::kPythonCalls, i);
    }
  }

  void AddQueuedWork() {
    const QueuedWork& work = trace_.queued_work;
    for (std::size_t i = 0; i < work.Size(); ++i) {
      Add(work.queued_track[i], work.queued[i], work.queued[i] + work.queued_dur[i],
          TimeCategory::kDispatchOp, PieceTable::kQueuedWork, i);
      Add(work.track[i], work.start[i], work.start[i] + work.dur[i], TimeCategory::kDispatchCann,
          PieceTable::kQueuedWork, i);
    }
  }

  void AddHostCalls() {
    const HostCalls& calls = trace_.host_calls;
    NamedClasses classes(trace_.strings, ClassOfCall);
    std::vector<std::size_t> compile_and_execute, launches;
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      const TimeNs end = calls.start[i] + calls.dur[i];
      const TimeCategory category = classes.Of(calls.name[i]);
      Add(calls.track[i], calls.start[i], end, category, PieceTable::kHostCalls, i);
      if (category == TimeCategory::kExplicitSync || category == TimeCategory::kHostCopy) {
        blocking_.push_back(
            {calls.start[i], end, PieceTable::kHostCalls, static_cast<std::int32_t>(i)});
      }
      if (category != TimeCategory::kDispatchCann) continue;
      const std::string_view name = trace_.strings.View(calls.name[i]);
      if (IsOpCompileAndExecute(name)) compile_and_execute.push_back(i);
      if (WithoutLevel(name) == "launch") launches.push_back(i);
    }
    AddColdLookUps(compile_and_execute, launches);
  }

  // Traces of GPUs list the calls of the runtime among the operators.
  void FindBlockingOps() {
    if (trace_.device != DeviceKind::kGpu) return;
    const HostOps& ops = trace_.host_ops;
    NamedClasses<TimeCategory> classes(trace_.strings, [](std::string_view name) {
      const bool is_call = name.starts_with("cuda") || name.starts_with("hip");
      return is_call ? ClassOfOp(name) : TimeCategory::kDispatchOp;
    });
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      const TimeCategory category = classes.Of(ops.name[i]);
      if (category != TimeCategory::kExplicitSync && category != TimeCategory::kHostCopy) continue;
      if (ops.replayed[i] != 0) continue;
      blocking_.push_back({ops.start[i], ops.start[i] + ops.dur[i], PieceTable::kHostOps,
                           static_cast<std::int32_t>(i)});
    }
  }

  // Calls of the legacy path take long before their first launch when they look up their operator
  // for the first time. Quick ones are at most five times as long as the quickest; their median is
  // the measure. Where even the quickest takes as long as no look-up does, all of them compile.
  void AddColdLookUps(const std::vector<std::size_t>& calls, std::vector<std::size_t>& launches) {
    if (calls.empty()) return;
    constexpr TimeNs kFactor = 5, kSlowestLookUp = 1'000'000;
    const HostCalls& rows = trace_.host_calls;
    const auto place = [&](std::size_t row) { return std::pair{rows.track[row], rows.start[row]}; };
    std::ranges::stable_sort(launches,
                             [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    std::vector<TimeNs> before_launch;
    for (const std::size_t call : calls) {
      const TimeNs end = rows.start[call] + rows.dur[call];
      const auto first = std::lower_bound(
          launches.begin(), launches.end(), place(call),
          [&](std::size_t launch, const auto& wanted) { return place(launch) < wanted; });
      const bool nested = first != launches.end() && rows.track[*first] == rows.track[call] &&
                          rows.start[*first] < end;
      before_launch.push_back((nested ? rows.start[*first] : end) - rows.start[call]);
    }
    std::vector<TimeNs> quick = before_launch;
    std::ranges::sort(quick);
    if (quick.front() >= kSlowestLookUp) {
      for (std::size_t i = 0; i < calls.size(); ++i)
        AddUpToLaunch(calls[i], before_launch[i], TimeCategory::kCompile);
      return;
    }
    quick.erase(std::upper_bound(quick.begin(), quick.end(), kFactor * quick.front()), quick.end());
    const TimeNs usual = Median(std::move(quick));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (before_launch[i] <= kFactor * usual) continue;
      AddUpToLaunch(calls[i], before_launch[i], TimeCategory::kAclOp);
    }
  }

  void AddUpToLaunch(std::size_t call, TimeNs time, TimeCategory category) {
    const HostCalls& rows = trace_.host_calls;
    const TimeNs start = rows.start[call];
    Add(rows.track[call], start, start + time, category, PieceTable::kHostCalls, call);
  }

  // True for operators that hold a blocking call.
  std::vector<bool> OpsThatBlock() const {
    const HostOps& ops = trace_.host_ops;
    std::vector<bool> blocks(ops.Size(), false);
    if (blocking_.empty() || ops.Empty()) return blocks;
    const Nesting nesting(OpSpans(trace_));
    for (const BlockingCall& call : blocking_) {
      const auto& tracks =
          call.table == PieceTable::kHostCalls ? trace_.host_calls.track : ops.track;
      const std::int32_t track = tracks[static_cast<std::size_t>(call.row)];
      std::int64_t op = nesting.FindEnclosing({call.begin, call.end, track});
      // What is around an operator that was seen was seen, too.
      for (; op != Nesting::kNone && !blocks[static_cast<std::size_t>(op)];
           op = nesting.Parent(static_cast<std::size_t>(op))) {
        blocks[static_cast<std::size_t>(op)] = true;
      }
    }
    return blocks;
  }

  void AddHostOps() {
    const HostOps& ops = trace_.host_ops;
    NamedClasses classes(trace_.strings, ClassOfOp);
    const std::vector<bool> blocks = OpsThatBlock();
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      if (ops.replayed[i] != 0) continue;
      TimeCategory category = classes.Of(ops.name[i]);
      const bool only_if_blocking =
          category == TimeCategory::kScalarSync || category == TimeCategory::kHostCopy;
      if (only_if_blocking && !blocks[i]) category = TimeCategory::kDispatchOp;
      Add(ops.track[i], ops.start[i], ops.start[i] + ops.dur[i], category, PieceTable::kHostOps, i);
    }
  }

  void AddMarks() {
    const MstxEvents& marks = trace_.mstx;
    NamedClasses classes(trace_.strings, ClassOfMark);
    for (std::size_t i = 0; i < marks.Size(); ++i) {
      const TimeCategory category = classes.Of(marks.message[i]);
      if (category == TimeCategory::kPython) continue;
      Add(marks.track[i], marks.start[i], marks.start[i] + marks.dur[i], category,
          PieceTable::kMstx, i);
    }
  }

  // What an operator or a call of the runtime explains comes before them: a synchronisation waits
  // in calls of the operating system. Other tools record them, also before and after the capture.
  void AddWaits() {
    for (const HostWait& wait : FindHostWaits(trace_)) {
      Put(wait.track, wait.begin, wait.end, wait.category, wait.table,
          static_cast<std::size_t>(wait.row));
    }
  }

  const RankTrace& trace_;
  const RowNumbers& numbers_;
  const Intervals* asked_;
  std::vector<ThreadSpans> threads_;
  std::vector<BlockingCall>& blocking_;
  Interval span_{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
};

// The thread with most of what `counts` says of tracks; -1: there is none.
std::int32_t Largest(const std::vector<std::int64_t>& counts) {
  const auto largest = std::ranges::max_element(counts);
  if (largest == counts.end() || *largest == 0) return -1;
  return static_cast<std::int32_t>(largest - counts.begin());
}

}  // namespace

std::int32_t MainTrackOf(const RankTrace& trace) {
  const auto count = [&](const std::vector<std::int32_t>& tracks, auto counts_row) {
    std::vector<std::int64_t> counts(trace.tracks.Size(), 0);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const std::int32_t track = tracks[i];
      if (track >= 0 && static_cast<std::size_t>(track) < counts.size() && counts_row(i)) {
        ++counts[static_cast<std::size_t>(track)];
      }
    }
    return Largest(counts);
  };
  const auto any = [](std::size_t) { return true; };
  const HostOps& ops = trace.host_ops;
  NamedClasses marks(trace.strings, IsStepMark);
  std::int32_t track = count(ops.track, [&](std::size_t i) { return marks.Of(ops.name[i]); });
  if (track < 0) track = count(trace.queued_work.queued_track, any);
  if (track < 0) track = count(ops.track, any);
  return track >= 0 ? track : count(trace.host_calls.track, any);
}

HostTimeline::HostTimeline(const RankTrace& trace) : HostTimeline(trace, nullptr) {}

HostTimeline::HostTimeline(const RankTrace& trace, const Intervals& asked)
    : HostTimeline(trace, &asked) {}

HostTimeline::HostTimeline(const RankTrace& trace, const Intervals* asked)
    : main_track_(MainTrackOf(trace)) {
  const RowNumbers numbers(trace);
  TimelineBuilder builder(trace, numbers, asked, blocking_);
  std::vector<ThreadSpans> threads = std::move(builder).Build();
  span_ = builder.span();
  has_any_ = span_.begin <= span_.end;
  of_track_.resize(threads.size());
  for (std::size_t track = 0; track < threads.size(); ++track) {
    std::deque<Begun>& all = of_track_[track];
    // Of two of a class the inner one counts, which begins later.
    Skyline(std::exchange(threads[track], {}), Tie::kLatest, [&](const Won& won) {
      const auto [table, row] = numbers.RowOf(won.index);
      if (!all.empty() && all.back().begin == won.begin) all.pop_back();
      all.push_back({won.begin, row, static_cast<TimeCategory>(won.priority), table});
      all.push_back({.begin = won.end});
    });
  }
}

}  // namespace mpa
