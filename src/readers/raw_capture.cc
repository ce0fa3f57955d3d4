// SPDX-License-Identifier: Apache-2.0
// PROF_* and FRAMEWORK: a capture that was not parsed. From its session to the tables of a rank, as
// the profiler's own text output would fill them. All texts are of the session's pool, which is
// handed to the rank afterwards.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "communication_steps.h"
#include "megabytes.h"
#include "mpa/base/fields.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/raw/labels.h"
#include "mpa/raw/summaries.h"
#include "mpa/readers/reader.h"
#include "raw_counters.h"
#include "raw_device.h"

namespace mpa::readers {
namespace {

using raw::Parts;
using raw::Session;

// Rewrites texts of a pool, each distinct one once.
class Rewriter {
 public:
  explicit Rewriter(StringPool& strings) : strings_(strings) {}

  template <typename Rewrite>
  StringId operator()(StringId id, Rewrite rewrite) {
    if (Index(id) >= done_.size()) done_.resize(Index(id) + 1);
    std::optional<StringId>& done = done_[Index(id)];
    if (!done) done = strings_.Intern(rewrite(strings_.View(id)));
    return *done;
  }

 private:
  StringPool& strings_;
  std::vector<std::optional<StringId>> done_;
};

// "a;b" as the timeline writes it, one entry a line.
std::string OnLines(std::string_view text) {
  return text.empty() ? std::string(kNotRecorded) : raw::ListLines(text);
}

// Sets the tracks of rows that say process and thread.
void SetTracks(const auto& threads, TrackNumbers& tracks, std::vector<std::int32_t>& track) {
  for (std::size_t i = 0; i < track.size(); ++i) {
    track[i] = tracks.Of(threads.process[i], threads.thread[i]);
  }
}

void ShowOps(Session& session, Tables wanted, TrackNumbers& tracks) {
  Rewriter rewrite(session.strings);
  const bool details = Intersects(wanted, Tables::kOpDetails);
  const bool stacks = details || Intersects(wanted, Tables::kOpStacks);
  raw::TorchOps& ops = session.ops;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (details) ops.shapes.Stored()[i] = rewrite(ops.shapes[i], OnLines);
    if (details) ops.types.Stored()[i] = rewrite(ops.types[i], OnLines);
    if (stacks) ops.stack.Stored()[i] = rewrite(ops.stack[i], OnLines);
  }
  SetTracks(ops, tracks, ops.track);
}

void ShowBackwardPairs(Session& session, RankTrace& trace) {
  raw::BackwardPairs& pairs = session.backward;
  for (std::size_t i = 0; i < pairs.Size(); ++i) {
    pairs.forward_track[i] = session.ops.track[static_cast<std::size_t>(pairs.forward[i])];
    pairs.backward_track[i] = session.ops.track[static_cast<std::size_t>(pairs.backward[i])];
    trace.backward_tid = session.ops.thread[static_cast<std::size_t>(pairs.backward[i])];
  }
}

void FillQueue(Session& session, TrackNumbers& tracks, RankTrace& trace) {
  Rewriter rewrite(session.strings);
  const raw::QueueRanges& queue = session.queue;
  for (std::size_t i = 0; i < queue.Size(); ++i) {
    if (!queue.dequeue[i] || queue.partner[i] < 0) continue;
    const auto asked = static_cast<std::size_t>(queue.partner[i]);
    trace.queued_work.Append(
        {.queued = queue.start[asked],
         .queued_track = tracks.Of(queue.process[asked], queue.thread[asked]),
         .start = queue.start[i],
         .dur = queue.dur[i],
         .track = tracks.Of(queue.process[i], queue.thread[i]),
         .name = rewrite(queue.name[i],
                         [](std::string_view name) { return fmt::format("Dequeue@{}", name); }),
         .queued_dur = queue.dur[asked]});
  }
}

// Away from the numbers of launches, as in the profiler's own databases.
std::int64_t LinkOfMark(std::int64_t mark_id) {
  constexpr std::int64_t kFirst = 4'000'000'001;
  return mark_id <= std::numeric_limits<std::int64_t>::max() - kFirst ? kFirst + mark_id : -1;
}

void ShowMarks(Session& session, TrackNumbers& tracks) {
  constexpr MstxKind kKinds[] = {MstxKind::kMark, MstxKind::kPushPop, MstxKind::kStartEnd,
                                 MstxKind::kMark};
  raw::Marks& marks = session.marks;
  marks.Filter([&](std::size_t i) {
    return marks.event_type[i] >= 0 && marks.event_type[i] < std::ssize(kKinds);
  });
  for (std::size_t i = 0; i < marks.Size(); ++i) {
    marks.kind[i] = kKinds[marks.event_type[i]];
    marks.track[i] = tracks.Of(session.info.process, marks.thread[i]);
    marks.link[i] = LinkOfMark(marks.mark_id[i]);
  }
}

// Calls get the name that the timeline shows, "Node@launch".
void ShowCalls(Session& session, TrackNumbers& tracks) {
  raw::HostCalls& calls = session.calls;
  std::map<raw::Level, Rewriter> names;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    const raw::Level level = calls.level[i];
    Rewriter& rewrite = names.try_emplace(level, session.strings).first->second;
    const bool runs_model =
        level == raw::Level::kModel && session.strings.View(calls.name[i]) == "ModelExecute";
    calls.name[i] = rewrite(raw::CallName(calls, i), [&](std::string_view name) {
      return fmt::format("{}@{}", raw::LevelPrefix(level), name);
    });
    calls.track[i] = tracks.Of(session.info.process, calls.thread[i]);
    calls.connection[i] = static_cast<std::int64_t>(i);
    if (runs_model) {
      calls.item.Stored()[i] = StringId::kEmpty;
      calls.model.Stored()[i] = static_cast<std::int64_t>(calls.item_id[i]);
    } else {
      calls.request.Stored()[i] = -1;
    }
  }
}

