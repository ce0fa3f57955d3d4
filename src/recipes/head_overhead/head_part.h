// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advice.h"
#include "analyse.h"
#include "call.h"
#include "mpa/recipe/make_recipe.h"
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
  std::int64_t crossings = 0;  ///< events that outlive one in which they begin
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
void serialize(Archive& archive, Timeline& timeline) {
  SerializeFields(archive, timeline);
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

constexpr CallKind LastOf(CallKind) { return CallKind::kRuntimeOnly; }
constexpr Engine LastOf(Engine) { return Engine::kUnknown; }
constexpr Phase LastOf(Phase) { return Phase::kCompile; }
constexpr KernelSource LastOf(KernelSource) { return KernelSource::kTime; }
constexpr Measure LastOf(Measure) { return Measure::kEpilogue; }

template <class Archive>
void serialize(Archive& archive, ChildRow& row) {
  SerializeFields(archive, row);
  if (row.calls < 1) Fail(ErrorKind::kCorrupt, "a sum over no calls");
}

template <class Archive>
void serialize(Archive& archive, AdviceRow& row) {
  SerializeFields(archive, static_cast<AdviceCard&>(row));
  archive(row.metric, row.value, row.threshold, row.calls, row.part, row.cost, row.exposed_per_step,
          row.is_compilation);
}

}  // namespace head
}  // namespace mpa

namespace mpa::head {

/// What a rank's head comes to, as lines of a screen: the answer first, behind it `spread`, what is
/// said of all ranks, then the tables it follows from. What does not fit into `room` lines is
/// counted in the last one. `rank` is how the rank is called: "rank 0".
ScreenLines HeadScreen(const HeadPart& part, std::string_view rank, std::string_view policy,
                       std::size_t room, const ScreenLines& spread = {});

/// Adds the sheets HEAD_CALL, HEAD_STEP, HEAD_SUMMARY, HEAD_CHILD, HEAD_ADVICE. Times are
/// nanoseconds, in workbooks microseconds. What is unknown is an empty cell.
void AddHeadSheets(const std::vector<OfRank<HeadPart>>& ranks, Report& report);

/// The position of the rank whose median head is the longest; the first one where none has a head.
std::size_t LongestHead(const std::vector<OfRank<HeadPart>>& ranks);

/// The spread of the heads over several ranks as lines of a screen: medians, exposed time, ranks
/// that stand out, ranks without calls of graphs. Nothing for one rank.
ScreenLines HeadSpreadLines(const std::vector<OfRank<HeadPart>>& ranks);

/// The call to picture: the one with the largest head among the calls of the phase, of the graph
/// that takes the most time. Empty when there is none.
std::optional<std::size_t> CallToPicture(const std::vector<Call>& calls,
                                         const std::vector<Scope>& scopes, Phase phase);

/// One call: its segments and the framework's events above what the device did. Empty for a call of
/// which only the start is known.
std::optional<Timeline> PictureOf(const HeadAnalysis& analysis, std::size_t call);

}  // namespace mpa::head
