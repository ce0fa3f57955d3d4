// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/part/part.h"
#include "mpa/recipe/job_info_fields.h"
#include "mpa/recipe/part_bytes.h"

/// What goes into the bytes of a part; see part_bytes.h.
namespace mpa {

constexpr Leaf LastOf(Leaf) { return Leaf::kUnknown; }
constexpr NodeKind LastOf(NodeKind) { return NodeKind::kLeave; }
constexpr PerfFamily LastOf(PerfFamily) { return PerfFamily::kVector; }
constexpr PerfVerdict LastOf(PerfVerdict) { return PerfVerdict::kShape; }
constexpr WaitsFor LastOf(WaitsFor) { return WaitsFor::kEnd; }

void serialize(auto& archive, RankGraph& graph) {
  archive(graph.nodes, graph.edges, graph.collectives, graph.last, graph.opening);
}
}  // namespace mpa
