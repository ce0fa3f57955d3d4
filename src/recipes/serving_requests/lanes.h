// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "groups.h"
#include "mpa/measure/intervals.h"

namespace mpa::recipes::serving_requests {

/// What a server did while requests were there: from the first batch to the last, parts of it, and
/// sums of spans.
struct LaneTimes {
  TimeNs active = 0, ran = 0;
  TimeNs scheduled = 0, sampled = 0;  ///< while no batch ran
  TimeNs idle = 0;                    ///< none of these
  TimeNs all_schedules = 0, all_steps = 0;
  TimeNs all_samples = 0;                           ///< in a step or behind it; 0: unknown
  std::size_t schedules = 0, hidden_schedules = 0;  ///< hidden: for the larger part beside a batch
  std::size_t steps = 0;

  LaneTimes& operator+=(const LaneTimes& other);
};

/// Where batches follow each other: an instance, or a data parallel rank of it. What it did from
/// its first batch to its last adds up, as far as requests were there.
struct Lane {
  std::size_t instance = 0;
  int dp_rank = -1;
  std::string name{};  ///< of the instance
  /// Of one process, where several run the same batch at once. By start.
  std::vector<const Span*> schedules{}, steps{}, forwards{}, samples{};
  Intervals active{};  ///< requests were there
  LaneTimes times{};

  TimeNs MedianStep() const;
};

std::vector<Lane> LanesOf(const Servers& servers);

/// When requests waited for their first batch, as far as they say so.
Intervals WaitingTimes(const ServerPart& server);

}  // namespace mpa::recipes::serving_requests
