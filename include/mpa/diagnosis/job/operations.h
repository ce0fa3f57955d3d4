// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_sequence.h"
#include "mpa/collectives/clock_line.h"
#include "mpa/collectives/lateness.h"
#include "mpa/collectives/uncaptured.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/diagnosis/part/rank_graph.h"
#include "mpa/diagnosis/replay/replay.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// One operation of a group, with all members that were captured.
struct JointOperation {
  struct Member {
    RankIndex rank{};            ///< position in the list of ranks
    std::size_t collective = 0;  ///< position in its graph
  };
  std::vector<Member> members;
  /// When the last member came, on the clock of the job; -1: one that was captured.
  TimeNs last = -1;
  /// Members that were not captured and are so late that they are causes of their own, the last
  /// first. Others keep their distance from those that were captured.
  std::vector<LateMembers> late;
  std::size_t series = 0;  ///< operations of a series follow each other
  bool is_barrier = true;  ///< nobody leaves before all have arrived
};

/// The graphs of all ranks on one clock, tied by what they did together.
struct JobGraph {
  ReplayGraph graph;
  ReplaySteps steps;
  std::vector<std::uint32_t> first_node, first_edge;  ///< of every rank
  std::vector<ReplayGraph::Node> joints;              ///< of every operation
  std::vector<std::vector<ReplayGraph::Edge>>
      categories;  ///< of every operation: joint to each leave
  /// Of every operation: joint to each of its late members, the last first.
  std::vector<std::vector<ReplayGraph::Edge>> late;
  /// Of every operation with late members: joint to the last of the members before them.
  std::vector<ReplayGraph::Edge> before_late;
};

/// `clock`: of every rank, to that of the job. `first_step`: see ReplaySteps, whose `begin` is left
/// to the caller.
JobGraph BuildJobGraph(const std::vector<const RankGraph*>& ranks,
                       const std::vector<ClockLine>& clock,
                       const std::vector<JointOperation>& operations, std::size_t first_step);

/// What the ranks did together.
struct JobOperation {
  JointOperation joint;
  std::string group;  ///< the job's name for it, "dp", else the capture's
  std::string kind;   ///< "allreduce"
  std::int32_t step = -1;
  RankSequence members;  ///< ranks of the job by their number in the group; empty: unknown
  /// The ranks of its group recorded it a different number of times: nothing is said of it across
  /// ranks.
  bool is_apart = false;
};

struct DiagnosedRank {
  RankId rank{};
  const RankDiagnosis* part = nullptr;
};

struct JobOperations {
  std::vector<JobOperation> all;
  std::vector<ClockLine> clock;  ///< by rank: from its clock to the first rank's
  /// By rank: the one with whose clock its own was compared, directly or through others; itself
  /// where nothing tells its clock.
  std::vector<std::size_t> clock_root;
  Lateness lateness;  ///< of its collectives
  /// By rank: ranks that did nothing together, not even through others, are on different
  /// connected_components.
  std::vector<std::size_t> connected_component;
  std::vector<std::vector<std::size_t>> of_rank;  ///< position in `all` by rank and its collective
};

/// The rank of the job that has this number in the group of the operation; the number itself where
/// the group's ranks are not recorded.
RankId RankInJob(const JobOperation& operation, std::int32_t number);

/// Of the late members of the operation those that have one of these ranks; null: none. Empty:
/// those of which it is not recorded which they are.
const LateMembers* FindLate(const JobOperation& operation, const std::vector<RankId>& ranks);

/// `captured`: all ranks of which there are captures, where `ranks` are some of them. The others
/// are like these: how late they come is not a cause of its own.
JobOperations JoinOperations(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds,
                             const std::set<RankId>& captured = {});

/// True for operations that no member leaves before all have come.
bool IsBarrierKind(const std::string& kind);
/// True for operations between two ranks.
bool IsPairKind(const std::string& kind);

}  // namespace mpa
