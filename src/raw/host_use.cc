// SPDX-License-Identifier: Apache-2.0
// What the program uses of its machine: processors, memory, disks and network cards, as the
// profiler copied it from the files of the kernel and the output of iotop. An interval begins with
// the sample before; the profiler's own parser puts values there, too.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/io/numbers.h"
#include "sample_lines.h"
#include "stages.h"

namespace mpa::raw {
namespace {

constexpr double kPercentOfOne = 100;

// Samples of what is counted by name: of threads, of network cards.
template <typename Key, typename Value>
struct HostSample {
  std::optional<TimeNs> time{};
  std::map<Key, Value> of{};
};

class HostUseReader {
 public:
  HostUseReader(const DataFiles& files, const Side& host, const HostSetup& setup, Session& session)
      : files_(files), host_(host), setup_(setup), session_(session) {}

  void Read() {
    ReadProcessors();
    ReadMemory();
    ReadDisks();
    ReadNetwork();
  }

 private:
  // The stamps are of the monotonic clock, whatever the other records of the host use.
  std::optional<TimeNs> TimeOf(std::string_view text) const {
    const auto ns = CountIn(text);
    if (!ns || !IsTime(*ns)) return std::nullopt;
    const TimeNs time = *ns + host_.clock.offset;
    if (!IsTime(time) || !host_.clock.IsPlausible(time)) return std::nullopt;
    return time;
  }

  void Add(TimeNs time, HostUseKind kind, double value, std::int64_t processor = -1) {
    if (time < host_.begin) return;
    session_.traffic.host.Append(
        {.time = time, .kind = kind, .processor = processor, .value = value});
  }

  // Counts that samples cannot be understood without a number of info.json or sample.json.
  bool Knows(bool known, std::string_view stem, std::string_view what) {
    if (known) return true;
    if (files_.Has(stem)) session_.issues.Count(what, stem);
    return false;
  }

  // A thread: ticks of its processor time, and the processor on which it ran last.
  struct ThreadTime {
    std::int64_t ticks = 0, processor = 0;
  };
  struct ProcessorSample : HostSample<std::int64_t, ThreadTime> {
    std::optional<double> uptime{};  // s
  };

  // "time 12345", then the line of /proc/uptime, then those of /proc/PID/task/TID/stat.
  void ReadProcessors() {
    constexpr std::string_view kStem = "host_cpu.data";
    if (!Knows(setup_.ticks_per_second > 0 && setup_.processors > 0, kStem,
               ToTranslate(
                   "samples of processors left out, info.json has no cpuNums and sysClockFreq")))
      return;
    ProcessorSample before, now;
    std::vector<std::string_view> columns;
    ForEachLine(files_, kStem, session_.issues, [&](std::string_view line) {
      if (line.starts_with("time")) {
        AddProcessors(before, now);
        before = std::exchange(now, {});
        Split(line, columns);
        if (columns.size() > 1) now.time = TimeOf(columns[1]);
        return now.time.has_value();
      }
      if (!now.time) return true;  // its time has been counted
      if (now.uptime) return ReadThread(line, columns, now);
      Split(line, columns);
      const auto hundredths = io::ScaledDecimal(columns[0], 2);
      if (hundredths && *hundredths >= 0) now.uptime = static_cast<double>(*hundredths) / 100;
      return now.uptime.has_value();
    });
    AddProcessors(before, now);
  }

