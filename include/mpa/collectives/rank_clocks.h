// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/collectives/clock_line.h"
#include "mpa/collectives/instances.h"

namespace mpa {

/// How the clock of a rank differs from that of the lowest rank it is connected with.
struct RankClock {
  ClockLine line;    ///< to the common clock
  TimeNs sigma = 0;  ///< how far the offset may be wrong; of a chain of ranks the sum
  bool known = false;
  std::size_t root = 0;  ///< position of the rank whose clock is the common one
};

/// What the ends of common collectives say of two clocks.
struct ClockPair {
  std::size_t first = 0, second = 0;  ///< positions of the ranks
  ClockLine line{};                   ///< from the first clock to the second
  TimeNs sigma = 0;
  std::size_t collectives = 0;  ///< that tell it
  /// The clocks of the ranks are so far from what this pair says; too far makes both unreliable.
  TimeNs residual = 0;
};

struct RankClocks {
  std::vector<RankClock> clocks;  ///< by position of the rank
  std::vector<ClockPair> pairs;
  /// Positions in `pairs`: the clocks contradict what their collectives say.
  std::vector<std::size_t> inconsistent;
};

/// Two ranks whose clocks contradict what they did together.
struct ClockDoubt {
  RankId first{}, second{};
  TimeNs residual = 0;  ///< by how much
};

std::vector<ClockDoubt> FindClockDoubts(const JobCollectives& ranks, const RankClocks& clocks);

/// Members leave a barrier at one time, so their ends tell how the clocks differ. Each rank is
/// compared with the first one of each of its groups; at least three collectives must tell.
RankClocks AlignClocks(const JobCollectives& ranks, const CollectiveInstances& instances);

}  // namespace mpa
