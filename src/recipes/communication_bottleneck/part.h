// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "mpa/recipe/make_recipe.h"
#include "packed_events.h"

namespace mpa::bottleneck {

/// A communication operator of a rank.
struct CommunicationRun {
  std::string group, name;
  std::uint32_t occurrence = 0;  ///< runs of the name in the group before it
  std::uint32_t runs = 0;        ///< of the name in the group altogether
  bool in_step = true;           ///< that was chosen
  TimeNs start = 0, dur = 0;

  TimeNs End() const { return start + dur; }
};

/// Device work that an operator launched through CANN.
struct LaunchedTask {
  TimeNs start = 0, end = 0;
  TimeNs host_wait = 0;    ///< from the end of the operator to the call
  TimeNs device_wait = 0;  ///< from the end of the call to the start of the work
};

struct RankEvents {
  std::vector<CommunicationRun> runs;  ///< in order of start
  std::vector<LaunchedTask> tasks;     ///< in order of start
  PackedEvents device, framework, runtime;
};

template <class Archive>
void serialize(Archive& archive, CommunicationRun& run) {
  archive(run.group, run.name, run.occurrence, run.runs, run.in_step, run.start, run.dur);
}
template <class Archive>
void serialize(Archive& archive, LaunchedTask& task) {
  archive(task.start, task.end, task.host_wait, task.device_wait);
}
template <class Archive>
void serialize(Archive& archive, RankEvents& part) {
  archive(part.runs, part.tasks, part.device, part.framework, part.runtime);
}

using Ranks = std::vector<OfRank<RankEvents>>;

RankEvents MapEvents(const RankTrace& trace, const RecipeArguments& arguments);

}  // namespace mpa::bottleneck
