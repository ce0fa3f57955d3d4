// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "advice.h"
#include "call.h"
#include "mpa/recipe/part_bytes.h"
#include "mpa/report/timeline.h"
#include "summary.h"

namespace mpa::head {

/// What a capture holds, for the header and for the answer that there is no compiled graph.
struct CaptureFacts {
  std::string source, level;
  std::size_t framework_events = 0, runtime_calls = 0, device_runs = 0;
  std::vector<std::int64_t> threads;  ///< with framework events
  std::size_t steps = 0;
  std::int64_t overhangs = 0;  ///< events that last longer than the event around them
  std::int64_t too_deep = 0;   ///< events that were left out, see HostForest::TooDeep()
  bool has_ge_api = false;     ///< InferShape and Tiling of GE were collected
  bool of_gpu = false;
};
CaptureFacts FactsOf(const RankTrace& trace, const HostForest& forest);

/// What the head of a rank's calls comes to.
struct HeadPart {
  CaptureFacts facts;
  Phase phase = Phase::kSteady;  ///< that the screen and the children are about
  std::vector<Call> calls;
  std::vector<StepRow> steps;
  std::vector<SummaryRow> summary;
  std::vector<ChildRow> children;
  std::vector<AdviceRow> advice;
  std::optional<Timeline> picture;  ///< of a call, if one was asked for
};

}  // namespace mpa::head

namespace mpa {

constexpr Severity LastOf(Severity) { return Severity::kHigh; }

template <class Archive>
void serialize(Archive& archive, TimelineKind& kind) {
  archive(kind.colour, kind.meaning, kind.cells);
}

template <class Archive>
void serialize(Archive& archive, TimelineSpan& span) {
  archive(span.begin, span.end, span.kind, span.name, span.label);
}

template <class Archive>
void serialize(Archive& archive, TimelineLane& lane) {
  archive(lane.title, lane.spans);
}

template <class Archive>
void serialize(Archive& archive, TimelineMark& mark) {
  archive(mark.time, mark.label, mark.is_guess);
}

template <class Archive>
void serialize(Archive& archive, Timeline& timeline) {
  archive(timeline.title, timeline.text, timeline.begin, timeline.end, timeline.kinds,
          timeline.lanes, timeline.marks, timeline.headers);
  constexpr TimeNs kLatest = std::numeric_limits<TimeNs>::max() / 4;
  const auto require = [](bool holds) {
    if (!holds) Fail(ErrorKind::kCorrupt, "a timeline has a span without a time or a colour");
  };
  const auto check = [&](TimeNs begin, TimeNs end) {
    require(-kLatest <= begin && begin <= end && end <= kLatest);
  };
  check(timeline.begin, timeline.end);
  for (const TimelineLane& lane : timeline.lanes) {
    for (const TimelineSpan& span : lane.spans) {
      check(span.begin, span.end);
      require(span.kind < timeline.kinds.size());
    }
  }
  for (const TimelineMark& mark : timeline.marks) check(mark.time, mark.time);
}

namespace head {

constexpr CallKind LastOf(CallKind) { return CallKind::kA6; }
constexpr Engine LastOf(Engine) { return Engine::kUnknown; }
constexpr Phase LastOf(Phase) { return Phase::kCompile; }
constexpr KernelSource LastOf(KernelSource) { return KernelSource::kTime; }
constexpr Measure LastOf(Measure) { return Measure::kEpilogue; }

template <class Archive>
void serialize(Archive& archive, CaptureFacts& facts) {
  archive(facts.source, facts.level, facts.framework_events, facts.runtime_calls, facts.device_runs,
          facts.threads, facts.steps, facts.overhangs, facts.too_deep, facts.has_ge_api,
          facts.of_gpu);
}

template <class Archive>
void serialize(Archive& archive, Call::Time& time) {
  archive(time.total, time.idle);
}

template <class Archive>
void serialize(Archive& archive, Call& call) {
  archive(EnumField{call.kind}, EnumField{call.engine}, EnumField{call.phase},
          EnumField{call.task_source}, EnumField{call.kernel_source}, call.flags, call.id,
          call.parent, call.step, call.track, call.pid, call.tid, call.device, call.graph,
          call.frame, call.variant, call.calls_of_region, call.in_nested_region, call.loads_graph);
  archive(call.w0, call.e0, call.t1, call.t2, call.t3, call.t4, call.first_task, call.first_kernel,
          call.times, call.tensors_built, call.contiguous, call.clones, call.copies, call.launches);
}

template <class Archive>
void serialize(Archive& archive, StepRow& row) {
  archive(row.step, row.tid, row.calls, row.compile_calls, row.parts, row.head, row.tail,
          row.outside, row.duration, row.exposed);
}

template <class Archive>
void serialize(Archive& archive, Spread& spread) {
  archive(spread.count, spread.sum, spread.max, spread.mean, spread.p50, spread.p90);
}

template <class Archive>
void serialize(Archive& archive, SummaryRow& row) {
  archive(row.scope, EnumField{row.phase}, EnumField{row.measure}, row.spread, row.share,
          row.share_of_step, row.exposed_sum, row.exposed_share);
}

template <class Archive>
void serialize(Archive& archive, ChildRow& row) {
  archive(row.scope, EnumField{row.part}, row.kind, row.name, row.count, row.calls, row.total,
          row.max, row.exposed, row.share);
  if (row.calls < 1) Fail(ErrorKind::kCorrupt, "a sum over no calls");
}

template <class Archive>
void serialize(Archive& archive, AdviceRow& row) {
  archive(row.rule, EnumField{row.severity}, row.scope, row.owner, row.text, row.metric, row.value,
          row.threshold, row.part, row.cost, row.gain, row.exposed_per_step, row.is_compilation,
          row.calls);
}

template <class Archive>
void serialize(Archive& archive, HeadPart& part) {
  archive(part.facts, EnumField{part.phase}, part.calls, part.steps, part.summary, part.children,
          part.advice, part.picture);
}

}  // namespace head
}  // namespace mpa
