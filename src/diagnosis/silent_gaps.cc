// SPDX-License-Identifier: Apache-2.0
#include "silent_gaps.h"

#include <algorithm>

#include "mpa/measure/intervals.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

constexpr TimeNs kLeastGap = 1'000'000;

Intervals SilentTimes(const RankTrace& trace, const HostTimeline& timeline) {
  if (!timeline.HasAny()) return {};
  std::vector<Interval> busy;
  for (std::size_t track = 0; track < trace.tracks.Size(); ++track) {
    const Interval& span = timeline.Span();
    timeline.Walk(static_cast<std::int32_t>(track), span.begin, span.end, [&](const HostPiece& piece) {
      const bool is_mark = piece.table == PieceTable::kHostOps && IsStepMark(trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(piece.row)]));
      if (!is_mark) busy.push_back({piece.begin, piece.end});
    }, [](TimeNs, TimeNs) {});
  }
  Intervals silent = Difference({timeline.Span()}, Union(std::move(busy)));
  std::erase_if(silent, [](const Interval& gap) { return gap.end - gap.begin < kLeastGap; });
  return silent;
}

}  // namespace

std::vector<SilentGap> FindSilentGaps(const RankTrace& trace, const HostTimeline& timeline, const std::vector<HostStretch>& stretches) {
  const Intervals silent = SilentTimes(trace, timeline);
  std::vector<SilentGap> gaps;
  for (const HostStretch& stretch : stretches) {
    auto at = std::partition_point(silent.begin(), silent.end(), [&](const Interval& gap) { return gap.end <= stretch.begin; });
    for (; at != silent.end() && at->begin < stretch.end; ++at) {
      const TimeNs begin = std::max(at->begin, stretch.begin), end = std::min(at->end, stretch.end);
      if (end - begin >= kLeastGap) gaps.push_back({stretch.edge, begin, end - begin});
    }
  }
  return gaps;
}

}  // namespace mpa
