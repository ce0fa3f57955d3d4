// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/collectives/instances.h"
#include "mpa/collectives/runs.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::bottleneck {

struct Event {
  TimeNs start = 0, dur = 0;
  std::uint32_t name = 0;  ///< position in PackedEvents::Names()
};

/// Events in order of start, some seven bytes each: which of them are asked for is known only when
/// all ranks are there, and a rank may have millions.
class PackedEvents {
 public:
  void Append(TimeNs start, TimeNs dur, std::string_view name);

  /// Those that end at `end` or earlier, in order of start. Throws Error (kCorrupt) for bytes that
  /// Append() does not make.
  std::vector<Event> EndingBy(TimeNs end) const;
  const std::vector<std::string>& Names() const { return names_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bytes_, names_);
  }

 private:
  std::string bytes_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // while events are appended
  TimeNs last_start_ = 0;
};

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

using Ranks = std::vector<OfRank<RankEvents>>;

RankEvents MapEvents(const RankTrace& trace, const RecipeArguments& arguments);

}  // namespace mpa::bottleneck
