// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rank_clocks.h"

namespace mpa {

enum class ArrivalSource : std::uint8_t {
  kCaptured,  ///< the rank's own record
  kSeen,      ///< others waited for it
  kBound,     ///< no later than that: nobody waited, or observers disagree
};

/// When a rank came to a meeting, on the common clock.
struct Arrival {
  std::int32_t group_rank = -1;  ///< within the group; -1: not recorded
  std::int64_t rank = -1;        ///< of the job; -1: not known
  std::int64_t position = -1;    ///< of a captured rank
  TimeNs time = 0;
  ArrivalSource source{};
};

/// By time; of a meeting on the common clock the last one is the culprit.
struct MeetingArrivals {
  std::vector<Arrival> all;
  TimeNs end = 0;   ///< median over the members
  TimeNs lost = 0;  ///< time of all captured members together
};

/// By meeting. Meetings whose members have no common clock have no arrivals.
std::vector<MeetingArrivals> FindArrivals(const std::vector<RankMeetings>& ranks,
                                          const Meetings& meetings, const RankClocks& clocks);

}  // namespace mpa
