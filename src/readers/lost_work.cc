// SPDX-License-Identifier: Apache-2.0
// Launches of which the device has no work.
#include "lost_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/measure/intervals.h"

namespace mpa::readers {
namespace {

// When graphs were captured. A capture that the trace shows one end of reaches to its own.
Intervals CapturesIn(const std::vector<RuntimeCall>& calls) {
  std::vector<std::pair<TimeNs, bool>> ends;  // and whether a capture begins
  for (const RuntimeCall& call : calls) {
    const bool begins = call.kind == CallKind::kCaptureBegins;
    if (begins || call.kind == CallKind::kCaptureEnds) ends.emplace_back(call.place.start, begins);
  }
  std::ranges::sort(ends);
  Intervals captures;
  TimeNs begin = std::numeric_limits<TimeNs>::min();
  bool is_open = !ends.empty() && !ends.front().second;
  for (const auto& [time, begins] : ends) {
    if (begins && !is_open) begin = time;
    if (!begins && is_open) captures.push_back({begin, time});
    is_open = begins;
  }
  if (is_open) captures.push_back({begin, std::numeric_limits<TimeNs>::max()});
  return Union(std::move(captures));
}

template <typename Visit>
void VisitWork(const GpuWork& work, Visit visit) {
  for (const auto* events : {&work.kernels, &work.communications, &work.tasks}) {
    for (const CorrelatedEvent& event : *events) visit(event);
  }
}

// The numbers of all work, in order.
std::vector<std::int64_t> NumbersOf(const GpuWork& work) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(work.kernels.size() + work.communications.size() + work.tasks.size());
  VisitWork(work, [&](const CorrelatedEvent& event) {
    if (event.correlation >= 0) numbers.push_back(event.correlation);
  });
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

void FindLostWork(const GpuLaunches& launches, const std::vector<RuntimeCall>& calls,
                  const GpuWork& work, std::string_view file_name, TrackNumbers& tracks,
                  RankTrace& trace) {
  const std::vector<std::int64_t> numbers = NumbersOf(work);
  std::vector<const RuntimeCall*> lost;
  for (const RuntimeCall& call : calls) {
    const bool launches_work =
        call.kind == CallKind::kLaunch || call.kind == CallKind::kGraphLaunch;
    if (!launches_work) continue;
    const bool has_work =
        call.correlation >= 0 && std::ranges::binary_search(numbers, call.correlation);
    if (!has_work) lost.push_back(&call);
  }
  if (lost.empty()) return;
  const Intervals captures = CapturesIn(calls);
  std::erase_if(lost, [&](const auto* call) { return Contains(captures, call->place.start); });
  if (lost.empty()) return;
  std::set<EventPlace> sources;
  std::vector<TimeNs> alone_at;  // work without a launch
  std::size_t all = 0;
  VisitWork(work, [&](const CorrelatedEvent& event) {
    const auto source = launches.Find(event);
    if (source) sources.insert(*source);
    if (!source) alone_at.push_back(event.place.start);
    ++all;
  });
  std::erase_if(lost, [&](const auto* call) { return sources.contains(call->place); });
  if (lost.empty()) return;
  TimeNs first_lost = std::numeric_limits<TimeNs>::max();
  for (const RuntimeCall* call : lost) first_lost = std::min(first_lost, call->place.start);
  // What began before was queued before the capture.
  std::erase_if(alone_at, [&](TimeNs time) { return time < first_lost; });
  const std::size_t alone = alone_at.size();
  if (alone >= lost.size()) {  // their work is there
    trace.issues.Count(Promise::kWorkHasLaunch,
                       "work of the device without a launch in the trace, and launches without"
                       " work: they lack the numbers that they share, operators lack its time",
                       Say("{}: {} of {} pieces of work", file_name, alone, all));
    return;
  }

  std::size_t surplus = 0;
  const RuntimeCall* first = nullptr;
  for (const RuntimeCall& call : calls) {
    if (call.kind != CallKind::kLaunch || call.correlation < 0) continue;
    const auto [begin, end] = std::equal_range(numbers.begin(), numbers.end(), call.correlation);
    if (end - begin < 2) continue;
    surplus += static_cast<std::size_t>(end - begin) - 1;
    if (first == nullptr || call.place.start < first->place.start) first = &call;
  }
  if (surplus >= lost.size()) {
    for (std::size_t i = 0; i < lost.size(); ++i) {
      trace.issues.Count(
          Promise::kOneLaunchOneNumber,
          "kernels share the number of one launch, and another launch has none:"
          " operators have the time of others; collect again with another version"
          " of the profiler",
          Say("{}: number {} at {} us", file_name, first->correlation, first->place.start / 1000));
    }
    return;
  }
  for (const RuntimeCall* call : lost) {
    trace.unanswered_launches.Append(
        {.time = call->place.start, .track = tracks.Of(call->place.pid, call->place.tid)});
  }
}

}  // namespace mpa::readers
