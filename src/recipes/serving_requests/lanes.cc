// SPDX-License-Identifier: Apache-2.0
// Batches one after the other, and what lies between them.
#include "lanes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/quantiles.h"

namespace mpa::recipes::serving_requests {
namespace {

Intervals CoveredBy(const std::vector<const Span*>& spans) {
  std::vector<Interval> intervals;
  for (const Span* span : spans) {
    if (span->dur > 0) intervals.push_back({span->start, span->End()});
  }
  return Union(std::move(intervals));
}

// True if most of the spans run the same batch as one of `known`, at the same time.
bool RunTheSame(const std::vector<const Span*>& spans, const std::vector<const Span*>& known) {
  std::size_t same = 0;
  for (const Span* span : spans) {
    const TimeNs middle = span->start + span->dur / 2;
    const auto after = std::ranges::upper_bound(known, middle, {}, &Span::start);
    if (after == known.begin()) continue;
    const Span& other = **std::prev(after);
    if (other.End() >= middle && other.prefill_requests == span->prefill_requests &&
        other.decode_requests == span->decode_requests)
      ++same;
  }
  return 2 * same > spans.size();
}

// The ranks of a model run the same batch at the same time: of these the process with most spans
// stands for all, of several the first. Processes that run other batches are kept, too.
std::vector<const Span*> OfOneProcess(const std::vector<const Span*>& spans) {
  std::map<int, std::vector<const Span*>> by_process;
  for (const Span* span : spans) by_process[span->process].push_back(span);
  constexpr std::size_t kMostProcesses = 256;  // of one data parallel rank
  if (by_process.size() < 2 || by_process.size() > kMostProcesses) return spans;
  std::vector<const std::vector<const Span*>*> processes, kept;
  for (const auto& [process, of_process] : by_process) processes.push_back(&of_process);
  StableSort(processes, [](const auto* a, const auto* b) { return a->size() > b->size(); });
  for (const auto* process : processes) {
    const bool is_known =
        std::ranges::any_of(kept, [&](const auto* known) { return RunTheSame(*process, *known); });
    if (!is_known) kept.push_back(process);
  }
  std::vector<const Span*> all;
  for (const auto* process : kept) all.insert(all.end(), process->begin(), process->end());
  StableSort(all, [](const Span* a, const Span* b) { return a->start < b->start; });
  return all;
}

// The time of an executed batch behind its last forward pass.
TimeNs TimeBehindForwards(const Lane& lane) {
  TimeNs time = 0;
  std::size_t next = 0;
  for (const Span* step : lane.steps) {
    TimeNs last = -1;
    for (; next < lane.forwards.size() && lane.forwards[next]->start < step->End(); ++next) {
      const Span& forward = *lane.forwards[next];
      if (forward.start >= step->start && forward.End() <= step->End())
        last = std::max(last, forward.End());
    }
    if (last >= 0) time += step->End() - last;
  }
  return time;
}

Intervals ActiveTimes(const ServerPart& server, const Lane& lane, Interval window) {
  std::vector<Interval> times;
  for (const Request& request : server.requests) {
    if (request.start < 0 || request.dur <= 0) continue;
    if (lane.dp_rank >= 0 && request.dp_rank >= 0 && request.dp_rank != lane.dp_rank) continue;
    times.push_back({request.start, request.start + request.dur});
  }
  const Intervals whole = {window};
  return times.empty() ? whole : Intersection(Union(std::move(times)), whole);
}

TimeNs LengthOf(const std::vector<const Span*>& spans) {
  TimeNs length = 0;
  for (const Span* span : spans) length += span->dur;
  return length;
}

void Account(const ServerPart& server, Lane& lane) {
  LaneTimes& times = lane.times;
  times.all_schedules = LengthOf(lane.schedules);
  times.all_steps = LengthOf(lane.steps);
  times.schedules = lane.schedules.size();
  times.steps = lane.steps.size();
  const Intervals ran = CoveredBy(lane.steps), scheduled = CoveredBy(lane.schedules);
  const Intervals all = Union(ran, scheduled), sampled = CoveredBy(lane.samples);
  if (ran.empty()) return;
  lane.active = ActiveTimes(server, lane, {all.front().begin, all.back().end});
  const auto active = [&](const Intervals& part) {
    return Length(Intersection(part, lane.active));
  };
  times.active = Length(lane.active);
  times.ran = active(ran);
  times.scheduled = active(Difference(scheduled, ran));
  times.sampled = active(Difference(sampled, all));
  times.idle = times.active - times.ran - times.scheduled - times.sampled;
  times.all_samples = sampled.empty() ? TimeBehindForwards(lane) : Length(sampled);
  for (const Span* span : lane.schedules) {
    if (2 * LengthWithin(ran, {span->start, span->End()}) >= span->dur) ++times.hidden_schedules;
  }
}

std::vector<Lane> LanesOf(const ServerPart& server, std::size_t instance) {
  std::set<int> ranks;
  std::map<int, int> rank_of_process;
  for (const Span& span : server.spans) {
    if (span.dp_rank < 0) continue;
    ranks.insert(span.dp_rank);
    rank_of_process.try_emplace(span.process, span.dp_rank);
  }
  if (ranks.empty()) ranks.insert(-1);
  std::map<int, Lane> lanes;
  std::map<int, std::vector<const Span*>> runners;
  for (const int rank : ranks)
    lanes[rank] = {.instance = instance, .dp_rank = rank, .name = server.name};
  for (const Span& span : server.spans) {
    int rank = span.dp_rank;
    if (rank < 0) {
      // A span that says nothing is of the only rank, or of that of its process.
      const auto known = rank_of_process.find(span.process);
      if (ranks.size() == 1)
        rank = *ranks.begin();
      else if (known != rank_of_process.end())
        rank = known->second;
    }
    const auto found = lanes.find(rank);
    if (found == lanes.end()) continue;
    Lane& lane = found->second;
    if (span.kind == ServerSpan::kSchedule) lane.schedules.push_back(&span);
    if (span.kind == ServerSpan::kExecute) lane.steps.push_back(&span);
    if (span.kind == ServerSpan::kRunner) runners[rank].push_back(&span);
    if (span.kind == ServerSpan::kForward) lane.forwards.push_back(&span);
    if (span.kind == ServerSpan::kSample) lane.samples.push_back(&span);
  }
  std::vector<Lane> result;
  for (auto& [rank, lane] : lanes) {
    if (lane.steps.empty()) lane.steps = std::move(runners[rank]);
    lane.steps = OfOneProcess(lane.steps);
    lane.forwards = OfOneProcess(lane.forwards);
    lane.samples = OfOneProcess(lane.samples);
    // Without batches that run there are at least the forward passes.
    if (lane.steps.empty()) lane.steps = std::exchange(lane.forwards, {});
    Account(server, lane);
    result.push_back(std::move(lane));
  }
  return result;
}

}  // namespace

LaneTimes& LaneTimes::operator+=(const LaneTimes& other) {
  for (TimeNs LaneTimes::*time : {&LaneTimes::active, &LaneTimes::ran, &LaneTimes::scheduled,
                                  &LaneTimes::sampled, &LaneTimes::idle, &LaneTimes::all_schedules,
                                  &LaneTimes::all_steps, &LaneTimes::all_samples})
    this->*time += other.*time;
  schedules += other.schedules;
  hidden_schedules += other.hidden_schedules;
  steps += other.steps;
  return *this;
}

TimeNs Lane::MedianStep() const {
  std::vector<TimeNs> lengths;
  for (const Span* step : steps) lengths.push_back(step->dur);
  return Median(std::move(lengths));
}

std::vector<Lane> LanesOf(const Servers& servers) {
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    for (Lane& lane : LanesOf(*servers[i], i)) lanes.push_back(std::move(lane));
  }
  return lanes;
}

Intervals WaitingTimes(const ServerPart& server) {
  std::vector<Interval> times;
  for (const Request& request : server.requests) {
    if (request.start < 0 || request.queued <= 0) continue;
    const TimeNs end =
        request.scheduled > request.start ? request.scheduled : request.start + request.queued;
    times.push_back({std::max(request.start, end - request.queued), end});
  }
  return Union(std::move(times));
}

}  // namespace mpa::recipes::serving_requests
