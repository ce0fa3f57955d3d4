// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// A span of time on a thread, or on a group of threads, which are numbered from -1 (unknown) on.
struct NestSpan {
  TimeNs start = 0, end = 0;
  std::int32_t track = -1;
  bool is_mark = false;  ///< of a step: it holds only what no other span holds
};

/// The rows of a table with the columns start, dur and track.
template <typename Table>
std::vector<NestSpan> SpansOf(const Table& table) {
  std::vector<NestSpan> spans;
  spans.reserve(table.Size());
  for (std::size_t i = 0; i < table.Size(); ++i) {
    spans.push_back({table.start[i], table.start[i] + table.dur[i], table.track[i]});
  }
  return spans;
}

/// Those of the host operators; steps are marks.
std::vector<NestSpan> OpSpans(const RankTrace& trace);

/// Spans as trees, each thread for itself: the parent of a span is the innermost other that holds
/// it whole. One that outlives the span in which it begins is not within it, and holds in turn what
/// lies in both. Times of captures are rounded: a span may end up to kRounding behind its parent if
/// most of it lies within. One that begins in the instant in which another ends is not in it.
/// Spans are named by their position in the list. Every command nests operators, calls, ranges and
/// modules by this.
class Nesting {
 public:
  static constexpr std::int64_t kNone = -1;
  static constexpr TimeNs kRounding = 1000;  ///< exporters round to microseconds

  explicit Nesting(std::vector<NestSpan> spans);

  /// All spans in order of their starts; of those that start together the longest first. Parents
  /// come before what they hold.
  const std::vector<std::uint32_t>& InOrder() const { return in_order_; }
  /// Spans that no other holds, in order of their starts.
  const std::vector<std::uint32_t>& Roots() const { return roots_; }
  /// Spans of one thread in order of their starts, the outer ones first; without marks.
  std::span<const std::uint32_t> OnTrack(std::int32_t track) const;
  const NestSpan& At(std::size_t span) const { return spans_[span]; }
  std::int64_t Parent(std::size_t span) const { return parent_[span]; }
  std::span<const std::uint32_t> Children(std::size_t span) const {
    return {children_.data() + child_begin_[span], child_begin_[span + 1] - child_begin_[span]};
  }
  /// Frees the memory of the trees. After that, spans can only be found and looked at.
  void ForgetTrees();
  /// How many spans outlive one in which they begin; marks do not count.
  std::int64_t Crossings() const { return crossings_; }

  /// The innermost span on the thread that holds `time`, kNone when there is none: one that begins
  /// then, else one that still runs, else one that ends then. Of spans that cross, the one that
  /// began last.
  std::int64_t Find(std::int32_t track, TimeNs time) const;
  /// The same, of those that begin before `time` and end behind it.
  std::int64_t FindAround(std::int32_t track, TimeNs time) const;
  /// The innermost span that holds all from `start` to `end`, as a parent does; it may begin and
  /// end with them. Of two equal spans the later in the list is the inner one.
  std::int64_t FindEnclosing(const NestSpan& item) const;
  /// Calls visit(span, begin, end) for all times between the first start and the last end on the
  /// thread, in order: the span is the innermost that is open, kNone where none is. Each time is in
  /// one of them, also where spans cross.
  template <typename Visit>
  void VisitOpen(std::int32_t track, Visit visit) const;
  /// Threads are numbered from -1, the unknown one, to this number less one.
  std::int32_t Tracks() const { return static_cast<std::int32_t>(lists_.size() / 2) - 1; }

 private:
  using List = std::vector<std::uint32_t>;  // in order of start

