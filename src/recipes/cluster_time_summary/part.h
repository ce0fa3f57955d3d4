// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpa/collectives/instances.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/job_info_fields.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::time_summary {

/// Where the time of a step went, in ns: the account of the step, and what ran beside it.
struct StepSums {
  std::int32_t step = -1;  ///< -1: the capture has no steps
  TimeNs length = 0;       ///< of its window on the device: the sum of the next three and `free`
  TimeNs computing = 0, exposed_communication = 0, exposed_copies = 0;
  TimeNs free = 0;
  TimeNs waiting = 0;  ///< of the exposed communication: until the last member came
  TimeNs unsplit = 0;  ///< of the exposed communication: the capture does not tell what it was
  TimeNs communication = 0;  ///< also what kernels hide
  TimeNs copies = 0;         ///< copies between memories, each by itself
  TimeNs compiling = 0;      ///< of the host, for this step
};

inline constexpr std::size_t kMetrics = 10;

/// A step as an earlier run wrote it, with the times in the order of kMetricsOfStep.
struct EarlierStep {
  std::int32_t step = -1;
  std::array<std::optional<TimeNs>, kMetrics> times;
  /// The table defines free time and waits in another way; they are left out.
  bool divided_otherwise = false;
};

struct TimesOfRank {
  bool is_base = false;              ///< of the run that is compared with
  std::vector<EarlierStep> earlier;  ///< without any of the others
  std::vector<StepSums> steps;
  RankCollectives collectives;
};

template <class Archive>
void serialize(Archive& archive, StepSums& sums) {
  archive(sums.step, sums.length, sums.computing, sums.exposed_communication, sums.exposed_copies,
          sums.free, sums.waiting, sums.unsplit, sums.communication, sums.copies, sums.compiling);
}
template <class Archive>
void serialize(Archive& archive, EarlierStep& step) {
  archive(step.step, step.times, step.divided_otherwise);
}
template <class Archive>
void serialize(Archive& archive, TimesOfRank& part) {
  archive(part.is_base, part.earlier, part.steps, part.collectives);
}

using Ranks = std::vector<OfRank<TimesOfRank>>;

TimesOfRank MapTimes(const RankTrace& trace, const RecipeArguments& arguments);

}  // namespace mpa::time_summary
