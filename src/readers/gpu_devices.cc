// SPDX-License-Identifier: Apache-2.0
// Traces that hold the work of several devices, or of several processes.
#include <fmt/format.h>

#include <map>
#include <set>

#include "gpu_launches.h"

namespace mpa::readers {
namespace {

bool IsOfOneDevice(const GpuWork& work) {
  std::int64_t device = -1;
  for (const auto* events : {&work.kernels, &work.communications, &work.tasks}) {
    if (events->empty()) continue;
    if (device < 0) device = events->front().device;
    for (const CorrelatedEvent& event : *events) {
      if (event.device != device) return false;
    }
  }
  return true;
}

// Keeps the rows of a table, and their events, for which keep(event) holds.
template <typename Table, typename Keep>
void KeepRows(std::vector<CorrelatedEvent>& events, Table& table, Keep keep) {
  table.Filter([&](std::size_t row) { return keep(events[row]); });
  std::erase_if(events, [&](const CorrelatedEvent& event) { return !keep(event); });
}

template <typename Keep>
void KeepWork(GpuWork& work, RankTrace& trace, Keep keep) {
  KeepRows(work.kernels, trace.kernels, keep);
  KeepRows(work.communications, trace.communications, keep);
  KeepRows(work.tasks, trace.device_tasks, keep);
}

// The number with most pieces of work; of several the least. Also counts those of the others.
template <typename NumberOf>
std::int64_t Most(const GpuWork& work, std::map<std::int64_t, std::int64_t>& pieces,
                  NumberOf number_of) {
  for (const auto* events : {&work.kernels, &work.communications, &work.tasks}) {
    for (const CorrelatedEvent& event : *events) {
      const std::int64_t number = number_of(event);
      if (number >= 0) ++pieces[number];
    }
  }
  std::int64_t most = -1;
  for (const auto& [number, count] : pieces) {
    if (most < 0 || count > pieces[most]) most = number;
  }
  return most;
}

}  // namespace

void KeepOneDevice(const GpuLaunches& launches, std::string_view file_name, GpuWork& work,
                   RankTrace& trace) {
  const auto count = [&](std::string_view what, std::string_view kind, auto of_other,
                         std::int64_t kept) {
    trace.issues.Count(what, fmt::format("{}: {} {} with {} pieces of work, in place of {}",
                                         file_name, kind, of_other.first, of_other.second, kept));
  };
  std::map<std::int64_t, std::int64_t> pieces;
  if (IsOfOneDevice(work) && launches.HasOneProcess()) return;
  const auto device_of = [](const CorrelatedEvent& event) { return event.device; };
  const std::int64_t device = Most(work, pieces, device_of);
  if (pieces.size() > 1) {
    for (const auto& other : pieces) {
      if (other.first == device) continue;
      count("work of another device left out, the trace holds several", "device", other, device);
    }
    KeepWork(work, trace, [&](const CorrelatedEvent& event) { return event.device == device; });
  }
  const auto process_of = [&](const CorrelatedEvent& event) {
    const auto host = launches.Find(event);
    return host ? host->pid : -1;
  };
  if (launches.HasOneProcess()) return;
  pieces.clear();
  const std::int64_t process = Most(work, pieces, process_of);
  if (pieces.size() < 2) return;
  std::set<std::int64_t> others;
  for (const auto& other : pieces) {
    if (other.first == process) continue;
    others.insert(other.first);
    count("work of another process left out, the trace holds several ranks", "process", other,
          process);
  }
  KeepWork(work, trace,
           [&](const CorrelatedEvent& event) { return !others.contains(process_of(event)); });
  DropProcesses(others, trace);
}

}  // namespace mpa::readers
