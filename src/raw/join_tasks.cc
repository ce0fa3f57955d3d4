// SPDX-License-Identifier: Apache-2.0
#include "join_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/measure/quantiles.h"
#include "stages.h"
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
  issues.Count(Say("{} of {} tasks of device_{} have no launch on the host, kernels among them are"
                   " left out: {} would tell; copy the capture again",
                   lost, tasks_, device_.id,
                   lacks_flips ? fmt::format("device_{}/ts_track.data", device_.id)
                               : Say("host/task_track, or host/context_id_info for groups,")),
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
        session_(session),
        ran_(host.tasks.size(), false) {}

  void Add(const Device& device, const Clock& clock, const DeviceLog& log) {
    const auto groups = Groups(log.tasks);
    PartnerCount partners(device);
    for (const DeviceTask& task : log.tasks) {
      Tasks::Row row{{.start = clock.DeviceNs(task.start), .model = kNoModel},
                     {.end = clock.DeviceNs(task.end)}};
      const bool plausible = clock.IsPlausible(row.start) && clock.IsPlausible(row.end);
      const auto id = static_cast<std::uint64_t>(device.id);
      std::int32_t host_task = launches_.Find(id, task, row.start);
      if (host_task >= 0) ran_[static_cast<std::size_t>(host_task)] = true;
      if (plausible && row.end < device.begin) continue;
      if (!plausible || !IsRange(row.start, row.end)) {
        session_.issues.Count("device task left out, its times are invalid", "task log");
        continue;
      }
      const double exact = clock.DeviceDuration(task.start, task.end);
      row.dur = std::llround(exact);
      row.dur_rest = exact - static_cast<double>(row.dur);
      row.device_type = session_.strings.Intern(DeviceTypeName(device.generation, task));
      row.device = device.id;
      row.stream = task.stream;
      row.task_id = task.task;
      row.batch = task.batch;
      row.context = task.context;
      row.group = task.context == kWholeTask && groups.contains(GroupKey(task));
      if (host_task >= 0 && !contexts_.Describes(host_task, task.context)) host_task = -1;
      if (host_task >= 0) AddHostSide(host_task, row);
      partners.Add(task, row, host_task >= 0);
      session_.tasks.Append(row);
      origins_.host_task.push_back(host_task);
    }
    partners.Tell(host_, log, session_.issues);
  }

  // Kernels and copies of which no device has a task, but for those that a graph recorded for its
  // replays.
  void ListUnanswered() {
    for (std::size_t i = 0; i < ran_.size(); ++i) {
      const HostTask& launch = host_.tasks[i];
      if (ran_[i] || host_.capture.ModelOf(launch) != kNoModel) continue;
      const std::string_view type = session_.strings.View(
          dictionary_.TypeName(static_cast<std::uint32_t>(Level::kRuntime), launch.type));
      if (type.starts_with("KERNEL_AI") || type.starts_with("KERNEL_MIX") ||
          type.starts_with("MEMCPY"))
        session_.unanswered_launches.push_back(launch.time);
    }
  }

  TaskOrigins Sorted() && {
    Tasks& tasks = session_.tasks;
    std::vector<std::size_t> order(tasks.Size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      return std::make_tuple(tasks.start[i], tasks.device[i], tasks.stream[i], tasks.task_id[i],
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
  }

  const HostSide& host_;
  const LaunchIndex& launches_;
  ContextMatcher contexts_;
  Dictionary& dictionary_;
  Session& session_;
  std::vector<bool> ran_;  // by launch
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
  joiner.ListUnanswered();
  return std::move(joiner).Sorted();
}

namespace {

constexpr TimeNs kEarlyLaunch = 1'000'000;  // clocks are not read more precisely
constexpr TimeNs kOutside = 100'000'000;    // of the collection
constexpr std::size_t kSamples = 4096;      // of the tasks of a device

bool SameTask(const DeviceTask& a, const DeviceTask& b) {
  return a.stream == b.stream && a.task == b.task && a.batch == b.batch && a.context == b.context;
}

// Tasks as times on a clock that may be wrong.
struct Comparison {
  std::vector<TimeNs> delays;  ///< from launch to start, of tasks with one launch
  std::vector<TimeNs> starts;

  TimeNs Fastest() {
    // The first one may belong to another task of the same number.
    return ValueAtPosition(delays, PercentileIndexAbove(delays.size(), 1));
  }
};

Comparison Compare(const LaunchIndex& launches, std::int64_t device,
                   const std::vector<DeviceTask>& tasks, const Clock& clock) {
  Comparison compared;
  const std::size_t step = std::max<std::size_t>(tasks.size() / kSamples, 1);
  for (std::size_t i = 0; i < tasks.size(); i += step) {
    const DeviceTask& task = tasks[i];
    const TimeNs start = clock.DeviceNs(task.start);
    compared.starts.push_back(start);
    const bool repeated = (i > 0 && SameTask(tasks[i - 1], task)) ||
                          (i + 1 < tasks.size() && SameTask(task, tasks[i + 1]));
    if (repeated || task.context != kWholeTask) continue;
    const TimeNs launch = launches.OnlyTime(static_cast<std::uint64_t>(device), task);
    if (launch >= 0 && clock.IsPlausible(launch)) compared.delays.push_back(start - launch);
  }
  return compared;
}

template <typename Predicate>
bool Most(const std::vector<TimeNs>& values, Predicate predicate) {
  const auto count = std::ranges::count_if(values, predicate);
  return static_cast<std::size_t>(count) * 2 > values.size();
}

bool IsPossible(const Comparison& compared, const Side& side) {
  if (Most(compared.delays, [](TimeNs delay) { return delay < -kEarlyLaunch; })) return false;
  return !Most(compared.starts, [&](TimeNs start) {
    return start < side.begin - kOutside || (side.end >= 0 && start > side.end + kOutside);
  });
}

// Moves all times of the device back by this amount.
void Shift(TimeNs earlier, Clock& clock) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const Int128 ticks = static_cast<Int128>(earlier) * clock.device_hertz / kNsPerSecond;
  clock.device_count += static_cast<std::int64_t>(ticks);
}

}  // namespace

void CheckDeviceClock(const LaunchIndex& launches, std::int64_t device,
                      const std::vector<DeviceTask>& tasks, Side& side, Issues& issues) {
  Comparison compared = Compare(launches, device, tasks, side.clock);
  if (compared.starts.empty()) return;
  if (!side.device_count_unknown && IsPossible(compared, side)) return;
  std::string from;
  TimeNs earlier = 0;
  if (!compared.delays.empty()) {
    earlier = compared.Fastest();
    from = Say("{} launches", compared.delays.size());
  } else {
    earlier = *std::ranges::min_element(compared.starts) - side.begin;
    from = Translated("the begin of the collection");
  }
  Shift(earlier, side.clock);
  side.device_count_unknown = false;
  issues.Count(
      Say("times of device_{0} are estimated from {1}, they may be off by what a launch"
          " takes: its clock is unknown (device_{0}/host_start.log, dev_start.log,"
          " start_info, info.json); copy the capture again",
          device, from),
      Say("{:.3f} ms from what the control files say", static_cast<double>(earlier) / 1e6));
}

namespace {

constexpr std::size_t kFrequencyRecordSize = 888;
constexpr std::uint32_t kSamplesOfRecord = 55;

struct Sample {
  std::uint64_t count = 0;  // device counter
  std::uint32_t mhz = 0;
};

/// In order of time.
std::vector<Sample> ReadSamples(const DataFiles& files, const Clock& clock, Issues& issues) {
  constexpr std::string_view kStem = "lpmFreqConv.data";
  std::vector<Sample> samples;
  ForEachDeviceRecord<kFrequencyRecordSize>(
      files, kStem, kNoMagic, issues, [&](const Record<kFrequencyRecordSize>& record) {
        const std::uint32_t count = std::min(record.U32(0), kSamplesOfRecord);
        if (count != record.U32(0))
          issues.Count("core frequency left out, a record has too many", kStem);
        for (std::uint32_t i = 0; i < count; ++i) {
          const std::size_t at = 8 + std::size_t{i} * 16;
          const Sample sample{.count = record.U64(at), .mhz = record.U32(at + 8)};
          if (!clock.IsPlausible(clock.DeviceNs(sample.count))) {
            issues.Count("core frequency left out, its time is invalid", kStem);
          } else if (sample.mhz == 0) {
            issues.Count("core frequency left out, it is zero", kStem);
          } else {
            samples.push_back(sample);
          }
        }
      });
  std::ranges::stable_sort(samples, {}, &Sample::count);
  return samples;
}

/// The chips that can change the clock: without records theirs holds the nominal value.
bool ChangesClock(std::int64_t platform) { return platform == 5 || platform == 7; }

}  // namespace

void ReadFrequencies(const DataFiles& files, const Side& side, const Device& device,
                     Session& session) {
  const std::vector<Sample> samples = ReadSamples(files, side.clock, session.issues);
  if (samples.empty() && !ChangesClock(device.platform)) return;
  std::int64_t before = device.cube_mhz;
  std::size_t first = 0;
  for (; first < samples.size() && side.clock.DeviceNs(samples[first].count) < side.begin;
       ++first) {
    before = samples[first].mhz;
  }
  session.core_clocks.Append({.start = side.begin, .mhz = before, .device = device.id});
  for (std::size_t i = first; i < samples.size(); ++i) {
    session.core_clocks.Append({.start = side.clock.DeviceNs(samples[i].count),
                                .mhz = samples[i].mhz,
                                .device = device.id});
  }
}

}  // namespace mpa::raw
