// SPDX-License-Identifier: Apache-2.0
// The tables of a raw capture that the profiler's parser writes beside the timeline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "communication_steps.h"
#include "megabytes.h"
#include "mpa/raw/summaries.h"
#include "raw_tables.h"

namespace mpa::readers {
namespace {

using raw::Session;

void FillMemorySamples(Session& session, RankTrace& trace) {
  for (const raw::MemoryRecord& record : raw::MemoryRecords(session)) {
    if (record.reserved < 0) continue;
    if (!IsMemorySize(record.reserved) || !IsTime(record.time)) {
      trace.issues.Count("memory sample left out, its size or time makes no sense",
                         "memory records");
      continue;
    }
    trace.memory_samples.Append(
        {.time = record.time,
         .component = session.strings.Intern(record.component),
         .reserved_bytes = record.reserved,
         .allocated_bytes = IsMemorySize(record.allocated) ? record.allocated : -1});
  }
}

void FillAllocations(Session& session, RankTrace& trace) {
  for (const raw::AllocationLife& life : raw::AllocationLives(session)) {
    if (!IsMemorySize(life.bytes) || !IsTime(life.allocated) || !IsTime(life.released)) {
      trace.issues.Count("allocation left out, its size or times make no sense", "memory records");
      continue;
    }
    const StringId name =
        life.cann ? session.strings.Intern(fmt::format("cann::{}", session.strings.View(life.name)))
                  : life.name;
    trace.allocations.Append({.name = name,
                              .bytes = life.bytes,
                              .allocated = life.allocated,
                              .released = life.released});
  }
}

std::int32_t StepNumber(std::int64_t step) {
  return step >= 0 && step <= std::numeric_limits<std::int32_t>::max()
             ? static_cast<std::int32_t>(step)
             : -1;
}

void FillStepTimes(const Session& session, RankTrace& trace) {
  for (const raw::StepTime& step : raw::StepTimes(session, raw::StepTimeForm::kText)) {
    trace.step_times.Append({.step = StepNumber(step.step),
                             .computing = std::llround(step.computing),
                             .exposed_communication = std::llround(step.exposed_communication),
                             .communication = std::llround(step.communication),
                             .free = std::llround(step.free),
                             .overlapped = std::llround(step.overlapped),
                             .stage = std::llround(step.stage),
                             .bubble = std::llround(step.bubble),
                             .exposed_without_receive = std::llround(step.exposed_without_receive),
                             .preparing = std::llround(step.preparing)});
  }
}

void FillTransfers(const Session& session, RankTrace& trace) {
  for (const CommunicationStep& step : raw::SummariseCommunication(session)) {
    const auto total = std::find_if(step.collective.begin(), step.collective.end(),
                                    [](const CommunicationOp& op) { return op.group.empty(); });
    if (total == step.collective.end()) continue;
    const auto add = [&](Transport transport, LinkKind kind) {
      const auto use = total->links.find(kind);
      if (use == total->links.end()) return;
      trace.transfers.Append({.step = StepOfName(step.step),
                              .transport = transport,
                              .bytes = std::llround(use->second.megabytes * 1e6),
                              .time = std::llround(use->second.milliseconds * 1e6)});
    };
    add(Transport::kRdma, LinkKind::kRdma);
    add(Transport::kSdma, LinkKind::kSdma);
  }
}

void FillKernelStatistics(const Session& session, RankTrace& trace) {
  for (const raw::KernelSum& sum : raw::SumKernels(session)) {
    trace.kernel_statistics.Append({.op_type = sum.op_type,
                                    .core = sum.core,
                                    .count = sum.count,
                                    .total = std::llround(sum.total),
                                    .min = std::llround(sum.shortest),
                                    .avg = std::llround(sum.average),
                                    .max = std::llround(sum.longest)});
  }
}

}  // namespace

void FillSummaryTables(Session& session, Tables wanted, RankTrace& trace) {
  if (Overlap(wanted, Tables::kMemorySamples)) FillMemorySamples(session, trace);
  if (Overlap(wanted, Tables::kAllocations)) FillAllocations(session, trace);
  if (Overlap(wanted, Tables::kStepTimes)) FillStepTimes(session, trace);
  if (Overlap(wanted, Tables::kTransfers)) FillTransfers(session, trace);
  if (Overlap(wanted, Tables::kCommSummary)) {
    trace.communication_summary = raw::SummariseCommunication(session);
  }
  if (Overlap(wanted, Tables::kKernelStatistics)) FillKernelStatistics(session, trace);
}

}  // namespace mpa::readers
