// SPDX-License-Identifier: Apache-2.0
#include "device_timeline.h"

#include <algorithm>
#include <numeric>

#include "host_events.h"

namespace mpa::head {

DeviceTimeline::DeviceTimeline(std::vector<Run> runs, std::int64_t device)
    : runs_(std::move(runs)), device_(device) {
  std::stable_sort(runs_.begin(), runs_.end(),
                   [](const Run& a, const Run& b) { return a.start < b.start; });
  next_kernel_.assign(runs_.size() + 1, runs_.size());
  std::vector<Interval> intervals;
  for (std::size_t i = runs_.size(); i-- > 0;) {
    next_kernel_[i] = runs_[i].is_update ? next_kernel_[i + 1] : i;
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    intervals.push_back({runs_[i].start, runs_[i].end});
    if (runs_[i].connection >= 0) by_connection_.emplace_back(runs_[i].connection, i);
    if (runs_[i].model >= 0) by_model_.emplace_back(runs_[i].model, i);
  }
  // Runs are numbered in order of start, so the pairs are in order of key and start.
  std::sort(by_connection_.begin(), by_connection_.end());
  std::sort(by_model_.begin(), by_model_.end());
  busy_ = Union(std::move(intervals));
  TimeNs sum = 0;
  for (const Interval& interval : busy_) {
    busy_before_.push_back(sum);
    sum += interval.end - interval.begin;
  }
  FindBursts();
}

// Busy time before `time`.
TimeNs DeviceTimeline::BusyUntil(TimeNs time) const {
  const auto after = std::partition_point(busy_.begin(), busy_.end(),
                                          [&](const Interval& busy) { return busy.begin < time; });
  if (after == busy_.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - busy_.begin()) - 1;
  return busy_before_[last] + std::min(time, busy_[last].end) - busy_[last].begin;
}

TimeNs DeviceTimeline::Idle(TimeNs from, TimeNs to) const {
  if (to <= from) return 0;
  return to - from - (BusyUntil(to) - BusyUntil(from));
}

TimeNs DeviceTimeline::Idle(const Intervals& spans, TimeNs until) const {
  TimeNs idle = 0;
  for (const Interval& span : spans) idle += Idle(span.begin, std::min(span.end, until));
  return idle;
}

std::optional<TimeNs> DeviceTimeline::LastBusyBefore(TimeNs time) const {
  const auto after = std::partition_point(busy_.begin(), busy_.end(),
                                          [&](const Interval& busy) { return busy.begin < time; });
  if (after == busy_.begin()) return std::nullopt;
  return std::min(std::prev(after)->end, time);
}

std::optional<std::size_t> DeviceTimeline::FirstFrom(TimeNs time, bool kernels_only) const {
  const auto at = std::partition_point(runs_.begin(), runs_.end(),
                                       [&](const Run& run) { return run.start < time; });
  auto run = static_cast<std::size_t>(at - runs_.begin());
  if (kernels_only) run = next_kernel_[run];
  return run < runs_.size() ? std::optional(run) : std::nullopt;
}

std::optional<std::size_t> DeviceTimeline::FirstOf(const Keyed& keyed, std::int64_t key,
                                                   TimeNs time, bool kernels_only) const {
  auto at = std::partition_point(keyed.begin(), keyed.end(), [&](const auto& entry) {
    return entry.first < key || (entry.first == key && runs_[entry.second].start < time);
  });
  // Few runs of one key are refreshes, so this does not go far.
  while (kernels_only && at != keyed.end() && at->first == key && runs_[at->second].is_update) ++at;
  if (at == keyed.end() || at->first != key) return std::nullopt;
  return at->second;
}

std::optional<std::size_t> DeviceTimeline::FirstOfModel(std::int64_t model, TimeNs time,
                                                        bool kernels_only) const {
  return FirstOf(by_model_, model, time, kernels_only);
}

std::optional<std::size_t> DeviceTimeline::FirstOfConnection(std::int64_t connection, TimeNs time,
                                                             bool kernels_only) const {
  return FirstOf(by_connection_, connection, time, kernels_only);
}

bool DeviceTimeline::HasConnection(std::int64_t connection) const {
  const auto found = std::lower_bound(by_connection_.begin(), by_connection_.end(),
                                      std::pair{connection, std::size_t{0}});
  return found != by_connection_.end() && found->first == connection;
}

void DeviceTimeline::FindBursts() {
  for (auto first = by_model_.begin(); first != by_model_.end();) {
    const std::int64_t model = first->first;
    std::vector<std::size_t> kernels;
    for (; first != by_model_.end() && first->first == model; ++first) {
      if (!runs_[first->second].is_update) kernels.push_back(first->second);
    }
    if (kernels.empty()) continue;
    const StringId first_name = runs_[kernels.front()].name;
    const StringId last_name = runs_[kernels.back()].name;
    std::vector<std::size_t>& bursts = bursts_[model];
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const bool begins = runs_[kernels[i]].name == first_name &&
                          (i == 0 || runs_[kernels[i - 1]].name == last_name);
      if (begins) bursts.push_back(kernels[i]);
    }
    all_bursts_.insert(all_bursts_.end(), bursts.begin(), bursts.end());
  }
  std::sort(all_bursts_.begin(), all_bursts_.end());
}

const std::vector<std::size_t>& DeviceTimeline::BurstsOf(std::int64_t model) const {
  static const std::vector<std::size_t> kNone;
  const auto found = bursts_.find(model);
  return found != bursts_.end() ? found->second : kNone;
}

DeviceTimelines::DeviceTimelines(const RankTrace& trace) {
  const DeviceRuns& runs = trace.device_runs;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<DeviceTimeline::Run>> groups;
  for (std::size_t i = 0; i < runs.Size(); ++i) {
    groups[{runs.pid[i], runs.device[i]}].push_back(
        {runs.start[i], runs.start[i] + runs.dur[i], runs.connection[i], runs.model[i],
         runs.stream[i], runs.name[i], IsParameterUpdate(trace.strings.View(runs.name[i])),
         runs.kind[i] == DeviceRunKind::kCollective});
  }
  for (auto& [owner, of_owner] : groups) {
    of_pid_.try_emplace(owner.first, timelines_.size());
    timelines_.emplace_back(std::move(of_owner), owner.second);
  }
}

const DeviceTimeline* DeviceTimelines::Of(std::int64_t pid) const {
  const auto found = of_pid_.find(pid);
  if (found != of_pid_.end()) return &timelines_[found->second];
  const bool owner_unknown = timelines_.size() == 1 && of_pid_.begin()->first < 0;
  return owner_unknown ? timelines_.data() : nullptr;
}

}  // namespace mpa::head
