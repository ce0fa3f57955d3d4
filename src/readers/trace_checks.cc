// SPDX-License-Identifier: Apache-2.0
#include "trace_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"

namespace mpa::readers {
namespace {

std::string Micros(TimeNs time) { return fmt::format("{}.{:03} us", time / 1000, time % 1000); }

}  // namespace

void CheckLaunchers(RankTrace& trace) {
  const Launches& launches = trace.launches;
  std::vector<std::pair<TimeNs, std::int32_t>> begins;
  for (std::size_t i = 0; i < launches.Size(); ++i)
    begins.emplace_back(launches.host_time[i], launches.host_track[i]);
  std::ranges::sort(begins);
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::vector<bool> found(begins.size());
  const HostOps& ops = trace.host_ops;
  // Operators come by and large in order of time.
  std::size_t at = 0;
  for (std::size_t i = 0; i < ops.Size() && !begins.empty(); ++i) {
    const std::pair begin(ops.start[i], ops.track[i]);
    while (at < begins.size() && begins[at] < begin) ++at;
    while (at > 0 && (at == begins.size() || begins[at] > begin) && begins[at - 1] >= begin) --at;
    if (at < begins.size() && begins[at] == begin) found[at] = true;
  }
  const auto lost = static_cast<std::size_t>(std::ranges::count(found, false));
  constexpr std::size_t kFew = 2;  // operators that began before the window
  if (lost <= std::max(kFew, begins.size() / 100)) return;
  const auto first = std::ranges::find(found, false) - found.begin();
  trace.issues.Count(Promise::kTablesAgree,
                     "operators that launched work were lost, it is of no operator; copy or parse"
                     " the capture again",
                     Say("{} of {} launches, the first at {}", lost, begins.size(),
                         Micros(begins[static_cast<std::size_t>(first)].first)));
}

void CheckQueue(const std::vector<QueueEvent>& events, Issues& issues) {
  struct Halves {
    const QueueEvent* asked = nullptr;
    const QueueEvent* done = nullptr;
  };
  std::map<std::int64_t, Halves> pairs;
  for (const QueueEvent& event : events) {
    const QueueEvent*& half = event.is_work ? pairs[event.id].done : pairs[event.id].asked;
    if (half != nullptr && half->start == event.start && half->dur == event.dur &&
        half->tid == event.tid) {
      issues.Count(Promise::kOnceEach,
                   "row left out, it was written twice; parse the capture again if there are many",
                   "trace_view.json");
    }
    half = &event;
  }
  TimeNs first_done = std::numeric_limits<TimeNs>::max();
  TimeNs last_asked = std::numeric_limits<TimeNs>::min();
  bool any = false;
  for (const auto& [id, pair] : pairs) {
    if (pair.asked == nullptr || pair.done == nullptr) continue;
    any = true;
    first_done = std::min(first_done, pair.done->start);
    last_asked = std::max(last_asked, pair.asked->start);
  }
  std::size_t lost = 0;
  TimeNs place = 0;
  for (const auto& [id, pair] : pairs) {
    const bool is_edge = pair.asked == nullptr  ? pair.done->start < first_done
                         : pair.done == nullptr ? pair.asked->start > last_asked
                                                : true;
    if (is_edge && any) continue;
    if (lost++ == 0) place = (pair.asked == nullptr ? pair.done : pair.asked)->start;
  }
  constexpr std::size_t kFew = 1;  // without a pair nothing tells where the edges are
  if (lost == 0 || (!any && lost <= kFew)) return;
  issues.Count(
      Promise::kArrowsHaveEnds,
      "work of the task queue lacks the event that asked for it or did it; parse again",
      Say("trace_view.json: {} of {}, the first at {}", lost, pairs.size(), Micros(place)));
}

void CheckProcesses(const std::vector<DeviceEvent>& events, Processes& found, RankTrace& trace) {
  std::set<std::int64_t> programs;
  for (const std::int32_t track : trace.host_ops.track) {
    if (track >= 0) programs.insert(trace.tracks.pid[static_cast<std::size_t>(track)]);
    if (programs.size() > 1) break;
  }
  const bool is_nameless = !found.hardware;
  std::map<std::int64_t, std::int64_t> tasks, activities, collectives;
  for (const DeviceEvent& event : events) {
    if (programs.contains(event.pid)) {
      trace.issues.Count(Promise::kCategoriesKnown,
                         "event of the program left out, it has no category; parse again",
                         Say("trace_view.json: \"{}\" at {}",
                             Printable(trace.strings.View(event.name)), Micros(event.start)));
    }
    if (!is_nameless) continue;
    const std::string_view name = trace.strings.View(event.name);
    if (!trace.strings.View(event.type).empty()) ++tasks[event.pid];
    if (name == "Computing" || name == "Communication(Not Overlapped)") ++activities[event.pid];
    if (name.starts_with("hcom_")) ++collectives[event.pid];
  }
  if (!is_nameless || tasks.empty()) return;
  const auto most = [](const std::map<std::int64_t, std::int64_t>& counts) {
    return std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })
        ->first;
  };
  found.hardware = most(tasks);
  if (!found.overlap && !activities.empty()) found.overlap = most(activities);
  if (!found.communication && !collectives.empty()) found.communication = most(collectives);
  trace.issues.Count(Promise::kCategoriesKnown,
                     "names of processes are missing, what they hold is guessed by their events;"
                     " parse again",
                     Say("trace_view.json: process {}", *found.hardware));
}

}  // namespace mpa::readers
