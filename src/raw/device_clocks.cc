// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "join_tasks.h"
#include "mpa/measure/quantiles.h"
#include "stages.h"

namespace mpa::raw {
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
    return ValueOfRank(delays, NearestRankAbove(delays.size(), 1));
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
    from = fmt::format("{} launches", compared.delays.size());
  } else {
    earlier = *std::ranges::min_element(compared.starts) - side.begin;
    from = "the begin of the collection";
  }
  Shift(earlier, side.clock);
  side.device_count_unknown = false;
  issues.Count(
      fmt::format("times of device_{0} are estimated from {1}, they may be off by what a "
                  "launch takes: its clock is not known (device_{0}/host_start.log, "
                  "dev_start.log, start_info, info.json); copy the capture again",
                  device, from),
      fmt::format("{:.3f} ms from what the control files say", static_cast<double>(earlier) / 1e6));
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
            issues.Count("core frequency left out, its time makes no sense", kStem);
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
