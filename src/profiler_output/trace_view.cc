// SPDX-License-Identifier: Apache-2.0
// trace_view.json: a Chrome trace, an array of events.
#include "trace_view.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "text_files.h"

namespace mpa::profiler_output {
namespace {

/// A row for each group, and below it one for each of its planes, in order of the first use.
std::vector<GroupRow> Groups(const raw::Session& session,
                             std::vector<std::int32_t>& group_of_collective) {
  const raw::Collectives& collectives = session.collectives;
  std::vector<GroupRow> groups;
  std::map<std::pair<std::int64_t, StringId>, std::int32_t> known;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    const auto [place, is_new] =
        known.try_emplace({collectives.device[i], collectives.group_name[i]},
                          static_cast<std::int32_t>(groups.size()));
    if (is_new) groups.push_back({collectives.device[i], collectives.group_name[i], 0, {}});
    group_of_collective.push_back(place->second);
  }
  std::set<std::pair<std::int32_t, std::int64_t>> planes;
  const raw::CollectiveParts& parts = session.parts;
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    const std::int32_t collective = parts.collective[i];
    if (collective < 0) continue;
    planes.emplace(group_of_collective[static_cast<std::size_t>(collective)],
                   std::max<std::int64_t>(parts.plane[i], 0));
  }
  for (const auto& [group, plane] : planes) {
    groups[static_cast<std::size_t>(group)].planes.push_back(plane);
  }
  std::int64_t thread = 0;
  for (GroupRow& group : groups) {
    group.thread = thread;
    thread += (group.planes.empty() ? -1 : group.planes.back()) + 2;
  }
  return groups;
}

}  // namespace

TraceSource::TraceSource(const raw::Session& s)
    : session(s), texts(s.strings), groups(Groups(s, group_of_collective)) {}

TracePlace TraceSource::TaskPlace(std::size_t task) const {
  const raw::Tasks& tasks = session.tasks;
  return {TraceProcess(session.info.process, Layer::kHardware, tasks.device[task]),
          tasks.stream[task], tasks.start[task]};
}

TracePlace TraceSource::CollectivePlace(std::size_t collective) const {
  const raw::Collectives& collectives = session.collectives;
  const auto group = static_cast<std::size_t>(group_of_collective[collective]);
  return {TraceProcess(session.info.process, Layer::kCommunication, collectives.device[collective]),
          groups[group].thread, collectives.start[collective]};
}

std::string DeviceRows(const raw::Session& session, std::span<const std::int64_t> devices,
                       std::string_view name, Layer layer) {
  std::string out;
  for (const std::int64_t device : Distinct(devices)) {
    PutProcess(out, TraceProcess(session.info.process, layer, device), name, DeviceLabel(device),
               layer);
  }
  return out;
}

std::vector<std::int64_t> Distinct(std::span<const std::int64_t> values) {
  std::set<std::int64_t> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == 0 || values[i] != values[i - 1]) found.insert(values[i]);
  }
  return {found.begin(), found.end()};
}

void WriteTraceView(const raw::Session& session, const std::filesystem::path& path) {
  const bool is_empty = session.ops.Empty() && session.queue.Empty() && session.python.Empty() &&
                        session.collections.Empty() && session.calls.Empty() &&
                        session.tasks.Empty() && session.marks.Empty() &&
                        session.frequencies.Empty() && session.device_memory.Empty() &&
                        session.traffic.Empty();
  if (is_empty) return;
  const TraceSource source(session);
  ChunkedFile file(path);
  file.Write("[");
  file.DropNext(2);  // the comma before the first event
  WriteFrameworkEvents(source, file);
  WriteHardwareEvents(source, file);
  WriteMarkEvents(source, file);
  WriteCommunicationEvents(source, file);
  WriteActivityEvents(source, file);
  WriteCounterEvents(source, file);
  WriteTrafficEvents(source, file);
  WriteCallEvents(source, file);
  WriteDeviceArrows(source, file);
  file.Write("]");
  file.Close();
}

}  // namespace mpa::profiler_output
