// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpa/diagnosis/meetings.h"

namespace mpa {

/// How the clock of a rank differs from that of the lowest rank it is connected with.
struct RankClock {
  TimeNs offset = 0;  ///< own time less this is time of the common clock
  TimeNs sigma = 0;   ///< how far the offset may be wrong; of a chain of ranks the sum
  bool known = false;
};

/// What the ends of common collectives say of two clocks.
struct ClockPair {
  std::size_t first = 0, second = 0;  ///< positions of the ranks
  TimeNs difference = 0;              ///< of the first less that of the second
  TimeNs sigma = 0;
  std::size_t collectives = 0;  ///< that tell it
  /// What the offsets explain of the difference is so far off; too far makes both unreliable.
  TimeNs residual = 0;
};

struct RankClocks {
  std::vector<RankClock> clocks;  ///< by position of the rank
  std::vector<ClockPair> pairs;
  /// Positions in `pairs`: the offsets contradict what their collectives say.
  std::vector<std::size_t> inconsistent;
};

/// Spread of values around their median, comparable to a standard deviation.
TimeNs SigmaOf(const std::vector<TimeNs>& values, TimeNs median);

/// Members leave a barrier at one time, so their ends tell how the clocks differ. Each rank is
/// compared with the first one of each of its groups; at least three collectives must tell.
RankClocks AlignClocks(const std::vector<RankMeetings>& ranks, const Meetings& meetings);

}  // namespace mpa
