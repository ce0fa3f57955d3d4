// SPDX-License-Identifier: Apache-2.0
#include "trace_counters.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "counter_builder.h"
#include "counter_names.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "trace_builder.h"

namespace mpa::readers {
namespace {

constexpr double kNsOfUs = 1000;

/// What the values of one series of events are.
struct Meaning {
  const CounterInfo* info = nullptr;
  std::string part{};
  double scale = 1;  // to the unit of the counter
};

// What stands before and behind the last slash; all of it before where there is none.
std::pair<std::string_view, std::string_view> AroundSlash(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {name, {}};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

std::string_view Without(std::string_view prefix, std::string_view text) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view();
}

const CounterInfo* Of(const ReadAndWrite& both, std::string_view name) {
  return name == "Read" ? &both.read : name == "Write" ? &both.write : nullptr;
}
const CounterInfo* Of(const Directions& both, std::string_view name) {
  return name == "Rx" ? &both.rx : name == "Tx" ? &both.tx : nullptr;
}

// "HBM 2/Read", "DDR/Read".
Meaning OfMemory(const ReadAndWrite& memory, std::string_view name) {
  const auto [whose, kind] = AroundSlash(name);
  return {Of(memory, kind), std::string(Without("HBM ", whose)), kBytesOfMb};
}

// "LLC 0 Read/Throughput", "LLC 0 Read/Hit Rate": a rate of hits is a share, whatever it is called.
Meaning OfCache(std::string_view name) {
  const auto [whose, what] = AroundSlash(name);
  const std::size_t blank = whose.rfind(' ');
  if (blank == std::string_view::npos) return {};
  const std::string cache(Without("LLC ", whose.substr(0, blank)));
  const std::string_view kind = whose.substr(blank + 1);
  if (what == "Throughput") return {Of(kLlc, kind), cache, kBytesOfMb};
  if (what == "Hit Rate") return {Of(kLlcHits, kind), cache, kPercentOfShare};
  return {};
}

// "APP/HBM"; "APP/Memory" is the sum of the others.
Meaning OfMemoryInUse(std::string_view name) {
  const auto [whose, kind] = AroundSlash(name);
  if (whose != "APP" && whose != "Device") return {};
  const MemoryInUse& memory = whose == "APP" ? kMemoryOfProcess : kMemoryOfDevice;
  if (kind == "HBM") return {&memory.hbm, "", kBytesOfKb};
  if (kind == "DDR") return {&memory.ddr, "", kBytesOfKb};
  return {};
}

Meaning OfAccelerator(std::string_view name, std::string_view id) {
  const std::string part(id);
  if (name == "read_bandwidth") return {&kAccBandwidth.read, part};
  // Early versions wrote it with one more underscore.
  if (name == "write_bandwidth" || name == "write_band_width") return {&kAccBandwidth.write, part};
  if (name == "read_ost") return {&kAccOutstanding.read, part};
  if (name == "write_ost") return {&kAccOutstanding.write, part};
  return {};
}

// "Port 0/Rx" with the series "Rx Packets".
Meaning OfNetwork(const NetworkCounters& network, std::string_view name, std::string_view series) {
  const auto [whose, direction] = AroundSlash(name);
  const bool is_rx = direction == "Rx";
  if (!is_rx && direction != "Tx") return {};
  const auto port = io::ParseInt(Without("Port ", whose));
  if (!port || series.size() < 3) return {};
  const PortCounters& counters = is_rx ? network.rx : network.tx;
  const std::string part = PortName(*port);
  const std::string_view what = series.substr(3);
  if (what == "Bandwidth Efficiency") return {&counters.share, part, kPercentOfShare};
  if (what == "Packets") return {&counters.packets, part};
  if (what == "Error Rate") return {&counters.error_rate, part, kPercentOfShare};
  if (what == "Dropped Rate") return {&counters.dropped_rate, part, kPercentOfShare};
  return {};
}

Meaning OfPcie(std::string_view name, std::string_view series) {
  if (name == "PCIe_post") return {Of(kPciePost, series), "", kBytesOfMb};
  if (name == "PCIe_nonpost") return {Of(kPcieNonpost, series), "", kBytesOfMb};
  if (name == "PCIe_cpl") return {Of(kPcieCompletion, series), "", kBytesOfMb};
  // What is received has no latency; the events have a 0 in its place.
  if (name == "PCIe_nonpost_latency" && series == "Tx") return {&kPcieLatency, "", kNsOfUs};
  return {};
}

// "req_rx" with a series for each die.
Meaning OfDies(std::string_view name, std::string_view series) {
  constexpr std::string_view kNames[] = {"req_rx", "rsp_rx", "snp_rx", "dat_rx",
                                         "req_tx", "rsp_tx", "snp_tx", "dat_tx"};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return {&kSio[i], std::string(series), kBytesOfMb};
  }
  return {};
}

// "UB Port 1" with the series "bandwidth_rx(MB/s)".
Meaning OfUb(std::string_view name, std::string_view series) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const auto port = io::ParseInt(name.substr(digits));
  if (!port) return {};
  const bool is_rx = series.starts_with("bandwidth_rx");
  if (!is_rx && !series.starts_with("bandwidth_tx")) return {};
  return {is_rx ? &kUb.rx : &kUb.tx, PortName(*port), kBytesOfMb};
}

