// SPDX-License-Identifier: Apache-2.0
// What every stored part of a rank keeps to, before anything is computed from it.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "mpa/base/error.h"
#include "mpa/collectives/check_collectives.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/measure/memory_copies.h"

namespace mpa {
namespace {

void Require(bool holds) {
  if (!holds) {
    Fail(ErrorKind::kCorrupt,
         "the times of the rank contradict each other, or its stored part is damaged; copy or"
         " collect it again");
  }
}

void RequireTime(TimeNs start, TimeNs dur) { Require(IsTime(start) && IsDuration(dur)); }

void CheckAnalyzers(const AnalyzerRows& rows) {
  for (const MovedRow& row : rows.moved) {
    for (const Traffic* moved : {&row.sdma, &row.unaligned, &row.rdma})
      Require(moved->bytes >= 0 && IsDuration(moved->time));
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

void CheckRoofline(const Roofline& roofline) {
  Require(IsDuration(roofline.device_time));
  for (const RoofKernels& row : roofline.kernels)
    Require(IsDuration(row.duration) && row.duration > 0 && row.count > 0 &&
            std::isfinite(row.flops) && row.flops > 0 && std::isfinite(row.bytes) &&
            row.bytes > 0 && std::isfinite(row.peak_tflops));
  for (const RoofGap& row : roofline.left_out) Require(IsDuration(row.duration) && row.count > 0);
}

}  // namespace

void CheckPart(const RankDiagnosis& part) {
  if (part.roofline) CheckRoofline(*part.roofline);
  Require(IsDuration(part.earlier.time));
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
    Require(part.is_outline || (is_node(collective.arrive) && is_node(collective.leave)));
  }
  for (const auto& nodes : graph.last) {
    for (const std::uint32_t node : nodes) Require(is_node(node));
  }
  for (const StepPart& step : part.steps) {
    Require(step.categories.size() == kTimeCategories && step.end >= step.begin);
    RequireTime(step.begin, step.end - step.begin);
    for (const TimeNs time : step.categories) Require(IsDuration(time));
    Require(IsDuration(step.launch_median) && IsDuration(step.launch_decile) &&
            IsDuration(step.launch_time));
    for (const WorkSum& work : step.work) Require(is_name(work.name) && IsDuration(work.time));
    for (const std::int64_t bytes :
         {step.memory.allocated, step.memory.most_allocated, step.memory.reserved})
      Require(bytes == -1 || IsSize(bytes));
    for (const UnsplitPiece& piece : step.unsplit) {
      Require(piece.collective < graph.collectives.size());
      RequireTime(piece.begin, piece.end - piece.begin);
    }
  }
  for (const TimeNs time : part.host_alone.steps) Require(IsDuration(time));
  const auto& on_host = part.host_alone.categories;
  Require(on_host.empty() || on_host.size() == kTimeCategories);
  for (const TimeNs time : on_host) Require(IsDuration(time));
  for (const HostShare& share : part.shares) {
    Require(share.edge < graph.edges.size() && IsDuration(share.time));
  }
  Require(part.between.empty() || part.between.size() == part.shares.size());
  for (const KernelOrigin& origin : part.origins)
    Require(is_node(origin.node) && is_name(origin.op) && is_name(origin.line));
  for (const KernelOperators::Row& row : part.operators.rows)
    Require(is_name(row.name) && is_name(row.shapes));
  Require(part.operators.of_node.empty() || part.operators.of_node.size() == graph.nodes.size());
  for (const std::uint32_t row : part.operators.of_node)
    Require(row == KernelOperators::kNone || row < part.operators.rows.size());
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
  const SchedulerFacts& scheduler = part.scheduler;
  Require(scheduler.given >= 0 && scheduler.taken >= 0 && scheduler.moves >= 0 &&
          scheduler.far_moves >= -1);
  for (const ThreadWait& wait : part.scheduler.waits) {
    Require(wait.edge < graph.edges.size() && is_name(wait.name) && IsDuration(wait.time));
    Require(HoldsUp(wait.doing) || wait.doing == ThreadDoing::kRunning);
    RequireTime(wait.start, wait.longest);
  }
  Require(std::isfinite(scheduler.far_ratio) && scheduler.far_ratio >= 0);
  for (const CountedCall& call : part.functions.calls) {
    Require(is_name(call.name) && call.cycles >= -1 && call.instructions >= -1 &&
            call.misses >= -1);
    RequireTime(call.start, call.dur);
  }
  for (const CountedTime& time : part.functions.times) {
    Require(time.edge < graph.edges.size() && time.call < part.functions.calls.size() &&
            IsDuration(time.time));
  }
  for (const BlockedPart& call : part.blocked) {
    Require(call.edge < graph.edges.size() && is_name(call.name) && is_name(call.place) &&
            is_name(call.line));
  }
  for (const KernelKind& kind : part.kinds) {
    Require(is_name(kind.type) && is_name(kind.shapes) && is_name(kind.types) &&
            is_name(kind.outputs) && is_name(kind.name));
    Require(IsDuration(kind.least) && kind.bytes >= 0);
  }
  for (const OperationPart& row : part.operations) {
    Require(is_name(row.group) && is_name(row.name) && is_name(row.kind));
    RequireTime(row.start, row.dur);
    Require(IsDuration(row.copied));
  }
  for (const PeerTransfer& row : part.transfers) {
    Require(row.operation < part.operations.size() && is_name(row.transport));
    Require(row.all.bytes >= 0 && IsDuration(row.all.time) && IsDuration(row.odd.time) &&
            IsDuration(row.beside.time));
  }
  for (const LongTask& row : part.long_tasks) {
    Require(row.operation < part.operations.size() && is_name(row.transport) && is_name(row.name));
    Require(IsDuration(row.dur) && IsDuration(row.usual));
  }
  Require(part.whole_bytes >= 0);
  CheckCollectives(part.collectives);
  CheckAnalyzers(part.analyzers);
}

}  // namespace mpa