// Operators, their queue, Python, collections, calls of CANN.
void FillHostTables(Session& session, Tables wanted, TrackNumbers& tracks, RankTrace& trace) {
  trace.session_start = session.info.begin;
  trace.session_end = session.info.end;
  ShowOps(session, wanted, tracks);
  ShowBackwardPairs(session, trace);
  if (Intersects(wanted, Tables::kQueuedWork)) FillQueue(session, tracks, trace);
  SetTracks(session.python, tracks, session.python.track);
  ShowMarks(session, tracks);
  if (Intersects(wanted, Tables::kHostCalls)) ShowCalls(session, tracks);
}

void FillMemorySamples(Session& session, RankTrace& trace) {
  for (const raw::MemoryRecord& record : raw::MemoryRecords(session)) {
    if (record.reserved < 0) continue;
    if (!IsSize(record.reserved) || !IsTime(record.time)) {
      trace.issues.Count("memory sample left out, its size or time is invalid", "memory records");
      continue;
    }
    trace.memory_samples.Append(
        {.time = record.time,
         .component = session.strings.Intern(record.component),
         .reserved_bytes = record.reserved,
         .allocated_bytes = IsSize(record.allocated) ? record.allocated : -1});
  }
}

void FillAllocations(Session& session, RankTrace& trace) {
  for (const raw::AllocationLife& life : raw::LivesWithRoles(session)) {
    if (!IsSize(life.bytes) || !IsTime(life.allocated) || !IsTime(life.released)) {
      trace.issues.Count("allocation left out, its size or times are invalid", "memory records");
      continue;
    }
    const StringId name =
        life.cann ? session.strings.Intern(fmt::format("cann::{}", session.strings.View(life.name)))
                  : life.name;
    trace.allocations.Append({.name = name,
                              .bytes = life.bytes,
                              .allocated = life.allocated,
                              .released = life.released,
                              .role = life.role});
  }
}

void FillStepTimes(const Session& session, RankTrace& trace) {
  for (const raw::StepTime& step : raw::StepTimes(session, raw::StepTimeForm::kText)) {
    StepTimes::Row row;
    FieldsOf(row) = std::apply([](const auto&... ns) { return std::tuple(std::llround(ns)...); },
                               FieldsOf(static_cast<const StepTimeFields<raw::InSum>&>(step)));
    trace.step_times.Append(row);
  }
}

void FillTransfers(const Session& session, RankTrace& trace) {
  for (const CommunicationStep& step : raw::SummariseCommunication(session)) {
    const auto total = std::ranges::find_if(
        step.collective, [](const CommunicationOp& op) { return op.group.empty(); });
    if (total == step.collective.end()) continue;
    const auto add = [&](Transport transport, LinkKind kind) {
      const auto use = total->links.find(kind);
      if (use == total->links.end()) return;
      const LinkUse& moved = use->second;
      trace.transfers.Append(
          {.step = StepOfName(step.step),
           .transport = transport,
           .bytes = TrafficOrZero(moved.megabytes * 1e6, "Transit Size(MB)", trace.issues),
           .time = TrafficOrZero(moved.milliseconds * 1e6, "Transit Time(ms)", trace.issues)});
    };
    add(Transport::kRdma, LinkKind::kRdma);
    add(Transport::kSdma, LinkKind::kSdma);
  }
}

void FillKernelStatistics(const Session& session, RankTrace& trace) {
  for (const raw::KernelStatistic& row : raw::SumKernels(session)) {
    trace.kernel_statistics.Append({.op_type = row.op_type,
                                    .core = row.core,
                                    .count = row.durations.count,
                                    .total = std::llround(row.durations.sum),
                                    .min = std::llround(row.durations.min),
                                    .max = std::llround(row.durations.max)});
  }
}

