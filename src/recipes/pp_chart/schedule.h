// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpa::recipes::pp {

/// A box of the chart of a pipeline.
struct ScheduledBox {
  std::string name;       ///< "3", "4b", "3F+5B", "logits"
  std::int32_t type = 0;  ///< phase of the schedule, from 0 (warm-up) to 6 (cool-down)
};

/// More boxes than this are not of a real job.
inline constexpr std::int64_t kMostMicroBatches = 1 << 16;
inline constexpr std::int64_t kMostStages = 1 << 12;

/// What a stage of a DualPipeV pipeline runs in a step, in order. Micro-batches pass every stage
/// twice; the second time they are numbered from `micro_batches` on. A pipeline of that kind has at
/// least twice as many micro-batches as stages; else the list is empty.
std::vector<ScheduledBox> DualPipeVSchedule(std::int64_t stages, std::int64_t micro_batches,
                                            std::int64_t stage);

}  // namespace mpa::recipes::pp
