// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer_rows.h"
#include "mpa/diagnosis/meetings.h"
#include "mpa/measure/leaf.h"
#include "rank_graph.h"

namespace mpa {

/// RankDiagnosis::source of a GPU trace.
inline constexpr const char* kGpuSource = "kineto";

/// Texts of a part by number.
using NameId = std::uint32_t;

/// One step of a rank: how its time was spent.
struct StepPart {
  std::int32_t id = -1;
  TimeNs begin = 0, end = 0;  ///< on the clock of the device
  std::vector<TimeNs> leaves;  ///< by Leaf
  std::int64_t mhz = 0;       ///< mean clock of the cube cores; 0: not recorded
};

/// Work of the host on an edge of the graph, by class.
struct HostShare {
  std::uint32_t edge = 0;
  Leaf leaf{};
  TimeNs time = 0;
};

/// Where the host spent its time: an operator, a frame or a call.
struct HostPlace {
  Leaf leaf{};
  NameId name = 0;
  std::int64_t count = 0;
  TimeNs time = 0;
  TimeNs longest = 0, start = 0;  ///< the longest one, and when it began
};

/// A call that waited for the device, as the what-ifs need it.
struct BlockedPart {
  std::uint32_t edge = 0;
  Leaf leaf{};       ///< class of everything that was open then
  NameId name = 0;   ///< of the call
  NameId place = 0;  ///< of the operator around it
  std::int32_t step = -1;
  TimeNs start = 0, dur = 0;
};

/// A kind of kernel: what equal work is called.
struct KernelKind {
  NameId type = 0, shapes = 0;
};

struct OperationPart {
  NameId group = 0, name = 0, kind = 0;
  std::int32_t own = -1, peer = -1;  ///< within the group; `peer` of operations between two ranks
  std::int32_t step = -1;
  TimeNs start = 0, dur = 0;
};

/// What an operation moved to or from another member.
struct PeerTransfer {
  std::uint32_t operation = 0;
  std::int32_t peer = -1;  ///< within the group
  NameId transport = 0;
  std::int64_t bytes = 0;
  TimeNs time = 0;
};

/// What one rank comes to. Operations are numbered as the collectives of the graph.
struct RankDiagnosis {
  std::string source, level, capture;
  bool has_calls = true;  ///< of the runtime
  std::vector<std::string> names;
  std::vector<StepPart> steps;
  RankGraph graph;  ///< nodes of kernels have the number of their kind as `row`
  std::vector<KernelKind> kinds;
  std::vector<HostShare> shares;
  std::vector<HostPlace> places;
  std::vector<BlockedPart> blocked;
  std::vector<OperationPart> operations;
  std::vector<PeerTransfer> transfers;
  RankMeetings meetings;
  AnalyzerRows analyzers;
};

RankDiagnosis MakeRankDiagnosis(const RankTrace& trace);

}  // namespace mpa
