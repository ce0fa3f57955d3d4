// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/collectives/instances.h"
#include "mpa/collectives/runs.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/job_info_fields.h"
#include "mpa/recipe/make_recipe.h"
#include "packed_events.h"

namespace mpa::bottleneck {

/// Device work that an operator launched through CANN.
struct LaunchedTask {
  TimeNs start = 0, end = 0;
  TimeNs host_wait = 0;    ///< from the end of the operator to the call
  TimeNs device_wait = 0;  ///< from the end of the call to the start of the work
};

struct RankEvents {
  RankRuns runs;  ///< with those between two ranks
  RankCollectives collectives;
  std::vector<bool> is_looked_at;   ///< of each run: it is in the step that was chosen
  std::vector<LaunchedTask> tasks;  ///< in order of start
  PackedEvents device, framework, runtime;
};

template <class Archive>
void serialize(Archive& archive, LaunchedTask& task) {
  archive(task.start, task.end, task.host_wait, task.device_wait);
}
template <class Archive>
void serialize(Archive& archive, RankEvents& part) {
  archive(part.runs, part.collectives, part.is_looked_at, part.tasks, part.device, part.framework,
          part.runtime);
}

using Ranks = std::vector<OfRank<RankEvents>>;

RankEvents MapEvents(const RankTrace& trace, const RecipeArguments& arguments);

}  // namespace mpa::bottleneck
