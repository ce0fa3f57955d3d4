// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "part.h"

namespace mpa::time_summary {

/// What a rank waited for others in its communication, and transmitted.
struct Waits {
  TimeNs wait = 0, transmit = 0;
  std::size_t counted = 0, left_out = 0;  ///< operators
};

/// By step.
using WaitsOfRank = std::map<std::int32_t, Waits>;

/// The waits of each rank, in the order of `ranks`, from runs as JoinRuns pairs them step by step.
/// The rank that ran an operator shortest came last and waited for nobody; the others waited for
/// what they ran longer. A collective that a rank of its group did not record is left out: the
/// missing rank may be the one that came last. So are names that the ranks ran a different number
/// of times.
std::vector<WaitsOfRank> FindWaits(const Ranks& ranks);

}  // namespace mpa::time_summary
