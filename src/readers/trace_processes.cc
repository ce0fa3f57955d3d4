// SPDX-License-Identifier: Apache-2.0
#include "trace_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "trace_events.h"

namespace mpa::readers {
namespace {

// The process with most events; of several the least. Those of other ranks are counted.
class ProcessChoice {
 public:
  explicit ProcessChoice(const std::vector<DeviceEvent>& events) {
    for (const DeviceEvent& event : events) ++events_[event.pid];
  }

  void Offer(std::int64_t pid) { pids_.insert(pid); }
  std::optional<std::int64_t> Choose(std::string_view name, std::optional<std::int64_t> beside,
                                     Issues& issues) const {
    if (pids_.empty()) return std::nullopt;
    const auto weight = [&](std::int64_t pid) {
      const bool is_beside = beside && pid >> kViewerBits == *beside >> kViewerBits;
      return std::tuple{is_beside, is_beside && DeviceOf(pid) == DeviceOf(*beside), EventsOf(pid)};
    };
    const std::int64_t chosen = *std::ranges::max_element(
        pids_, [&](std::int64_t a, std::int64_t b) { return weight(a) < weight(b); });
    for (const std::int64_t pid : pids_) {
      if (pid == chosen || EventsOf(pid) == 0) continue;
      issues.Count(Promise::kOneDevice,
                   "events of another device or rank left out, the trace holds several",
                   Say("process {} \"{}\" with {} events, in place of {}", pid, name, EventsOf(pid),
                       chosen));
    }
    return chosen;
  }
  // The device of the process that was chosen, where the program has others on other devices.
  std::optional<std::int64_t> DeviceOfChoice(std::optional<std::int64_t> chosen) const {
    const bool is_choice = std::ranges::any_of(pids_, [&](std::int64_t pid) {
      return EventsOf(pid) > 0 && pid != *chosen && pid >> kViewerBits == *chosen >> kViewerBits;
    });
    return is_choice ? std::optional(DeviceOf(*chosen)) : std::nullopt;
  }
  // Those of the program that belong to the processes that were not chosen.
  std::set<std::int64_t> OtherOwners(std::optional<std::int64_t> chosen) const {
    std::set<std::int64_t> owners;
    for (const std::int64_t pid : pids_) {
      if (EventsOf(pid) > 0) owners.insert(pid >> kViewerBits);
    }
    if (chosen) owners.erase(*chosen >> kViewerBits);
    return owners;
  }

 private:
  std::int64_t EventsOf(std::int64_t pid) const {
    const auto found = events_.find(pid);
    return found == events_.end() ? 0 : found->second;
  }

  std::map<std::int64_t, std::int64_t> events_;
  std::set<std::int64_t> pids_;
};

// A thread of the communication process.
struct CommThread {
  std::int64_t tid = 0;
  std::string_view name;
  bool placed = true;  // the trace tells its place among the others
};

// In display order. Threads without a place come last, as they are numbered: the profiler numbers
// them in that order.
std::vector<CommThread> InDisplayOrder(const Processes& processes) {
  std::vector<std::pair<std::int64_t, CommThread>> placed;
  std::vector<CommThread> threads, others;
  for (const auto& [tid, name] : processes.comm_thread_names) {
    if (name.empty()) continue;
    const auto place = processes.comm_thread_places.find(tid);
    if (place == processes.comm_thread_places.end()) {
      others.push_back({tid, name, false});
    } else {
      placed.push_back({place->second, {tid, name}});
    }
  }
  StableSort(placed, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, thread] : placed) threads.push_back(thread);
  threads.insert(threads.end(), others.begin(), others.end());
  return threads;
}

}  // namespace

Processes FindProcesses(const std::vector<Metadata>& metadata,
                        const std::vector<DeviceEvent>& events, const StringPool& strings,
                        Issues& issues) {
  Processes found;
  ProcessChoice communication(events);
  ProcessChoice hardware = communication, overlap = communication;
  for (const Metadata& process : metadata) {
    if (process.kind != Metadata::Kind::kProcessName) continue;
    const std::string_view name = strings.View(process.value);
    if (name == "Communication" || name == "HCCL") communication.Offer(process.pid);
    if (name == "Ascend Hardware") hardware.Offer(process.pid);
    if (name == "Overlap Analysis") overlap.Offer(process.pid);
    const RuntimeProcess runtime = RuntimeProcessOf(name);
    if (runtime != RuntimeProcess::kNone) found.runtime[process.pid] = runtime;
  }
  found.hardware = hardware.Choose("Ascend Hardware", std::nullopt, issues);
  found.device = hardware.DeviceOfChoice(found.hardware);
  found.communication = communication.Choose("Communication", found.hardware, issues);
  found.overlap = overlap.Choose("Overlap Analysis", found.hardware, issues);
  found.other_owners = hardware.OtherOwners(found.hardware);
  for (const Metadata& thread : metadata) {
    if (thread.pid != found.communication) continue;
    const std::string_view value = strings.View(thread.value);
    if (thread.kind == Metadata::Kind::kThreadName) {
      found.comm_thread_names[thread.tid] = value;
    } else if (thread.kind == Metadata::Kind::kThreadSortIndex) {
      found.comm_thread_places[thread.tid] = IdFrom(value);
    }
  }
  return found;
}

CommThreads::CommThreads(const Processes& processes, RankTrace& trace) : trace_(trace) {
  bool guessed = false;
  for (const CommThread& thread : InDisplayOrder(processes)) {
    const bool is_group = thread.name.find("Communication") != std::string::npos;
    if (is_group) current_ = AddGroup(thread.name);
    groups_[thread.tid] = {is_group, is_group || current_ >= 0 ? current_ : UnknownGroup()};
    guessed = guessed || (!is_group && !thread.placed);
  }
  if (guessed) {
    trace.issues.Count(
        "order of the threads of collectives not recorded (thread_sort_index), their planes are"
        " given to groups by the numbers of the threads",
        "Communication");
  }
}

CommThreads::Place CommThreads::Of(std::int64_t tid) {
  const auto found = groups_.find(tid);
  return found != groups_.end() ? found->second : Place{false, UnknownGroup()};
}

std::int32_t CommThreads::AddGroup(std::string_view name) {
  const auto number = static_cast<std::int32_t>(trace_.comm_groups.Size());
  trace_.comm_groups.Append({.name = trace_.strings.Intern(name)});
  return number;
}

std::int32_t CommThreads::UnknownGroup() {
  if (unknown_ < 0) unknown_ = AddGroup(kUnknownGroup);
  return unknown_;
}

}  // namespace mpa::readers
