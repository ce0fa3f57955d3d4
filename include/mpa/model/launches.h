// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mpa/base/by_number.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Gives every kernel without a link the link of the launch that ends at its start on its stream:
/// kernel_details.csv does not name its launches. Where streams are numbered differently in the
/// two files, the start alone decides if only one launch ends there.
void LinkByTime(RankTrace& trace);

/// False where the capture has device work and does not say what launched it: device times of
/// operators are unknown then.
bool KnowsLaunches(const RankTrace& trace);

/// How many pairs of rows connections may tie together. Most rows are tied once, but a broken
/// capture may tie all rows to all others, which would take quadratic time and memory.
constexpr std::size_t MostPairs(std::size_t rows) { return 16 * (rows + 65'536); }

/// Finds launches by link. Of several launches with one link the last row counts.
class LaunchIndex {
 public:
  explicit LaunchIndex(const RankTrace& trace);
  /// The row in trace.launches, or empty.
  std::optional<std::size_t> Find(std::int64_t link) const;

 private:
  ByNumber<std::uint32_t> rows_;  // by link, counted from 1; 0: no launch has the link
};

/// The stream whose launched kernels take longest; of equal ones the one of the lowest number. -1:
/// no kernel was launched.
std::int64_t BusiestStream(const RankTrace& trace, const LaunchIndex& index);

}  // namespace mpa
