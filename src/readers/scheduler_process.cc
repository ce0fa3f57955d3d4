// SPDX-License-Identifier: Apache-2.0
#include "scheduler_process.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"

namespace mpa::readers {
namespace {

namespace fs = std::filesystem;

struct MappedThread {
  std::int32_t inside = -1;   // its number in the container
  std::int32_t process = -1;  // its process, as the machine numbers it
};
using Mapping = std::map<std::int32_t, MappedThread>;  // by number on the machine

// pid_mapping.json, or the only file of such a name; empty: none.
fs::path MappingBeside(const fs::path& trace) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(trace.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == "pid_mapping.json") return it->path();
    if (name.starts_with("pid_mapping") && name.ends_with(".json")) found.push_back(it->path());
  }
  return found.size() == 1 ? found.front() : fs::path();
}

std::int32_t NumberIn(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = io::Member(object, key);
  const auto number = value.is_string() ? io::ParseInt(value.get_ref<const std::string&>())
                      : value.is_number_integer() ? std::optional(value.get<std::int64_t>())
                                                  : std::nullopt;
  constexpr std::int64_t kMost = 1 << 30;
  return number && *number > 0 && *number < kMost ? static_cast<std::int32_t>(*number) : -1;
}

Mapping ReadMapping(const fs::path& path, Issues& issues) {
  Mapping mapping;
  if (path.empty()) return mapping;
  try {
    const nlohmann::json document = io::ReadJson(path);
    for (const auto& [key, value] : document.items()) {
      const auto number = io::ParseInt(key);
      constexpr std::int64_t kMost = 1 << 30;
      if (!number || *number <= 0 || *number >= kMost) continue;
      const MappedThread thread{NumberIn(value, "NSpid"), NumberIn(value, "Tgid")};
      if (thread.inside > 0) mapping[static_cast<std::int32_t>(*number)] = thread;
    }
  } catch (const Error& error) {
    issues.Count(
        "pid_mapping.json cannot be read: which threads are those of the rank's container"
        " is unknown; copy it again",
        error.what());
  }
  return mapping;
}

template <typename Rows>
void AddTracks(const Rows& rows, std::set<std::int32_t>& tracks) {
  std::int32_t last = -1;
  for (const std::int32_t track : rows) {
    if (track >= 0 && track != last) tracks.insert(track);
    last = track;
  }
}

}  // namespace

std::vector<std::int32_t> HostTracks(const RankTrace& trace) {
  std::set<std::int32_t> tracks;
  AddTracks(trace.host_ops.track, tracks);
  AddTracks(trace.python_calls.track, tracks);
  AddTracks(trace.host_calls.track, tracks);
  AddTracks(trace.queued_work.track, tracks);
  AddTracks(trace.queued_work.queued_track, tracks);
  std::erase_if(tracks, [&](std::int32_t track) {
    return static_cast<std::size_t>(track) >= trace.tracks.Size();
  });
  return {tracks.begin(), tracks.end()};
}

OwnThreads FindOwnThreads(const fs::path& path, const SchedulerEvents& events, RankTrace& trace) {
  const Mapping mapping = ReadMapping(MappingBeside(path), trace.issues);
  std::map<std::int64_t, std::vector<std::int32_t>> on_machine;  // by number in a container
  for (const auto& [number, thread] : mapping) on_machine[thread.inside].push_back(number);
  OwnThreads own;
  std::set<std::int32_t> processes;
  for (const std::int32_t track : HostTracks(trace)) {
    const std::int64_t id = trace.tracks.tid[static_cast<std::size_t>(track)];
    constexpr std::int64_t kMost = 1 << 30;
    if (id <= 0 || id >= kMost) continue;
    auto number = static_cast<std::int32_t>(id);
    if (!mapping.empty()) {
      const auto found = on_machine.find(id);
      // Of several containers with such a thread it is not known which is the rank's.
      if (found == on_machine.end() || found->second.size() > 1) continue;
      number = found->second.front();
      if (mapping.at(number).process > 0) processes.insert(mapping.at(number).process);
    }
    own[number] = id;
    if (const auto process = events.process_of.find(number); process != events.process_of.end())
      processes.insert(process->second);
  }
  for (const auto& [number, process] : events.process_of) {
    if (!processes.contains(process)) continue;
    const auto inside = mapping.find(number);
    own.try_emplace(number, inside == mapping.end() ? number : inside->second.inside);
  }
  return own;
}

}  // namespace mpa::readers
