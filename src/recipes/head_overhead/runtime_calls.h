// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "host_forest.h"

namespace mpa::head {

/// The runtime's calls of each thread in order of start, the longest first. Calls are named by
/// their row in the table of the rank.
class RuntimeCalls {
 public:
  explicit RuntimeCalls(const RankTrace& trace);

  bool Empty() const { return calls_.Empty(); }
  /// Those of a thread that start within [from, to).
  std::span<const std::size_t> Starting(std::int32_t track, TimeNs from, TimeNs to) const;
  RuntimeCall Meaning(std::size_t row) const { return meanings_[Index(calls_.name[row])]; }
  TimeNs Start(std::size_t row) const { return calls_.start[row]; }
  TimeNs End(std::size_t row) const { return calls_.start[row] + calls_.dur[row]; }
  const HostCalls& Table() const { return calls_; }
  /// Threads that made calls.
  std::int32_t Tracks() const { return static_cast<std::int32_t>(rows_of_track_.size()); }
  /// All calls of a thread.
  const std::vector<std::size_t>& OfTrack(std::int32_t track) const {
    return rows_of_track_[static_cast<std::size_t>(track)];
  }

 private:
  const HostCalls& calls_;
  std::vector<RuntimeCall> meanings_;  // by text
  std::vector<std::vector<std::size_t>> rows_of_track_;
};

/// Calls `on_outermost(row)` for those of `rows`, in order, that no earlier one of them encloses.
template <typename OnOutermost>
void ForEachOutermost(const RuntimeCalls& calls, std::span<const std::size_t> rows,
                      OnOutermost on_outermost) {
  TimeNs covered_until = std::numeric_limits<TimeNs>::min();
  for (const std::size_t row : rows) {
    if (calls.End(row) <= covered_until && calls.Start(row) < covered_until) continue;
    covered_until = calls.End(row);
    on_outermost(row);
  }
}

}  // namespace mpa::head
