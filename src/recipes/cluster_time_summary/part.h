// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/joint_runs.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::time_summary {

/// Where the time of a step went, in ns.
struct StepSums {
  std::int32_t step = -1;  ///< -1: the capture has no steps
  TimeNs length = -1;      ///< of the step on the host; -1: not recorded
  TimeNs computing = 0, exposed_communication = 0, overlapped = 0, communication = 0, free = 0;
  TimeNs copies = 0;          ///< copies between memories, each by itself
  TimeNs exposed_copies = 0;  ///< time in which nothing but copies ran
};

inline constexpr std::size_t kMetrics = 10;

/// A step as an earlier run wrote it, with the times in the order of kMetricsOfStep.
struct EarlierStep {
  std::int32_t step = -1;
  std::array<std::optional<TimeNs>, kMetrics> times;
};

struct TimesOfRank {
  bool is_base = false;              ///< of the run that is compared with
  std::vector<EarlierStep> earlier;  ///< without any of the others
  std::vector<StepSums> steps;
  RankRuns runs;  ///< that belong to a step, or all of a capture without steps
};

template <class Archive>
void serialize(Archive& archive, StepSums& sums) {
  archive(sums.step, sums.length, sums.computing, sums.exposed_communication, sums.overlapped,
          sums.communication, sums.free, sums.copies, sums.exposed_copies);
}
template <class Archive>
void serialize(Archive& archive, EarlierStep& step) {
  archive(step.step, step.times);
}
template <class Archive>
void serialize(Archive& archive, TimesOfRank& part) {
  archive(part.is_base, part.earlier, part.steps, part.runs);
}

using Ranks = std::vector<OfRank<TimesOfRank>>;

TimesOfRank MapTimes(const RankTrace& trace, const RecipeArguments& arguments);

}  // namespace mpa::time_summary