  // The name of a thread stands in parentheses and may hold blanks and more of these.
  static bool ReadThread(std::string_view line, std::vector<std::string_view>& columns,
                         ProcessorSample& sample) {
    const std::size_t begin = line.find('('), end = line.rfind(')');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
      return false;
    Split(line.substr(0, begin), columns);
    const auto thread = columns.empty() ? std::nullopt : CountIn(columns.back());
    Split(line.substr(end + 1), columns);  // from the third on
    constexpr std::size_t kUserTime = 11, kSystemTime = 12, kProcessor = 36;
    if (!thread || columns.size() <= kProcessor) return false;
    const auto user = CountIn(columns[kUserTime]), system = CountIn(columns[kSystemTime]);
    const auto processor = CountIn(columns[kProcessor]);
    constexpr std::int64_t kMostTicks = std::int64_t{1} << 60, kMostProcessors = 1 << 16;
    if (!user || !system || !processor || *user > kMostTicks || *system > kMostTicks ||
        *processor >= kMostProcessors)
      return false;
    sample.of[*thread] = {*user + *system, *processor};
    return true;
  }

  void AddProcessors(const ProcessorSample& before, const ProcessorSample& now) {
    if (!before.uptime || !now.uptime || *now.uptime <= *before.uptime) return;
    const double ticks =
        (*now.uptime - *before.uptime) * static_cast<double>(setup_.ticks_per_second);
    std::map<std::int64_t, double> of_processor;
    double all = 0;
    for (const auto& [thread, times] : now.of) {
      const auto last = before.of.find(thread);
      if (last == before.of.end()) continue;
      const auto used = static_cast<double>(times.ticks - last->second.ticks);
      const double ran = std::clamp(used, 0.0, ticks);
      of_processor[times.processor] += ran;
      all += ran;
    }
    for (const auto& [processor, ran] : of_processor) {
      // A thread that moved brought the time of another processor along.
      if (ran <= ticks)
        Add(*before.time, HostUseKind::kProcessor, kPercentOfOne * ran / ticks, processor);
    }
    Add(*before.time, HostUseKind::kProcessor,
        kPercentOfOne * all / (ticks * static_cast<double>(setup_.processors)));
  }

  // The time, then the line of /proc/PID/statm: pages of 4 KB, of which the second column are
  // resident.
  void ReadMemory() {
    constexpr std::string_view kStem = "host_mem.data";
    if (!Knows(setup_.memory_kb > 0, kStem,
               ToTranslate("samples of the host's memory left out, info.json has no memoryTotal")))
      return;
    std::optional<TimeNs> before;
    ForEachSampleLine(files_, kStem, session_.issues, [&](Columns columns) {
      const auto time = TimeOf(columns[0]);
      const auto pages = columns.size() >= 3 ? CountIn(columns[2]) : std::nullopt;
      if (!time || !pages) return false;
      constexpr double kPageKb = 4;
      if (before)
        Add(*before, HostUseKind::kMemory,
            kPercentOfOne * kPageKb * static_cast<double>(*pages) /
                static_cast<double>(setup_.memory_kb));
      before = time;
      return true;
    });
  }

  // "12.50" and "K/s".
  static std::optional<double> RateOf(std::string_view number, std::string_view unit) {
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"B/s", 1}, {"K/s", 1 << 10}, {"M/s", 1 << 20}, {"G/s", 1 << 30}};
    const auto found =
        std::ranges::find(kUnits, unit, [](const auto& known) { return known.first; });
    const auto value = io::ScaledDecimal(number, 2);
    if (found == std::end(kUnits) || !value || *value < 0) return std::nullopt;
    return static_cast<double>(*value) / 100 * found->second;
  }

