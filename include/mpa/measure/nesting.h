// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpa/base/time.h"

namespace mpa {

/// Spans as trees, each thread for itself: a span that begins before another of its thread ends is
/// a child of it; one that begins in the instant in which another ends is not. Spans are named by
/// their row in the columns.
class Nesting {
 public:
  static constexpr std::int64_t kNone = -1;

  Nesting(const std::vector<TimeNs>& start, const std::vector<TimeNs>& dur,
          const std::vector<std::int32_t>& track);

  /// All spans in order of their starts; of those that start together the longest first.
  const std::vector<std::uint32_t>& InOrder() const { return in_order_; }
  /// Spans that no other holds, in order of their starts.
  const std::vector<std::uint32_t>& Roots() const { return roots_; }
  std::int64_t Parent(std::size_t span) const { return parent_[span]; }
  std::span<const std::uint32_t> Children(std::size_t span) const {
    return {children_.data() + child_begin_[span], child_begin_[span + 1] - child_begin_[span]};
  }

  /// The innermost span on the thread that holds `time`, kNone when there is none: one that begins
  /// then, else one that still runs, else one that ends then.
  std::int64_t Find(std::int32_t track, TimeNs time) const;
  /// The same, of those that begin before `time` and end behind it.
  std::int64_t FindAround(std::int32_t track, TimeNs time) const;
  /// Threads are numbered from -1, the unknown one, to this number less one.
  std::int32_t Tracks() const { return static_cast<std::int32_t>(of_track_.size()) - 1; }

 private:
  struct Bounds {
    TimeNs start, end;
  };
  void LinkOutlasting();
  /// Of the spans on the thread that begin before `begin`, the innermost that ends at `end` or
  /// later.
  std::int64_t Find(std::int32_t track, TimeNs begin, TimeNs end) const;

  std::vector<Bounds> bounds_;
  std::vector<std::vector<std::uint32_t>> of_track_;  // each in order of start
  std::vector<std::int64_t> parent_;
  // The next span around each that ends later, and one further out, so that many levels are few
  // steps.
  std::vector<std::int64_t> outlasting_, skip_;
  std::vector<std::uint32_t> in_order_, roots_, children_, child_begin_;
};

}  // namespace mpa