// The tables that the profiler sums up in files beside the timeline.
void FillSummaryTables(Session& session, Tables wanted, RankTrace& trace) {
  if (Intersects(wanted, Tables::kMemorySamples)) FillMemorySamples(session, trace);
  if (Intersects(wanted, Tables::kAllocations)) FillAllocations(session, trace);
  if (Intersects(wanted, Tables::kStepTimes)) FillStepTimes(session, trace);
  if (Intersects(wanted, Tables::kTransfers)) FillTransfers(session, trace);
  if (Intersects(wanted, Tables::kCommSummary)) {
    trace.communication_summary = raw::SummariseCommunication(session);
  }
  if (Intersects(wanted, Tables::kKernelStatistics)) FillKernelStatistics(session, trace);
}

// The parts of the capture from which the wanted tables are made.
Parts PartsOf(Tables wanted) {
  struct Source {
    Tables tables;
    Parts parts;
  };
  constexpr Tables kDevice = Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications |
                             Tables::kCommTasks | Tables::kOverlaps | Tables::kKernelStatistics |
                             Tables::kTransfers | Tables::kCommSummary | Tables::kHostCalls |
                             Tables::kDeviceRuns | Tables::kModelIterations;
  constexpr std::array<Source, 11> kSources = {{
      {Tables::kHostOps | Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kPythonCalls |
           Tables::kGarbageCollections,
       Parts::kFramework},
      {kDevice, Parts::kCann},
      // Steps have a side on the device.
      {Tables::kLaunches | Tables::kSteps | Tables::kStepTimes | Tables::kKernels |
           Tables::kTransfers | Tables::kCommSummary,
       Parts::kFramework | Parts::kCann},
      {Tables::kOpDetails, Parts::kDetails},
      {Tables::kOpStacks, Parts::kStacks},
      {Tables::kKernels, Parts::kCounters},
      {Tables::kKernelLoads, Parts::kCacheUse},
      {Tables::kMemorySamples | Tables::kAllocations,
       Parts::kFramework | Parts::kCann | Parts::kAllocations | Parts::kMemory},
      {Tables::kMstx, Parts::kMarks | Parts::kFramework},
      {Tables::kCoreClocks, Parts::kFrequency},
      {Tables::kCounters, Parts::kMemory | Parts::kTraffic},
  }};
  Parts parts = Parts::kNone;
  for (const Source& source : kSources) {
    if (Intersects(wanted, source.tables)) parts = parts | source.parts;
  }
  return parts;
}

// As databases name them.
void FillJob(const raw::SessionInfo& info, JobInfo& job) {
  job.host_uid = info.host_uid;
  job.host_name = info.host_name;
  for (const raw::Device& device : info.devices) job.devices.push_back({info.rank, device.id});
}

// Hands over the tables of the session that are the rank's.
void TakeTables(Session& session, Tables wanted, RankTrace& trace) {
  trace.host_ops.Take(session.ops);
  trace.backward_links.Take(session.backward);
  trace.python_calls.Take(session.python);
  trace.mstx.Take(session.marks);
  if (Intersects(wanted, Tables::kHostCalls)) trace.host_calls.Take(session.calls);
  trace.garbage_collections = std::move(session.garbage_collections);
  trace.steps = std::move(session.steps);
  trace.overlaps = std::move(session.overlaps);
  trace.model_iterations = std::move(session.model_iterations);
  trace.core_clocks = std::move(session.core_clocks);
  trace.core_clocks.Filter([&](std::size_t i) {
    const bool usable = IsTime(trace.core_clocks.start[i]) && IsClock(trace.core_clocks.mhz[i]);
    if (!usable) {
      trace.issues.Count("invalid core frequency ignored", "lpmFreqConv");
    }
    return usable;
  });
  trace.strings = std::move(session.strings);
  trace.issues.Merge(session.issues);
}

void ReadRawCapture(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  raw::Session session = raw::ReadSession(file.path, PartsOf(request.wanted));
  TrackNumbers tracks(trace.tracks);
  FillHostTables(session, request.wanted, tracks, trace);
  FillSummaryTables(session, request.wanted, trace);
  FillDeviceTables(session, request.wanted, tracks, trace);
  FillJob(session.info, trace.job);
  TakeTables(session, request.wanted, trace);
  // After the texts are those of the rank.
  if (Intersects(request.wanted, Tables::kCounters)) FillCounters(session, trace);
}

}  // namespace

Reader RawCapture() {
  return {"raw captures", FileKind::kRawCapture,
          Tables::kHostOps | Tables::kOpDetails | Tables::kOpStacks | Tables::kLaunches |
              Tables::kKernels | Tables::kKernelTensors | Tables::kDeviceTasks |
              Tables::kCommunications | Tables::kCommTasks | Tables::kOverlaps |
              Tables::kMemorySamples | Tables::kAllocations | Tables::kKernelStatistics |
              Tables::kTransfers | Tables::kCommSummary | Tables::kSteps | Tables::kStepTimes |
              Tables::kPythonCalls | Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kMstx |
              Tables::kCoreClocks | Tables::kHostCalls | Tables::kDeviceRuns |
              Tables::kModelIterations | Tables::kGarbageCollections | Tables::kCounters,
          ReadRawCapture};
}

}  // namespace mpa::readers
