// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/base/time.h"
#include "mpa/collectives/clock_line.h"
#include "mpa/measure/intervals.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// What a timeline of the ranks of a job shows besides their events, and on which clock.
struct TimelinePlan {
  struct Step {
    std::int32_t id = -1;  ///< -1: the whole capture
    Interval window;       ///< on the device, by the clock of the rank
  };
  struct Rank {
    RankId rank{};
    ClockLine clock;  ///< to that of the job, which is the first rank's
    std::vector<Step> steps;
  };
  /// Where a finding shows.
  struct Mark {
    RankId rank{};
    TimeNs time = 0;       ///< as the capture has it
    bool on_host = false;  ///< of the clock of the host
    std::string name;      ///< "1 rank.late_host/r5"
    std::vector<std::pair<std::string, std::string>> details{};
  };
  /// What was asked for: where to look for one finding.
  struct Focus {
    std::string key;
    std::vector<RankId> ranks;  ///< those of the finding, and one beside them
    /// On the clock of the job: around the longest event of its first place, and of the step in
    /// which it costs most, on these ranks. A finding without places has the step twice.
    Interval place, step;
    std::string file_name;  ///< "timeline_rank.late_r5.json"
  };
  std::vector<Rank> ranks;
  std::vector<Mark> marks;
  std::optional<Focus> focus;
  TimeNs first_step = 0;  ///< where the first step of any rank begins, on the clock of the job
  std::vector<std::string> notes;  ///< ranks whose clocks are unknown

  const Rank* Find(RankId rank) const;
};

/// `parts`: of the recipe of DiagnosisRecipe(), in order of rank; of its arguments the rules count.
/// `absent`: ranks of the job that have no part. `around`: the key of a finding, or its number in
/// the list; empty: none. Throws Error (kUsage) that lists the keys when there is no such finding.
TimelinePlan PlanTimeline(const std::vector<RankPart>& parts, const RecipeArguments& arguments,
                          const std::string& around, const AbsentRanks& absent);

}  // namespace mpa
