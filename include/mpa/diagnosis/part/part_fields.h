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

void serialize(auto& archive, UnsplitPiece& row) { archive(row.collective, row.begin, row.end); }
void serialize(auto& archive, StepPart& row) {
  archive(row.id, row.begin, row.end, row.leaves, row.mhz, row.launches, row.launch_median,
          row.launch_decile, row.launch_time, row.unsplit);
}
void serialize(auto& archive, HostShare& row) {
  archive(row.edge, EnumField{row.leaf}, row.time, row.in_optimizer, row.starts_up);
}
void serialize(auto& archive, HostPlace& row) {
  archive(row.share, row.name, row.line, row.count, row.time, row.longest, row.start);
}
void serialize(auto& archive, SilentGap& row) { archive(row.edge, row.start, row.dur); }
void serialize(auto& archive, BlockedPart& row) {
  archive(row.edge, EnumField{row.leaf}, row.name, row.place, row.step, row.start, row.dur,
          row.behind_launch, row.line, row.own_edge, row.own);
}
void serialize(auto& archive, KernelKind& row) {
  archive(row.type, row.shapes, row.types, row.name, row.least, row.bytes, row.written, row.streams,
          row.multiplies_fp32);
}
void serialize(auto& archive, OperationPart& row) {
  archive(row.group, row.name, row.kind, row.own, row.peer, row.step, row.start, row.dur, row.bytes,
          row.moved, row.held_up, row.idle, row.port_bytes, row.port_time);
}
void serialize(auto& archive, TaskSum& row) { archive(row.count, row.bytes, row.time); }
void serialize(auto& archive, PeerTransfer& row) {
  archive(row.operation, row.peer, row.transport, row.bytes, row.time, row.count, row.odd,
          row.beside);
}
void serialize(auto& archive, LongTask& row) {
  archive(row.operation, row.peer, row.transport, row.name, row.start, row.dur, row.usual);
}
void serialize(auto& archive, GraphNode& row) {
  archive(row.start, row.dur, EnumField{row.kind}, row.step, row.row, EnumField{row.leaf},
          row.in_optimizer, row.adds_gradients, row.clears_gradients);
}
void serialize(auto& archive, GraphEdge& row) {
  archive(row.node, row.on, EnumField{row.from}, row.weight);
}
void serialize(auto& archive, RankCollective& row) { archive(row.arrive, row.leave, row.row); }
void serialize(auto& archive, RankGraph& graph) {
  archive(graph.nodes, graph.edges, graph.collectives, graph.last, graph.opening);
}
void serialize(auto& archive, MovedRow::Moved& row) {
  archive(row.bytes, row.time, row.unaligned, row.unaligned_tasks);
}
void serialize(auto& archive, MovedRow& row) { archive(row.name, row.step, row.sdma, row.rdma); }
void serialize(auto& archive, AiCpuRow& row) { archive(row.name, row.type, row.shapes, row.dur); }
void serialize(auto& archive, CollectedRow& row) { archive(row.start, row.dur); }
void serialize(auto& archive, FusibleRow& row) { archive(row.api, row.count); }
void serialize(auto& archive, UnitLoads& row) {
  archive(row.vec, row.mac, row.scalar, row.mte1, row.mte2, row.mte3, row.fixpipe);
}
void serialize(auto& archive, KernelRow& row) {
  archive(row.name, row.type, row.core, row.dur, row.blocks, row.mix_blocks, row.cores, row.loads,
          row.tensors);
}
void serialize(auto& archive, KernelList& list) { archive(list.rows, list.count, list.time); }
void serialize(auto& archive, ClockRow& row) {
  archive(row.name, row.count, row.time, row.mhz, row.least, row.most);
}
void serialize(auto& archive, PerfRow& row) {
  archive(EnumField{row.family}, EnumField{row.verdict}, row.name, row.type, row.shapes, row.types,
          row.what, row.count, row.time, row.room);
}
void serialize(auto& archive, KernelSequence& row) {
  archive(row.first, row.last, row.count, row.total, row.busy, row.moving, row.host_bound,
          row.mte_bound, row.names);
}
void serialize(auto& archive, SequenceList& list) {
  archive(list.rows, list.count, list.total, list.busy, list.moving);
}
void serialize(auto& archive, AnalyzerRows& rows) {
  archive(rows.moved, rows.ai_cpu, rows.collected, rows.compiles, rows.compile_time, rows.fusible,
          rows.on_some_cores, rows.without_bound, rows.clocks, rows.performance, rows.sequences);
}
void serialize(auto& archive, KernelOrigin& row) { archive(row.node, row.op, row.line); }
void serialize(auto& archive, RankDiagnosis& part) {
  archive(part.source, part.level, part.capture, part.has_calls, part.breaks_off,
          part.knows_garbage, part.has_stacks, part.has_host_ops, part.is_compiled, part.names,
          part.steps, part.graph, part.kinds, part.origins, part.shares, part.places, part.gaps,
          part.blocked, part.operations, part.transfers, part.long_tasks, part.collectives,
          part.settings, part.host, part.chip, part.rated_mhz, part.peak_reserved,
          part.pool_reserved, part.pool_allocated, part.analyzers);
}

}  // namespace mpa
