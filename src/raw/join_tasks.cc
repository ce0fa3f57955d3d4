// SPDX-License-Identifier: Apache-2.0
#include "join_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_set>

#include "time_order.h"

namespace mpa::raw {

std::uint64_t TaskKey(std::uint64_t device, std::uint32_t stream, std::uint16_t batch,
                      std::uint32_t task, bool wide) {
  if (wide) return device << 52 | task;
  return device << 52 | std::uint64_t{stream & 0xFFFFFu} << 32 | std::uint64_t{batch} << 16 |
         (task & 0xFFFFu);
}

LaunchIndex::LaunchIndex(const std::vector<HostTask>& launches, bool wide)
    : launches_(launches), wide_(wide) {
  entries_.reserve(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const HostTask& task = launches[i];
    entries_.push_back({TaskKey(task.device, task.stream, task.batch, task.task, wide),
                        static_cast<std::int32_t>(i)});
  }
  std::ranges::sort(entries_);
}

std::int32_t LaunchIndex::Find(std::uint64_t device, const DeviceTask& task, TimeNs start) const {
  const std::uint64_t key = TaskKey(device, task.stream, task.batch, task.task, wide_);
  auto found = std::lower_bound(entries_.begin(), entries_.end(), Entry{key, 0});
  if (found == entries_.end() || found->first != key) return -1;
  // Records of one key are in order of time.
  const auto last = std::partition_point(found + 1, entries_.end(), [&](const Entry& entry) {
    return entry.first == key && launches_[static_cast<std::size_t>(entry.second)].time <= start;
  });
  return (last - 1)->second;
}

TimeNs LaunchIndex::OnlyTime(std::uint64_t device, const DeviceTask& task) const {
  const std::uint64_t key = TaskKey(device, task.stream, task.batch, task.task, wide_);
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), Entry{key, 0});
  if (found == entries_.end() || found->first != key) return -1;
  const auto next = found + 1;
  if (next != entries_.end() && next->first == key) return -1;
  return launches_[static_cast<std::size_t>(found->second)].time;
}

void PartnerCount::Add(const DeviceTask& task, const Tasks::Row& row, bool has_partner) {
  ++tasks_;
  Stream& stream = streams_[task.stream];
  if (!has_partner) {
    stream.lonely.push_back(row.start);
  } else if (stream.first_launched < 0 || row.start < stream.first_launched) {
    stream.first_launched = row.start;
  }
}

void PartnerCount::Tell(const HostSide& host, const DeviceLog& log, Issues& issues) const {
  std::size_t lost = 0;
  for (const auto& [number, stream] : streams_) {
    const TimeNs first_launched = stream.first_launched;
    if (first_launched < 0) continue;
    lost += static_cast<std::size_t>(
        std::ranges::count_if(stream.lonely, [=](TimeNs start) { return start > first_launched; }));
  }
  if (host.tasks.empty()) lost = tasks_;
  if (lost == 0) return;
  const bool wrapped =
      std::ranges::any_of(host.tasks, [](const HostTask& task) { return task.batch > 0; });
  const bool lacks_flips = wrapped && !log.has_flips;
  issues.Count(
      fmt::format("{} of {} tasks of device_{} have no launch on the host, kernels among them are "
                  "left out: {} would tell; copy the capture again",
                  lost, tasks_, device_.id,
                  lacks_flips ? fmt::format("device_{}/ts_track.data", device_.id)
                              : "host/task_track, or host/context_id_info for groups,"),
      lacks_flips ? "their ids wrapped" : "no record with their stream and id");
}

// Joins what ran on the device with what the host launched: by stream, batch and task id.

namespace {

bool IsMix(std::string_view type) { return type == "KERNEL_MIX_AIC" || type == "KERNEL_MIX_AIV"; }

// Whether the host record describes the context of an FFTS+ group.
class ContextMatcher {
 public:
  ContextMatcher(const HostSide& host, Dictionary& dictionary, const StringPool& strings)
      : host_(host), dictionary_(dictionary), strings_(strings) {}

  bool Describes(std::int32_t host_task, std::uint32_t context) {
    if (context == kWholeTask) return true;
    const auto row = static_cast<std::size_t>(host_task);
    const std::int32_t call = host_.call_of_task[row];
    if (call < 0) return IsMixContext(row, context);
    const auto at = static_cast<std::size_t>(call);
    if (host_.tree.communication[at] >= 0) return true;
    const std::int32_t node = host_.tree.outer_node[at];
    if (!host_.contexts_by_id.Of(node, context).empty()) return true;
    return node < 0 && IsMixContext(row, context);
  }

 private:
  // Without an operator around it a mixed kernel is context 0.
  bool IsMixContext(std::size_t row, std::uint32_t context) {
    constexpr auto kRuntime = static_cast<std::uint32_t>(Level::kRuntime);
    return context == 0 &&
           IsMix(strings_.View(dictionary_.TypeName(kRuntime, host_.tasks[row].type)));
  }

