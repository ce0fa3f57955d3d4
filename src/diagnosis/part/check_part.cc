// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "mpa/base/error.h"
#include "mpa/diagnosis/part/part.h"

namespace mpa {
namespace {

void Require(bool holds) {
  if (!holds)
    Fail(ErrorKind::kCorrupt, "the part of a rank refers to a row that it does not contain");
}

void RequireTime(TimeNs start, TimeNs dur) { Require(IsTime(start) && IsDuration(dur)); }

void CheckCollectives(const RankCollectives& collectives) {
  const std::size_t rows = collectives.runs.rows.size();
  Require(collectives.seen.size() == rows && collectives.last.size() == rows);
  Require(collectives.own_rank_of_group.size() == collectives.runs.texts.size());
  for (const RankRuns::Row& row : collectives.runs.rows) {
    Require(std::max({row.group, row.name, row.type, row.data_type}) <
            collectives.runs.texts.size());
    RequireTime(row.start, row.dur);
  }
  for (const auto& seen : collectives.seen) {
    for (const SeenPeer& peer : seen) Require(IsTime(peer.time) && IsTime(peer.begin));
  }
  for (const LastArrival& last : collectives.last) Require(IsTime(last.time));
}

void CheckAnalyzers(const AnalyzerRows& rows) {
  const auto check = [](const MovedRow::Moved& moved) {
    Require(moved.bytes >= 0 && IsDuration(moved.time) && IsDuration(moved.unaligned));
  };
  for (const MovedRow& row : rows.moved) {
    check(row.sdma);
    check(row.rdma);
  }
  for (const AiCpuRow& row : rows.ai_cpu) Require(IsDuration(row.dur));
  for (const CollectedRow& row : rows.collected) RequireTime(row.start, row.dur);
  Require(rows.compiles >= 0 && IsDuration(rows.compile_time));
  for (const KernelList* list : {&rows.on_some_cores, &rows.without_bound}) {
    Require(list->count >= 0 && IsDuration(list->time));
    for (const KernelRow& row : list->rows) Require(IsDuration(row.dur));
  }
  const SequenceList& sequences = rows.sequences;
  Require(sequences.count >= 0 && IsDuration(sequences.total) && IsDuration(sequences.busy) &&
          IsDuration(sequences.moving));
  for (const KernelSequence& row : sequences.rows) {
    Require(row.count >= 0 && IsDuration(row.total) && IsDuration(row.busy) && row.moving >= -1);
  }
  for (const PerfRow& row : rows.performance)
    Require(row.count >= 0 && IsDuration(row.time) && std::isfinite(row.room));
  for (const ClockRow& row : rows.clocks)
    Require(row.count >= 0 && IsDuration(row.time) && std::isfinite(row.mhz));
}

}  // namespace

void CheckPart(const RankDiagnosis& part) {
  const RankGraph& graph = part.graph;
  const auto is_node = [&](std::uint32_t node) { return node < graph.nodes.size(); };
  const auto is_name = [&](NameId name) { return name < part.names.size(); };
  for (const GraphNode& node : graph.nodes) {
    RequireTime(node.start, node.dur);
    if (node.kind != NodeKind::kKernel) continue;
    Require(node.row >= 0 && static_cast<std::size_t>(node.row) < part.kinds.size());
  }
  for (const GraphEdge& edge : graph.edges) {
    Require(is_node(edge.node) && is_node(edge.on) && IsDuration(edge.weight));
  }
  Require(graph.collectives.size() == part.operations.size());
  for (const RankCollective& collective : graph.collectives) {
    Require(is_node(collective.arrive) && is_node(collective.leave));
  }
  for (const auto& nodes : graph.last) {
    for (const std::uint32_t node : nodes) Require(is_node(node));
  }
  for (const StepPart& step : part.steps) {
    Require(step.leaves.size() == kLeaves && step.end >= step.begin);
    RequireTime(step.begin, step.end - step.begin);
    for (const UnsplitPiece& piece : step.unsplit) {
      Require(piece.collective < graph.collectives.size());
      RequireTime(piece.begin, piece.end - piece.begin);
    }
  }
  for (const HostShare& share : part.shares) {
    Require(share.edge < graph.edges.size() && IsDuration(share.time));
  }
  for (const KernelOrigin& origin : part.origins)
    Require(is_node(origin.node) && is_name(origin.op) && is_name(origin.line));
  std::uint32_t share = 0;
  for (const HostPlace& place : part.places) {
    Require(is_name(place.name) && is_name(place.line) && place.share < part.shares.size());
    Require(place.share >= share && IsDuration(place.time));
    RequireTime(place.start, place.longest);
    share = place.share;
  }
  for (const SilentGap& gap : part.gaps) {
    Require(gap.edge < graph.edges.size());
    RequireTime(gap.start, gap.dur);
  }
  for (const BlockedPart& call : part.blocked) {
    Require(call.edge < graph.edges.size() && is_name(call.name) && is_name(call.place) &&
            is_name(call.line));
  }
  for (const KernelKind& kind : part.kinds) {
    Require(is_name(kind.type) && is_name(kind.shapes) && is_name(kind.types) &&
            is_name(kind.name));
    Require(IsDuration(kind.least) && kind.bytes >= 0);
  }
  for (const OperationPart& row : part.operations) {
    Require(is_name(row.group) && is_name(row.name) && is_name(row.kind));
    RequireTime(row.start, row.dur);
  }
  for (const PeerTransfer& row : part.transfers) {
    Require(row.operation < part.operations.size() && is_name(row.transport));
    Require(row.bytes >= 0 && IsDuration(row.time) && IsDuration(row.odd.time) &&
            IsDuration(row.beside.time));
  }
  for (const LongTask& row : part.long_tasks) {
    Require(row.operation < part.operations.size() && is_name(row.transport) && is_name(row.name));
    Require(IsDuration(row.dur) && IsDuration(row.usual));
  }
  CheckCollectives(part.collectives);
  CheckAnalyzers(part.analyzers);
}

}  // namespace mpa
