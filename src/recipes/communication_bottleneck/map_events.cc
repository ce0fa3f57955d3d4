// SPDX-License-Identifier: Apache-2.0
// What a rank keeps for the search of what made it late, and its events in few bytes.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "find_causes.h"
#include "mpa/base/error.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/model/step_bounds.h"
#include "mpa/recipe/arguments.h"

namespace mpa::bottleneck {
namespace {

// Seven bits in each byte, the lowest first; the eighth says that more follow.
void PutNumber(std::uint64_t number, std::string& bytes) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(0x80 | (number & 0x7f)));
  bytes.push_back(static_cast<char>(number));
}

class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}

  bool AtEnd() const { return bytes_.empty(); }
  std::uint64_t Next() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
    Fail(ErrorKind::kCorrupt, "the part holds events that break off");
  }

 private:
  std::string_view bytes_;
};

}  // namespace

void PackedEvents::Append(TimeNs start, TimeNs dur, std::string_view name) {
  const auto [found, is_new] =
      numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  // Unsigned numbers wrap, so that any bytes give some times.
  PutNumber(static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(last_start_), bytes_);
  PutNumber(static_cast<std::uint64_t>(dur), bytes_);
  PutNumber(found->second, bytes_);
  last_start_ = start;
}

std::vector<Event> PackedEvents::EndingBy(TimeNs end) const {
  std::vector<Event> events;
  NumberReader reader(bytes_);
  std::uint64_t start = 0;
  while (!reader.AtEnd()) {
    start += reader.Next();
    const std::uint64_t dur = reader.Next();
    const std::uint64_t name = reader.Next();
    if (name >= names_.size()) {
      Fail(ErrorKind::kCorrupt, "the part refers to a text that it does not contain");
    }
    const Event event{static_cast<TimeNs>(start), static_cast<TimeNs>(dur),
                      static_cast<std::uint32_t>(name)};
    if (!IsTime(event.start) || !IsDuration(event.dur)) {
      Fail(ErrorKind::kCorrupt, "the part holds an event at no time");
    }
    if (event.start + event.dur <= end) events.push_back(event);
  }
  return events;
}

// What a rank keeps for the search of what made it late.
namespace {

std::vector<bool> AreInStep(const RankRuns& runs, const RankTrace& trace,
                            const std::optional<std::int32_t>& chosen) {
  std::vector<bool> in_step(runs.rows.size(), true);
  if (!chosen) return in_step;
  const StepBounds steps(trace, kAsRecorded);
  const auto step = steps.Find(*chosen);
  for (std::size_t i = 0; i < in_step.size(); ++i) {
    const RankRuns::Row& row = runs.rows[i];
    const auto operation = static_cast<std::size_t>(row.operation);
    in_step[i] = steps.OfDeviceWork(trace.communications.link[operation], row.start) == step;
  }
  return in_step;
}

std::vector<LaunchedTask> TasksOf(const RankTrace& trace) {
  std::vector<LaunchedTask> tasks;
  for (const Dispatch& dispatch : FindDispatches(trace)) {
    if (dispatch.call < 0 || dispatch.op < 0 || IsDeviceCopy(dispatch.work.category)) continue;
    const auto call = static_cast<std::size_t>(dispatch.call);
    const auto op = static_cast<std::size_t>(dispatch.op);
    if (trace.strings.View(trace.host_calls.name[call]) != "Node@launch") continue;
    const TimeNs called = trace.host_calls.start[call];
    tasks.push_back({dispatch.work.begin, dispatch.work.end,
                     called - (trace.host_ops.start[op] + trace.host_ops.dur[op]),
                     dispatch.work.begin - (called + trace.host_calls.dur[call])});
  }
  return tasks;
}

// Rows of several tables, to be packed in order of start.
class EventList {
 public:
  template <typename Table>
  void Add(const Table& table, std::size_t row, StringId name) {
    events_.push_back({table.start[row], table.dur[row], name});
  }

  template <typename NameOf>
  PackedEvents Pack(NameOf name_of) {
    StableSort(events_, {}, &Item::start);
    PackedEvents packed;
    for (const Item& event : events_) packed.Append(event.start, event.dur, name_of(event.name));
    return packed;
  }

 private:
  struct Item {
    TimeNs start, dur;
    StringId name;
  };
  std::vector<Item> events_;
};

PackedEvents DeviceEvents(const RankTrace& trace) {
  EventList list;
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    list.Add(trace.kernels, i, trace.kernels.name[i]);
  }
  for (std::size_t i = 0; i < trace.communications.Size(); ++i) {
    list.Add(trace.communications, i, trace.communications.name[i]);
  }
  for (const std::size_t copy : MemoryCopies(trace)) {
    list.Add(trace.device_tasks, copy, trace.device_tasks.name[copy]);
  }
  return list.Pack([&](StringId name) { return trace.strings.View(name); });
}

PackedEvents FrameworkEvents(const RankTrace& trace) {
  EventList list;
  for (std::size_t i = 0; i < trace.host_ops.Size(); ++i) {
    const StringId name = trace.host_ops.name[i];
    if (trace.strings.View(name).find("::") != std::string_view::npos) {
      list.Add(trace.host_ops, i, name);
    }
  }
  return list.Pack([&](StringId name) { return trace.strings.View(name); });
}

// "node@launch" for Node@launch, "acl@aclnnAdd" for AscendCL@aclnnAdd: databases name the levels
// so.
std::string WithDatabaseLevel(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kLevels[] = {{"AscendCL@", "acl@"},
                                                                       {"Model@", "model@"},
                                                                       {"Node@", "node@"},
                                                                       {"Hccl@", "hccl@"},
                                                                       {"Runtime@", "runtime@"}};
  for (const auto& [shown, recorded] : kLevels) {
    if (name.starts_with(shown)) return std::string(recorded).append(name.substr(shown.size()));
  }
  return std::string(name);
}

PackedEvents RuntimeEvents(const RankTrace& trace) {
  EventList list;
  for (std::size_t i = 0; i < trace.host_calls.Size(); ++i) {
    list.Add(trace.host_calls, i, trace.host_calls.name[i]);
  }
  return list.Pack([&](StringId name) { return WithDatabaseLevel(trace.strings.View(name)); });
}

}  // namespace

RankEvents MapEvents(const RankTrace& trace, const RecipeArguments& arguments) {
  RankRuns runs = CommunicationRuns(trace);
  const std::optional<std::int32_t> step = ChosenStep(trace.steps, arguments);
  std::vector<bool> in_step = AreInStep(runs, trace, step);
  return {std::move(runs),     LoadOfRank(trace, step), std::move(in_step),  TasksOf(trace),
          DeviceEvents(trace), FrameworkEvents(trace),  RuntimeEvents(trace)};
}

}  // namespace mpa::bottleneck
