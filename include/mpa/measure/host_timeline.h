// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <vector>

#include "mpa/measure/accounting.h"

namespace mpa {

/// What a thread did for a while, as the class of everything that was open then.
struct HostPiece {
  TimeNs begin = 0, end = 0;
  TimeCategory category{};
  PieceTable table{};
  std::int32_t row = -1;
};

/// A call in which the host waits for the device.
struct BlockingCall {
  TimeNs begin = 0, end = 0;
  PieceTable table{};  ///< host calls, or of a GPU host operators
  std::int32_t row = -1;
};

/// The thread that makes the steps, else the one that asks for most work; -1: there is none.
std::int32_t MainTrackOf(const RankTrace& trace);

/// The threads of the host over time, on the clock of the host.
class HostTimeline {
 public:
  explicit HostTimeline(const RankTrace& trace);
  /// The same for who asks for nothing outside these times.
  HostTimeline(const RankTrace& trace, const Intervals& asked);

  /// False for a capture without any record of the host.
  bool HasAny() const { return has_any_; }
  /// See MainTrackOf().
  std::int32_t MainTrack() const { return main_track_; }
  /// From the first to the last record.
  const Interval& Span() const { return span_; }
  /// By end.
  const std::vector<BlockingCall>& Blocking() const { return blocking_; }

  /// Calls on_piece(piece) for what the thread did within the range, each cut to it, and
  /// on_idle(begin, end) for the rest, in order of time.
  template <typename OnPiece, typename OnIdle>
  void Walk(std::int32_t track, TimeNs begin, TimeNs end, OnPiece on_piece, OnIdle on_idle) const {
    if (track >= 0 && static_cast<std::size_t>(track) < of_track_.size()) {
      const std::deque<Begun>& all = of_track_[static_cast<std::size_t>(track)];
      auto at = std::partition_point(all.begin(), all.end(),
                                     [&](const Begun& begun) { return begun.begin <= begin; });
      if (at != all.begin()) --at;
      for (; at != all.end() && at->begin < end && begin < end; ++at) {
        if (at->table == PieceTable::kNone) continue;
        const TimeNs end_of_piece =
            std::next(at)->begin;  // what ends is followed by what begins, or nothing
        if (end_of_piece <= begin) continue;
        if (begin < at->begin) on_idle(begin, at->begin);
        const HostPiece cut{std::max(begin, at->begin), std::min(end, end_of_piece), at->category,
                            at->table, at->row};
        on_piece(cut);
        begin = cut.end;
      }
    }
    if (begin < end) on_idle(begin, end);
  }

 private:
  HostTimeline(const RankTrace& trace, const Intervals* asked);

  /// What a thread does from `begin` on, until the next; of no table: nothing.
  struct Begun {
    TimeNs begin = 0;
    std::int32_t row = -1;
    TimeCategory category{};
    PieceTable table{};
  };

  // By track, nothing last. Vectors would take twice that while they grow.
  std::vector<std::deque<Begun>> of_track_;
  std::vector<BlockingCall> blocking_;
  Interval span_;
  std::int32_t main_track_ = -1;
  bool has_any_ = false;
};

}  // namespace mpa
