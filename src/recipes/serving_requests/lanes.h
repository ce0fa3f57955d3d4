// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "groups.h"
#include "mpa/measure/intervals.h"

namespace mpa::recipes::serving_requests {

/// Where batches follow each other: an instance, or a data parallel rank of it. What it did from
/// its first batch to its last adds up, as far as requests were there.
struct Lane {
  std::size_t instance = 0;
  int dp_rank = -1;
  std::string name{};  ///< of the instance
  /// Of one process, where several run the same batch at once. By start.
  std::vector<const Span*> schedules{}, steps{}, forwards{}, samples{};
  Intervals active{};  ///< requests were there
  TimeNs active_time = 0, ran = 0;
  TimeNs scheduled = 0, sampled = 0;  ///< while no batch ran
  TimeNs idle = 0;                    ///< none of these
  TimeNs schedule_time = 0, step_time = 0;
  TimeNs sample_time = 0;            ///< of the sampler, in a step or behind it; 0: unknown
  std::size_t hidden_schedules = 0;  ///< that ran for the larger part beside a batch
};

std::vector<Lane> LanesOf(const Servers& servers);

/// When requests waited for their first batch, as far as they say so.
Intervals WaitingTimes(const ServerPart& server);

}  // namespace mpa::recipes::serving_requests
