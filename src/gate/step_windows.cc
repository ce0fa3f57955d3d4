// SPDX-License-Identifier: Apache-2.0
// What activities take of each step.
#include "step_windows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mpa/measure/collectives.h"
#include "mpa/model/collective_tasks.h"

namespace mpa::gate {
namespace {

bool IsLccl(const RankTrace& trace, std::size_t communication) {
  return IsLcclKernel(trace.strings.View(trace.communications.name[communication]));
}

// Calls visit(window, piece) for what of each interval lies in each window, in order of time.
template <typename Visit>
void VisitPieces(const Intervals& intervals, const std::vector<Interval>& windows, Visit visit) {
  std::size_t window = 0;
  for (const Interval& interval : intervals) {
    while (window < windows.size() && windows[window].end <= interval.begin) ++window;
    for (std::size_t at = window; at < windows.size() && windows[at].begin < interval.end; ++at) {
      const Interval piece{std::max(interval.begin, windows[at].begin),
                           std::min(interval.end, windows[at].end)};
      if (piece.begin < piece.end) visit(at, piece);
    }
  }
}

}  // namespace

std::vector<TimeNs> LengthInWindows(const std::vector<Interval>& intervals,
                                    const std::vector<Interval>& windows) {
  std::vector<TimeNs> lengths(windows.size(), 0);
  VisitPieces(intervals, windows, [&](std::size_t window, const Interval& piece) {
    lengths[window] += piece.end - piece.begin;
  });
  return lengths;
}

std::map<std::string, std::vector<TimeNs>> ExposedByKind(const RankTrace& trace,
                                                         const Intervals& exposed,
                                                         const std::vector<Interval>& windows) {
  // The pieces of exposed time in windows, disjoint and in order.
  Intervals pieces;
  std::vector<std::size_t> window_of;
  VisitPieces(exposed, windows, [&](std::size_t window, const Interval& piece) {
    pieces.push_back(piece);
    window_of.push_back(window);
  });
  std::map<std::string, std::vector<TimeNs>> kinds;
  const Communications& comms = trace.communications;
  TimeNs told = windows.empty() ? 0 : windows.front().begin;
  std::size_t first = 0;
  for (const std::size_t row : comms.RowsByStart()) {
    if (IsLccl(trace, row)) continue;
    const Interval rest{std::max(told, comms.start[row]), comms.start[row] + comms.dur[row]};
    if (rest.end <= rest.begin) continue;
    told = rest.end;
    while (first < pieces.size() && pieces[first].end <= rest.begin) ++first;
    for (std::size_t at = first; at < pieces.size() && pieces[at].begin < rest.end; ++at) {
      const TimeNs length =
          std::min(pieces[at].end, rest.end) - std::max(pieces[at].begin, rest.begin);
      auto& of_kind = kinds[CollectiveKindOf(trace, row)];
      of_kind.resize(windows.size());
      of_kind[window_of[at]] += length;
    }
  }
  return kinds;
}

}  // namespace mpa::gate