  // "start_time 12345", then the lines of iotop: time, process, priority, user, read, written,
  // swapped, waited. They have no usable time of their own but a fixed rate.
  void ReadDisks() {
    constexpr std::string_view kStem = "host_disk.data";
    if (!Knows(setup_.disk_hertz > 0, kStem,
               ToTranslate("samples of disks left out, sample.json has no host_disk_freq")))
      return;
    std::optional<TimeNs> start;
    std::int64_t samples = 0;
    std::vector<std::string_view> columns;
    ForEachLine(files_, kStem, session_.issues, [&](std::string_view line) {
      Split(line, columns);
      if (columns[0] == "start_time") {
        start = columns.size() > 1 ? TimeOf(columns[1]) : std::nullopt;
        return start.has_value();
      }
      // Each output of iotop has a heading.
      if (columns.size() < 2 || !CountIn(columns[1]) || !start) return true;
      const TimeNs time = *start + TicksToNs(samples, setup_.disk_hertz);
      ++samples;
      const auto read = columns.size() >= 8 ? RateOf(columns[4], columns[5]) : std::nullopt;
      const auto written = columns.size() >= 8 ? RateOf(columns[6], columns[7]) : std::nullopt;
      if (!read || !written) return false;
      Add(time, HostUseKind::kDiskRead, *read);
      Add(time, HostUseKind::kDiskWrite, *written);
      // Kernels without accounting of tasks say "unavailable".
      constexpr std::size_t kWaited = 10;
      if (columns.size() <= kWaited || line.find("unavailable") != std::string_view::npos) {
        Add(time, HostUseKind::kDisk, -1);
        return true;
      }
      const auto waited = io::ScaledDecimal(columns[kWaited], 2);
      if (!waited || *waited < 0) return false;
      Add(time, HostUseKind::kDisk, static_cast<double>(*waited) / 100);
      return true;
    });
  }

  using NetworkSample = HostSample<std::string, std::pair<std::int64_t, std::int64_t>>;  // rx, tx

  // "time 12345", then the lines of /proc/net/dev.
  void ReadNetwork() {
    constexpr std::string_view kStem = "host_network.data";
    if (!Knows(!setup_.cards.empty(), kStem,
               ToTranslate(
                   "samples of the host's network left out, info.json has no speed of a netCard")))
      return;
    NetworkSample before, now;
    std::vector<std::string_view> columns;
    ForEachLine(files_, kStem, session_.issues, [&](std::string_view line) {
      Split(line, columns);
      if (columns[0].starts_with("time")) {
        AddNetwork(before, now);
        before = std::exchange(now, {});
        if (columns.size() > 1) now.time = TimeOf(columns[1]);
        return now.time.has_value();
      }
      constexpr std::size_t kReceived = 1, kSent = 9, kColumns = 12;
      if (columns.size() < kColumns || !columns[0].ends_with(':')) return true;  // a heading
      const std::string_view card = columns[0].substr(0, columns[0].size() - 1);
      if (!setup_.cards.contains(card)) return true;
      const auto received = CountIn(columns[kReceived]), sent = CountIn(columns[kSent]);
      if (!received || !sent) return false;
      now.of[std::string(card)] = {*received, *sent};
      return true;
    });
    AddNetwork(before, now);
  }

  void AddNetwork(const NetworkSample& before, const NetworkSample& now) {
    if (!before.time || !now.time || *now.time <= *before.time) return;
    double bytes = 0, speed = 0;
    for (const auto& [card, counts] : now.of) {
      const auto last = before.of.find(card);
      if (last == before.of.end()) continue;
      const double rx = static_cast<double>(counts.first) - static_cast<double>(last->second.first);
      const double tx =
          static_cast<double>(counts.second) - static_cast<double>(last->second.second);
      if (rx < 0 || tx < 0) continue;  // it was reset
      bytes += rx + tx;
      speed += setup_.cards.find(card)->second;
    }
    if (speed == 0) return;
    constexpr double kSecond = 1e9;
    const double rate = bytes * kSecond / static_cast<double>(*now.time - *before.time);
    Add(*before.time, HostUseKind::kNetwork, kPercentOfOne * rate / speed);
    Add(*before.time, HostUseKind::kNetworkSpeed, rate);
  }

  const DataFiles& files_;
  const Side& host_;
  const HostSetup& setup_;
  Session& session_;
};

}  // namespace

void ReadHostUse(const DataFiles& files, const Side& host, const HostSetup& setup,
                 Session& session) {
  HostUseReader(files, host, setup, session).Read();
}

}  // namespace mpa::raw