// "QoS OTHERS" with the series "value", or one for each die.
Meaning OfQos(std::string_view name, std::string_view series) {
  const auto die = io::ParseInt(Without("die ", series));
  return {&kQos, QosPart(Without("QoS ", name), die.value_or(-1)), kBytesOfMb};
}

Meaning MeaningOf(std::string_view process, std::string_view name, std::string_view series,
                  std::string_view id) {
  if (process == "HBM") return OfMemory(kHbm, name);
  if (process == "DDR") return OfMemory(kDdr, name);
  if (process == "LLC") return OfCache(name);
  if (process == "NPU MEM") return OfMemoryInUse(name);
  if (process == "Acc PMU") return OfAccelerator(name, id);
  if (process == "QoS") return OfQos(name, series);
  if (process == "HCCS") return {Of(kHccs, name), "", kBytesOfMb};
  if (process == "NIC") return OfNetwork(kNic, name, series);
  if (process == "RoCE") return OfNetwork(kRoce, name, series);
  if (process == "PCIe") return OfPcie(name, series);
  if (process == "SIO") return OfDies(name, series);
  if (EqualsIgnoringCase(process, "UB")) return OfUb(name, series);
  if (process == "Stars Soc Info" && name == "L2 Buffer Bw Level") return {&kL2BufferLevel};
  if (process == "Stars Soc Info" && name == "Mata Bw Level") return {&kMataLevel};
  if (process == "CPU Usage") return {&kCpuUsage, std::string(Without("CPU ", name))};
  if (process == "Memory Usage") return {&kMemoryUsage};
  if (process == "Disk Usage") return {&kDiskUsage};
  if (process == "Network Usage") return {&kNetworkUsage};
  return {};
}

bool IsShareOfPort(const CounterInfo* info) {
  return info == &kNic.rx.share || info == &kNic.tx.share || info == &kRoce.rx.share ||
         info == &kRoce.tx.share;
}

// The processes by what they are called: of several with one name that of the rank's device, or
// else the one with the least number.
std::map<std::int64_t, StringId> ProcessesOf(const std::vector<Metadata>& metadata,
                                             const Processes& processes) {
  const auto nearness = [&](std::int64_t pid) {
    if (!processes.hardware) return 0;
    const std::int64_t hardware = *processes.hardware;
    if (pid >> kViewerBits != hardware >> kViewerBits) return 0;
    return DeviceOf(pid) == DeviceOf(hardware) ? 2 : 1;
  };
  std::map<StringId, std::int64_t> chosen;
  for (const Metadata& process : metadata) {
    if (process.kind != Metadata::Kind::kProcessName) continue;
    const auto [place, is_new] = chosen.try_emplace(process.value, process.pid);
    if (is_new) continue;
    const auto order = [&](std::int64_t pid) { return std::pair(-nearness(pid), pid); };
    if (order(process.pid) < order(place->second)) place->second = process.pid;
  }
  std::map<std::int64_t, StringId> names;
  for (const auto& [name, pid] : chosen) names.emplace(pid, name);
  return names;
}

}  // namespace

void AppendCounters(const std::vector<CounterEvent>& events, const std::vector<Metadata>& metadata,
                    const Processes& processes, RankTrace& trace) {
  if (events.empty()) return;
  const std::map<std::int64_t, StringId> names = ProcessesOf(metadata, processes);
  std::map<std::tuple<std::int64_t, StringId, StringId, StringId>, Meaning> meanings;
  CounterBuilder builder(trace);
  for (const CounterEvent& event : events) {
    const auto [place, is_new] =
        meanings.try_emplace(std::tuple(event.pid, event.name, event.series, event.id));
    Meaning& meaning = place->second;
    if (is_new) {
      const auto process = names.find(event.pid);
      if (process != names.end())
        meaning = MeaningOf(trace.strings.View(process->second), trace.strings.View(event.name),
                            trace.strings.View(event.series), trace.strings.View(event.id));
      if (IsShareOfPort(meaning.info))
        builder.AddLimit(*meaning.info, meaning.part, kPercentOfShare);
    }
    if (meaning.info == nullptr) continue;
    builder.Add(*meaning.info, meaning.part, event.time, event.value * meaning.scale);
  }
  builder.Finish();
}

}  // namespace mpa::readers
