// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/measure/collective_phases.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/joint_runs.h"

/// Collectives as meetings of ranks: what each rank knows, put together over all ranks.
namespace mpa {

/// What one rank says of its collectives. Times are those of its own device.
struct RankMeetings {
  std::int64_t rank = -1;
  RankRuns collectives;  ///< with the numbers of their steps, where steps are recorded
  /// By row of the collectives: what the rank saw of the others, and of all together.
  std::vector<std::vector<SeenPeer>> seen;
  std::vector<LastArrival> last;
  /// By text of the collectives: of a group the number of this rank in it, -1 where unknown.
  std::vector<std::int32_t> own_rank_of_group;
  std::vector<JobGroup> groups;  ///< with the ranks of the job, where the capture tells
};

RankMeetings MeetingsOfRank(const RankTrace& trace);

/// A collective that several ranks recorded. Positions are those of the ranks.
struct Meeting {
  struct Member {
    std::size_t rank = 0;  ///< position
    std::size_t row = 0;   ///< of the rank's collectives
  };
  std::string group, name;
  std::vector<Member> members;
  /// Everyone waits for everyone: not a broadcast, a reduce or a scatter.
  bool is_barrier = false;
};

struct Meetings {
  std::vector<Meeting> all;
};

/// Adds a row of a rank's collectives.
void AddMember(const std::vector<RankMeetings>& ranks, std::size_t rank, std::size_t row,
               Meeting& meeting);

/// Joins what belongs together: the same run of the same name in the same group, counted within a
/// step where names repeat. Where ranks ran a name a different number of times in a step, its first
/// runs are one meeting, and so are its last ones, which may be wrong if a rank lost just these.
Meetings JoinMeetings(const std::vector<RankMeetings>& ranks);

}  // namespace mpa
