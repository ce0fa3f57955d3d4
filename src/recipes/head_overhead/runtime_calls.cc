// SPDX-License-Identifier: Apache-2.0
#include "runtime_calls.h"

#include <algorithm>
#include <utility>

namespace mpa::head {

RuntimeCalls::RuntimeCalls(const RankTrace& trace)
    : calls_(trace.host_calls),
      meanings_(MeaningOfTexts(trace.strings, calls_.name, RuntimeCallOf)),
      rows_of_track_(trace.tracks.Size()) {
  for (std::size_t row = 0; row < calls_.Size(); ++row) {
    const std::int32_t track = calls_.track[row];
    if (track >= 0) rows_of_track_[static_cast<std::size_t>(track)].push_back(row);
  }
  for (std::vector<std::size_t>& rows : rows_of_track_) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return std::pair{Start(a), End(b)} < std::pair{Start(b), End(a)};
    });
  }
}

std::span<const std::size_t> RuntimeCalls::Starting(std::int32_t track, TimeNs from,
                                                    TimeNs to) const {
  const std::vector<std::size_t>& rows = OfTrack(track);
  const auto at = [&](TimeNs time) {
    return std::partition_point(rows.begin(), rows.end(),
                                [&](std::size_t row) { return Start(row) < time; });
  };
  if (to <= from) return {};
  return {at(from), at(to)};
}

}  // namespace mpa::head