  const HostSide& host_;
  Dictionary& dictionary_;
  const StringPool& strings_;
};

// Assembles the rows of session.tasks.
class Joiner {
 public:
  Joiner(const HostSide& host, const LaunchIndex& launches, Dictionary& dictionary,
         Session& session)
      : host_(host),
        launches_(launches),
        contexts_(host, dictionary, session.strings),
        dictionary_(dictionary),
        session_(session) {}

  void Add(const Device& device, const Clock& clock, const DeviceLog& log) {
    const auto groups = Groups(log.tasks);
    PartnerCount partners(device);
    for (const DeviceTask& task : log.tasks) {
      Tasks::Row row{.start = clock.DeviceNs(task.start), .end = clock.DeviceNs(task.end)};
      const bool plausible = clock.IsPlausible(row.start) && clock.IsPlausible(row.end);
      if (plausible && row.end < device.begin) continue;
      if (!plausible || !IsRange(row.start, row.end)) {
        session_.issues.Count("device task left out, its times make no sense", "task log");
        continue;
      }
      row.dur = clock.DeviceDuration(task.start, task.end);
      row.device_type = session_.strings.Intern(DeviceTypeName(device.generation, task));
      row.device = device.id;
      row.stream = task.stream;
      row.task = task.task;
      row.batch = task.batch;
      row.context = task.context;
      row.group = task.context == kWholeTask && groups.contains(GroupKey(task));
      const auto id = static_cast<std::uint64_t>(device.id);
      std::int32_t host_task = launches_.Find(id, task, row.start);
      if (host_task >= 0 && !contexts_.Describes(host_task, task.context)) host_task = -1;
      if (host_task >= 0) AddHostSide(host_task, row);
      partners.Add(task, row, host_task >= 0);
      session_.tasks.Append(row);
      origins_.host_task.push_back(host_task);
    }
    partners.Tell(host_, log, session_.issues);
  }

  TaskOrigins Sorted() && {
    Tasks& tasks = session_.tasks;
    std::vector<std::size_t> order(tasks.Size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      return std::make_tuple(tasks.start[i], tasks.device[i], tasks.stream[i], tasks.task[i],
                             tasks.context[i], tasks.end[i]);
    };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return tasks.start[a] != tasks.start[b] ? tasks.start[a] < tasks.start[b] : key(a) < key(b);
    });
    tasks.Reorder(order);
    TaskOrigins sorted;
    sorted.host_task.reserve(order.size());
    for (const std::size_t i : order) sorted.host_task.push_back(origins_.host_task[i]);
    return sorted;
  }

 private:
  static std::uint64_t GroupKey(const DeviceTask& task) {
    return TaskKey(0, task.stream, task.batch, task.task, false);
  }
  // The tasks that have contexts.
  static std::unordered_set<std::uint64_t> Groups(const std::vector<DeviceTask>& tasks) {
    std::unordered_set<std::uint64_t> groups;
    for (const DeviceTask& task : tasks) {
      if (task.context != kWholeTask) groups.insert(GroupKey(task));
    }
    return groups;
  }

  void AddHostSide(std::int32_t host_task, Tasks::Row& row) {
    const auto at = static_cast<std::size_t>(host_task);
    const HostTask& record = host_.tasks[at];
    row.host_type = dictionary_.TypeName(static_cast<std::uint32_t>(Level::kRuntime), record.type);
    if (record.function != 0) row.function = dictionary_.Text(record.function);
    row.stream = record.stream;
    row.thread = record.thread;
    row.issued = record.time;
    row.model = host_.capture.ModelOf(record);
    const std::int32_t call = host_.call_of_task[at];
    if (call < 0) return;
    const auto innermost = static_cast<std::size_t>(call);
    const std::int32_t node = host_.tree.node[innermost];
    row.call = node >= 0 ? node : call;
    const std::int32_t model = host_.tree.model[innermost];
    if (model < 0) return;
    const auto model_call = static_cast<std::size_t>(model);
    row.model = static_cast<std::int64_t>(session_.calls.item_id[model_call] &
                                          std::numeric_limits<std::int64_t>::max());
    row.request = session_.calls.request[model_call];
  }

  const HostSide& host_;
  const LaunchIndex& launches_;
  ContextMatcher contexts_;
  Dictionary& dictionary_;
  Session& session_;
  TaskOrigins origins_;
};

}  // namespace

TaskOrigins JoinTasks(ControlFiles& files, const std::vector<DeviceLog>& logs, const HostSide& host,
                      Dictionary& dictionary, Session& session) {
  const std::vector<Device>& devices = session.info.devices;
  const bool wide = !devices.empty() && devices.front().generation == Generation::kStarsV6;
  const LaunchIndex launches(host.tasks, wide);
  Joiner joiner(host, launches, dictionary, session);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    CheckDeviceClock(launches, devices[i].id, logs[i].tasks, files.devices[i], session.issues);
    joiner.Add(devices[i], files.devices[i].clock, logs[i]);
  }
  return std::move(joiner).Sorted();
}

}  // namespace mpa::raw