  static bool Exists(std::int32_t track, std::int32_t tracks) {
    return track >= -1 && track < tracks;
  }
  // What a span has to last for to hold the other.
  static TimeNs LeastEnd(const NestSpan& inner);
  std::size_t ListOf(std::int32_t track, bool marks) const {
    return static_cast<std::size_t>(std::int64_t{track} + 1) + (marks ? lists_.size() / 2 : 0);
  }
  void Add(std::uint32_t span, std::vector<std::int64_t>& last);
  void LinkOutlasting(std::uint32_t span, std::int64_t before);
  void LinkChildren();
  /// The innermost that ends at `end` or later, of a span and those of its list before it.
  std::int64_t LastingUntil(std::int64_t span, TimeNs end) const;
  /// Of the spans of a list that begin before `begin`, the innermost that ends at `end` or later.
  std::int64_t FindIn(std::size_t list, TimeNs begin, TimeNs end) const;
  std::int64_t Find(std::int32_t track, TimeNs begin, TimeNs end) const;
  // The times of a list between two times; `visit` also gets those in which none is open.
  template <typename Visit>
  void VisitList(std::size_t list, TimeNs begin, TimeNs end, Visit visit) const;

  std::vector<NestSpan> spans_;
  // Of each thread, and behind them their marks.
  std::vector<List> lists_;
  // Captures have millions of spans, not thousands of millions.
  std::vector<std::int32_t> parent_;
  // The next span of the list before each that ends later, and one further out, so that many levels
  // are few steps.
  std::vector<std::int32_t> outlasting_, skip_;
  std::vector<std::uint32_t> level_;  // of outlasting_; empty once all are linked
  std::vector<std::uint32_t> in_order_, roots_, children_, child_begin_;
  std::int64_t crossings_ = 0;
};

template <typename Visit>
void Nesting::VisitList(std::size_t list, TimeNs begin, TimeNs end, Visit visit) const {
  const List& spans = lists_[list];
  TimeNs now = begin;
  // Spans that began; those that began last may have ended.
  std::vector<std::uint32_t> open;
  const auto until = [&](TimeNs time) {
    while (now < time) {
      while (!open.empty() && spans_[open.back()].end <= now) open.pop_back();
      const TimeNs stop = open.empty() ? time : std::min(time, spans_[open.back()].end);
      visit(open.empty() ? kNone : std::int64_t{open.back()}, now, stop);
      now = stop;
    }
  };
  const auto first = std::partition_point(
      spans.begin(), spans.end(), [&](std::uint32_t span) { return spans_[span].start < begin; });
  std::int64_t around = first == spans.begin() ? kNone : LastingUntil(*std::prev(first), begin + 1);
  for (; around != kNone; around = outlasting_[static_cast<std::size_t>(around)]) {
    open.push_back(static_cast<std::uint32_t>(around));
  }
  std::reverse(open.begin(), open.end());
  for (auto span = first; span != spans.end() && spans_[*span].start < end; ++span) {
    until(spans_[*span].start);
    open.push_back(*span);
  }
  until(end);
}

template <typename Visit>
void Nesting::VisitOpen(std::int32_t track, Visit visit) const {
  if (!Exists(track, Tracks())) return;
  TimeNs begin = std::numeric_limits<TimeNs>::max();
  TimeNs end = std::numeric_limits<TimeNs>::min();
  for (const bool marks : {false, true}) {
    for (const std::uint32_t span : lists_[ListOf(track, marks)]) {
      begin = std::min(begin, spans_[span].start);
      end = std::max(end, spans_[span].end);
    }
  }
  VisitList(ListOf(track, false), begin, end, [&](std::int64_t span, TimeNs from, TimeNs to) {
    if (span != kNone) return visit(span, from, to);
    VisitList(ListOf(track, true), from, to, visit);
  });
}

/// Threads (tracks) in groups. Threads that work for one another are of one group: one runs the
/// backward pass of what the other ran forward, and the other waits for it. Others are groups of
/// their own.
class ThreadGroups {
 public:
  static constexpr std::int32_t kAnyThread = -1;

  explicit ThreadGroups(const RankTrace& trace);

  /// The group of a thread; kAnyThread for -1.
  std::int32_t Of(std::int32_t track) const {
    return track < 0 ? kAnyThread : groups_[static_cast<std::size_t>(track)];
  }
  /// The group whose operators a range or mark on this thread is about. A thread without operators
  /// says nothing of whose they are.
  std::int32_t OfMark(std::int32_t track) const;

 private:
  std::vector<std::int32_t> groups_;  // by track
  std::vector<bool> runs_ops_;        // by group
};

}  // namespace mpa
