// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_sequence.h"
#include "mpa/base/time.h"
#include "mpa/measure/collective_phases.h"
#include "mpa/model/rank_trace.h"

/// Instances of collectives: what each rank knows of one, put together over all ranks.
namespace mpa {

// The communication operators of a rank, as every command that compares ranks takes them.

/// The communication operators of one rank in order of start. Texts are positions in `texts`.
struct RankRuns {
  struct Row {
    static constexpr bool kInColumns = true;
    std::uint32_t group = 0, name = 0, type = 0, data_type = 0;
    TimeNs start = 0, dur = 0;
    std::int64_t count = -1;       ///< of elements; -1: not recorded
    std::int32_t operation = -1;   ///< row of the rank's communications
    std::int32_t step = -1;        ///< as the recipe sets it; -1: not looked at
    std::int32_t group_ranks = 0;  ///< that belong to the group; 0: not recorded
    bool p2p = false;              ///< between two ranks
  };
  std::vector<std::string> texts;
  std::vector<Row> rows;
};

/// All communication operators. Those whose group is not recorded have an empty one.
RankRuns CommunicationRuns(const RankTrace& trace);

/// How NCCL names the kernel of an all-to-all.
inline constexpr std::string_view kExchangeKind = "sendrecv";

/// Those that are not between two ranks. NPUs: of known groups. Traces of GPUs name no groups.
RankRuns CollectiveRuns(const RankTrace& trace);

/// What one rank knows of its collectives. Times are those of its own device.
struct RankCollectives {
  RankId rank{};
  RankRuns runs;
  /// By row of the runs: what the rank saw of the others, and of all together.
  std::vector<std::vector<SeenPeer>> seen;
  std::vector<LastArrival> last;
  /// By text of the runs: of a group the number of this rank in it, -1 where unknown.
  std::vector<std::int32_t> own_rank_of_group;
  std::vector<JobGroup> groups;  ///< with the ranks of the job, where the capture tells
  TimeNs longest_step = 0;       ///< on the device; 0: no steps are recorded
  bool on_gpu = false;
};

/// Those of the ranks of a job, which have to outlive it.
using JobCollectives = std::vector<std::reference_wrapper<const RankCollectives>>;

/// What CollectivesOfRank() reads. Device tasks tell waits where tasks of collectives have no
/// names.
inline constexpr Tables kLatenessTables = Tables::kCommunications | Tables::kCommTasks |
                                          Tables::kDeviceTasks | Tables::kKernels |
                                          Tables::kLaunches | Tables::kSteps | Tables::kJobInfo;

/// Runs have the number of their step, where steps are recorded. `step`: of that step alone.
RankCollectives CollectivesOfRank(const RankTrace& trace,
                                  const std::optional<std::int32_t>& step = std::nullopt);

/// One run of a collective, with all members that were captured. Positions are those of the ranks.
struct CollectiveInstance {
  struct Member {
    RankIndex rank{};     ///< position
    std::size_t row = 0;  ///< of the rank's runs
  };
  std::string group, name;
  std::vector<Member> members;
  /// Ranks of the job by their number in the group; empty: unknown.
  RankSequence of_group;
  /// Everyone waits for everyone: not a broadcast, a reduce or a scatter.
  bool is_barrier = false;
  /// The ranks ran the name a different number of times, so other runs may belong together.
  bool is_uneven = false;
};

using CollectiveInstances = std::vector<CollectiveInstance>;

/// Says what the instance is, by a row of the runs of a member.
void NameAfter(const RankRuns& runs, std::size_t row, CollectiveInstance& instance);

/// Joins what belongs together: the same run of the same name in the same group, counted within a
/// step where names repeat. Where ranks ran a name a different number of times in a step, its first
/// runs are one instance, and so are its last ones, which may be wrong if a rank lost just these.
/// Throws Error (kCorrupt) for runs that refer to texts that they lack.
CollectiveInstances JoinInstances(const JobCollectives& ranks);

/// The same from the runs alone, which tell no ranks of groups.
CollectiveInstances JoinInstancesOfRuns(const std::vector<const RankRuns*>& ranks);

}  // namespace mpa
