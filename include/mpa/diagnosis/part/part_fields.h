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

template <class Archive>
void serialize(Archive& archive, UnsplitPiece& row) {
  archive(row.collective, row.begin, row.end);
}
template <class Archive>
void serialize(Archive& archive, StepPart& row) {
  archive(row.id, row.begin, row.end, row.leaves, row.mhz, row.launches, row.launch_median,
          row.launch_decile, row.launch_time, row.unsplit);
}
template <class Archive>
void serialize(Archive& archive, HostShare& row) {
  archive(row.edge, EnumField{row.leaf}, row.time, row.in_optimizer, row.starts_up);
}
template <class Archive>
void serialize(Archive& archive, HostPlace& row) {
  archive(row.share, row.name, row.line, row.count, row.time, row.longest, row.start);
}
template <class Archive>
void serialize(Archive& archive, SilentGap& row) {
  archive(row.edge, row.start, row.dur);
}
template <class Archive>
void serialize(Archive& archive, BlockedPart& row) {
  archive(row.edge, EnumField{row.leaf}, row.name, row.place, row.step, row.start, row.dur,
          row.behind_launch, row.line, row.own_edge, row.own);
}
template <class Archive>
void serialize(Archive& archive, KernelKind& row) {
  archive(row.type, row.shapes, row.types, row.name, row.least, row.bytes, row.written, row.streams,
          row.multiplies_fp32);
}
template <class Archive>
void serialize(Archive& archive, OperationPart& row) {
  archive(row.group, row.name, row.kind, row.own, row.peer, row.step, row.start, row.dur, row.bytes,
          row.moved, row.held_up, row.idle, row.port_bytes, row.port_time);
}
template <class Archive>
void serialize(Archive& archive, TaskSum& row) {
  archive(row.count, row.bytes, row.time);
}
template <class Archive>
void serialize(Archive& archive, PeerTransfer& row) {
  archive(row.operation, row.peer, row.transport, row.bytes, row.time, row.count, row.odd,
          row.beside);
}
template <class Archive>
void serialize(Archive& archive, LongTask& row) {
  archive(row.operation, row.peer, row.transport, row.name, row.start, row.dur, row.usual);
}
template <class Archive>
void serialize(Archive& archive, GraphNode& row) {
  archive(row.start, row.dur, EnumField{row.kind}, row.step, row.row, EnumField{row.leaf},
          row.in_optimizer, row.adds_gradients, row.clears_gradients);
}
template <class Archive>
void serialize(Archive& archive, GraphEdge& row) {
  archive(row.node, row.on, EnumField{row.from}, row.weight);
}
template <class Archive>
void serialize(Archive& archive, RankCollective& row) {
  archive(row.arrive, row.leave, row.row);
}
template <class Archive>
void serialize(Archive& archive, RankGraph& graph) {
  archive(graph.nodes, graph.edges, graph.collectives, graph.last, graph.opening);
}
template <class Archive>
void serialize(Archive& archive, MovedRow::Moved& row) {
  archive(row.bytes, row.time, row.unaligned, row.unaligned_tasks);
}
template <class Archive>
void serialize(Archive& archive, MovedRow& row) {
  archive(row.name, row.step, row.sdma, row.rdma);
}
template <class Archive>
void serialize(Archive& archive, AiCpuRow& row) {
  archive(row.name, row.type, row.shapes, row.dur);
}
template <class Archive>
void serialize(Archive& archive, CollectedRow& row) {
  archive(row.start, row.dur);
}
template <class Archive>
void serialize(Archive& archive, FusibleRow& row) {
  archive(row.api, row.count);
}
template <class Archive>
void serialize(Archive& archive, UnitLoads& row) {
  archive(row.vec, row.mac, row.scalar, row.mte1, row.mte2, row.mte3, row.fixpipe);
}
template <class Archive>
void serialize(Archive& archive, KernelRow& row) {
  archive(row.name, row.type, row.core, row.dur, row.blocks, row.mix_blocks, row.cores, row.loads,
          row.tensors);
}
template <class Archive>
void serialize(Archive& archive, KernelList& list) {
  archive(list.rows, list.count, list.time);
}
template <class Archive>
void serialize(Archive& archive, ClockRow& row) {
  archive(row.name, row.count, row.time, row.mhz, row.least, row.most);
}
template <class Archive>
void serialize(Archive& archive, PerfRow& row) {
  archive(EnumField{row.family}, EnumField{row.verdict}, row.name, row.type, row.shapes, row.types,
          row.what, row.count, row.time, row.room);
}
template <class Archive>
void serialize(Archive& archive, KernelSequence& row) {
  archive(row.first, row.last, row.count, row.total, row.busy, row.moving, row.host_bound,
          row.mte_bound, row.names);
}
template <class Archive>
void serialize(Archive& archive, SequenceList& list) {
  archive(list.rows, list.count, list.total, list.busy, list.moving);
}
template <class Archive>
void serialize(Archive& archive, AnalyzerRows& rows) {
  archive(rows.moved, rows.ai_cpu, rows.collected, rows.compiles, rows.compile_time, rows.fusible,
          rows.on_some_cores, rows.without_bound, rows.clocks, rows.performance, rows.sequences);
}
template <class Archive>
void serialize(Archive& archive, KernelOrigin& row) {
  archive(row.node, row.op, row.line);
}
template <class Archive>
void serialize(Archive& archive, RankDiagnosis& part) {
  archive(part.source, part.level, part.capture, part.has_calls, part.breaks_off,
          part.knows_garbage, part.has_stacks, part.has_host_ops, part.is_compiled, part.names,
          part.steps, part.graph, part.kinds, part.origins, part.shares, part.places, part.gaps,
          part.blocked, part.operations, part.transfers, part.long_tasks, part.collectives,
          part.settings, part.host, part.chip, part.rated_mhz, part.peak_reserved,
          part.pool_reserved, part.pool_allocated, part.analyzers);
}

}  // namespace mpa
