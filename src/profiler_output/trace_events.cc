// SPDX-License-Identifier: Apache-2.0
#include "trace_events.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "mpa/base/utf8.h"

namespace mpa::profiler_output {
namespace {

bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  });
}

}  // namespace

void AppendEscaped(std::string& out, std::string_view text) {
  if (IsPlain(text)) {
    out += text;
  } else {
    const std::string quoted = nlohmann::json(ValidUtf8(text)).dump();
    out.append(quoted, 1, quoted.size() - 2);
  }
}

void AppendEscapedList(std::string& out, std::string_view list) {
  while (true) {
    const std::size_t end = list.find(';');
    AppendEscaped(out, list.substr(0, end));
    if (end == std::string_view::npos) return;
    out += R"(;\r\n)";
    list.remove_prefix(end + 1);
  }
}

JsonTexts::JsonTexts(const StringPool& strings) {
  views_.reserve(strings.Size());
  for (std::uint32_t id = 0; id < strings.Size(); ++id) {
    const std::string_view text = strings.View(StringId{id});
    if (IsPlain(text)) {
      views_.push_back(text);
    } else {
      AppendEscaped(escaped_.emplace_back(), text);
      views_.push_back(escaped_.back());
    }
  }
}

std::uint64_t TraceProcess(std::int64_t process, Layer layer, std::int64_t device) {
  // Bits of their own for layer and device; numbers of 32 bits, as viewers expect them.
  return (static_cast<std::uint64_t>(process) << 10 | static_cast<std::uint64_t>(layer) << 5 |
          static_cast<std::uint64_t>(device)) &
         0xFFFFFFFF;
}

void PutLaunchArrow(std::string& out, char phase, std::uint64_t connection,
                    const TracePlace& place) {
  const std::uint64_t id = connection << 32;
  Put(out, R"(, {"ph": ")", std::string_view(&phase, 1), R"(", )");
  // Only the end tells that it belongs to the event around it, not to the next one.
  if (phase == 'f') out += R"("bp": "e", )";
  Put(out, R"("name": "HostToDevice)", id, R"(", "id": ")", id, R"(", "pid": )", place.process,
      R"(, "tid": )", place.thread, R"(, "ts": ")", Micros{place.time},
      R"(", "cat": "HostToDevice"})");
}

void PutProcess(std::string& out, std::uint64_t process, std::string_view name,
                std::string_view label, Layer layer) {
  std::string escaped;
  AppendEscaped(escaped, name);
  Put(out, R"(, {"ph": "M", "name": "process_name", "pid": )", process,
      R"(, "tid": 0, "args": {"name": ")", escaped, R"("}})");
  Put(out, R"(, {"ph": "M", "name": "process_labels", "pid": )", process,
      R"(, "tid": 0, "args": {"labels": ")", label, R"("}})");
  Put(out, R"(, {"ph": "M", "name": "process_sort_index", "pid": )", process,
      R"(, "tid": 0, "args": {"sort_index": )", static_cast<std::uint32_t>(layer), "}}");
}

void PutThread(std::string& out, std::uint64_t process, std::int64_t thread, std::string_view name,
               std::int64_t order) {
  std::string escaped;
  AppendEscaped(escaped, name);
  Put(out, R"(, {"ph": "M", "name": "thread_name", "pid": )", process, R"(, "tid": )", thread,
      R"(, "args": {"name": ")", escaped, R"("}})");
  Put(out, R"(, {"ph": "M", "name": "thread_sort_index", "pid": )", process, R"(, "tid": )", thread,
      R"(, "args": {"sort_index": )", order, "}}");
}

std::string DeviceLabel(std::int64_t device) { return "NPU " + std::to_string(device); }

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
  return {Process(Layer::kHardware, tasks.device[task]), tasks.stream[task], tasks.start[task]};
}

TracePlace TraceSource::CollectivePlace(std::size_t collective) const {
  const raw::Collectives& collectives = session.collectives;
  const auto group = static_cast<std::size_t>(group_of_collective[collective]);
  return {Process(Layer::kCommunication, collectives.device[collective]), groups[group].thread,
          collectives.start[collective]};
}

std::string DeviceRows(const TraceSource& source, std::span<const std::int64_t> devices,
                       std::string_view name, Layer layer) {
  std::string out;
  for (const std::int64_t device : Distinct(devices)) {
    PutProcess(out, source.Process(layer, device), name, DeviceLabel(device), layer);
  }
  return out;
}

std::string HostRows(const TraceSource& source, std::span<const std::int64_t> threads,
                     std::string_view name, Layer layer) {
  std::string out;
  const std::uint64_t process = source.Process(layer, kHost);
  PutProcess(out, process, name, "CPU", layer);
  for (const std::int64_t thread : Distinct(threads)) {
    PutThread(out, process, thread, "Thread " + std::to_string(thread), thread);
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

}  // namespace mpa::profiler_output
