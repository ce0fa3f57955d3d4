// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// A span of time on a thread, or on a group of threads, which are numbered from -1 (unknown) on.
struct NestSpan {
  TimeNs start = 0, end = 0;
  std::int32_t track = -1;
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

/// How a span counts that ends later than the one around it.
enum class Overhang : std::uint8_t {
  kKept,  ///< as it is: what begins behind the outer one's end, but before its own, is within it
  kCut,   ///< it ends with the outer one
};

/// Spans as trees, each thread for itself: a span that begins before another of its thread ends is
/// a child of it; one that begins in the instant in which another ends is not. Spans are named by
/// their position in the list. Every command nests operators, calls, ranges and modules by this.
class Nesting {
 public:
  static constexpr std::int64_t kNone = -1;

  explicit Nesting(std::vector<NestSpan> spans, Overhang overhang = Overhang::kKept);

  /// All spans in order of their starts; of those that start together the longest first.
  const std::vector<std::uint32_t>& InOrder() const { return in_order_; }
  /// Spans that no other holds, in order of their starts.
  const std::vector<std::uint32_t>& Roots() const { return roots_; }
  /// Spans of one thread in order of their starts, the outer ones first.
  std::span<const std::uint32_t> OnTrack(std::int32_t track) const;
  /// The span as it counts (see Overhang).
  const NestSpan& At(std::size_t span) const { return spans_[span]; }
  std::int64_t Parent(std::size_t span) const { return parent_[span]; }
  std::span<const std::uint32_t> Children(std::size_t span) const {
    return {children_.data() + child_begin_[span], child_begin_[span + 1] - child_begin_[span]};
  }

  /// The innermost span on the thread that holds `time`, kNone when there is none: one that begins
  /// then, else one that still runs, else one that ends then.
  std::int64_t Find(std::int32_t track, TimeNs time) const;
  /// The same, of those that begin before `time` and end behind it.
  std::int64_t FindAround(std::int32_t track, TimeNs time) const;
  /// The innermost span that holds all from `start` to `end`; it may begin and end with them. Of
  /// two equal spans the later in the list is the inner one.
  std::int64_t FindEnclosing(const NestSpan& item) const;
  /// The same for every span of the list: which of those before it in order holds it whole. A
  /// parent that ends before its child does not.
  std::vector<std::int64_t> Enclosing() const;
  /// Threads are numbered from -1, the unknown one, to this number less one.
  std::int32_t Tracks() const { return static_cast<std::int32_t>(of_track_.size()) - 1; }

 private:
  void LinkOutlasting();
  /// The innermost that ends at `end` or later, of a span and those before it.
  std::int64_t LastingUntil(std::int64_t span, TimeNs end) const;
  /// Of the spans on the thread that begin before `begin`, the innermost that ends at `end` or
  /// later.
  std::int64_t Find(std::int32_t track, TimeNs begin, TimeNs end) const;

  std::vector<NestSpan> spans_;
  std::vector<std::vector<std::uint32_t>> of_track_;  // each in order of start
  // Captures have millions of spans, not thousands of millions.
  std::vector<std::int32_t> parent_;
  // The next span around each that ends later, and one further out, so that many levels are few
  // steps.
  std::vector<std::int32_t> outlasting_, skip_;
  std::vector<std::uint32_t> in_order_, roots_, children_, child_begin_;
};

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
