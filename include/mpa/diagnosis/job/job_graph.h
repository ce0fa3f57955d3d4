// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/diagnosis/job/clock_line.h"
#include "mpa/diagnosis/part/rank_graph.h"
#include "mpa/diagnosis/replay/replay.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// One operation of a group, with all members that were captured.
struct JointOperation {
  struct Member {
    std::size_t rank = 0;        ///< position in the list of ranks
    std::size_t collective = 0;  ///< position in its graph
  };
  std::vector<Member> members;
  TimeNs last =
      -1;  ///< when the last member came, on the clock of the job; -1: one that was captured
  /// The same where it was not captured and is so late that it is a cause of its own; else it keeps
  /// its distance from those that were captured.
  TimeNs outsider = -1;
  TimeNs second =
      -1;  ///< when the last but one came, where that is known and the last is an outsider
  std::size_t lane = 0;    ///< operations of a lane follow each other
  bool is_barrier = true;  ///< nobody leaves before all have arrived
};

/// The graphs of all ranks on one clock, tied by what they did together.
struct JobGraph {
  ReplayGraph graph;
  ReplaySteps steps;
  std::vector<std::uint32_t> first_node, first_edge;   ///< of every rank
  std::vector<ReplayGraph::Node> joints;               ///< of every operation
  std::vector<std::vector<ReplayGraph::Edge>> leaves;  ///< of every operation: joint to each leave
  std::vector<ReplayGraph::Edge>
      outsiders;  ///< of every operation: joint to the outsider; Edges() for none
  std::vector<ReplayGraph::Edge> seconds;  ///< the same to who came last but one
};

/// `clock`: of every rank, to that of the job. `first_step`: see ReplaySteps.
JobGraph BuildJobGraph(const std::vector<const RankGraph*>& ranks,
                       const std::vector<ClockLine>& clock,
                       const std::vector<JointOperation>& operations, std::size_t first_step);

}  // namespace mpa
