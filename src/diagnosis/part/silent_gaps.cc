// SPDX-License-Identifier: Apache-2.0
#include "silent_gaps.h"

#include <algorithm>

#include "mpa/measure/intervals.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// Shorter gaps lie between any two records. What is made of longer ones is a matter of the rules,
// and none of them can ask for shorter ones.
constexpr TimeNs kLeastGap = 1'000'000;

// When nothing of the host is recorded on any thread.
Intervals SilentTimes(const RankTrace& trace, const HostTimeline& timeline,
                      const Interval& within) {
  std::vector<Interval> busy;
  for (std::size_t track = 0; track < trace.tracks.Size(); ++track) {
    timeline.Walk(
        static_cast<std::int32_t>(track), within.begin, within.end,
        [&](const HostPiece& piece) {
          const bool is_mark = piece.table == PieceTable::kHostOps &&
                               IsStepMark(trace.strings.View(
                                   trace.host_ops.name[static_cast<std::size_t>(piece.row)]));
          if (!is_mark) busy.push_back({piece.begin, piece.end});
        },
        [](TimeNs, TimeNs) {});
  }
  return Difference({within}, Union(std::move(busy)));
}

}  // namespace

std::vector<SilentGap> FindSilentGaps(const RankTrace& trace, const HostTimeline& timeline,
                                      const std::vector<HostStretch>& stretches) {
  std::vector<SilentGap> gaps;
  if (!timeline.HasAny()) return gaps;
  for (const HostStretch& stretch : stretches) {
    const Interval within = {std::max(stretch.begin, timeline.Span().begin),
                             std::min(stretch.end, timeline.Span().end)};
    if (within.end - within.begin < kLeastGap) continue;
    for (const Interval& gap : SilentTimes(trace, timeline, within)) {
      if (gap.end - gap.begin >= kLeastGap)
        gaps.push_back({stretch.edge, gap.begin, gap.end - gap.begin});
    }
  }
  return gaps;
}

}  // namespace mpa
