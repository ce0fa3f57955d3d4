// SPDX-License-Identifier: Apache-2.0
// Samples of the links of a device: other chips, the host, the network.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/stable_sort.h"
#include "mpa/io/numbers.h"
#include "sample_lines.h"
#include "stages.h"

namespace mpa::raw {
namespace {

// "176168:476067240" (seconds and nanoseconds) or nanoseconds alone; nothing for other text.
std::optional<std::int64_t> DeviceTime(std::string_view text) {
  constexpr std::int64_t kSecond = 1'000'000'000, kLast = 4'000'000'000;
  const std::size_t colon = text.find(':');
  const auto first = io::ParseInt(text.substr(0, colon));
  if (!first || *first < 0) return std::nullopt;
  if (colon == std::string_view::npos) return first;
  const auto ns = io::ParseInt(text.substr(colon + 1));
  if (!ns || *ns < 0 || *ns >= kSecond || *first > kLast) return std::nullopt;
  return *first * kSecond + *ns;
}

// Amounts since the driver started.
struct HccsSample {
  TimeNs time = 0;
  std::int64_t tx = 0, rx = 0;
};

std::vector<HccsSample> ReadHccsSamples(const DataFiles& files, const Clock& clock,
                                        Issues& issues) {
  std::vector<HccsSample> samples;
  ForEachSampleLine(files, "hccs.data", issues, [&](Columns columns) {
    if (columns.size() != 3) return false;
    const auto time = DeviceTime(columns[0]);
    const auto tx = CountIn(columns[1]), rx = CountIn(columns[2]);
    if (!time || !tx || !rx) return false;
    const TimeNs ns = clock.FromDeviceMonotonic(static_cast<std::uint64_t>(*time));
    if (!IsTime(ns)) return false;
    samples.push_back({.time = ns, .tx = *tx, .rx = *rx});
    return true;
  });
  StableSort(samples, {}, &HccsSample::time);
  return samples;
}

void ReadHccs(const DataFiles& files, const Side& side, const Device& device, Session& session) {
  constexpr std::string_view kStem = "hccs.data";
  const std::vector<HccsSample> samples = ReadHccsSamples(files, side.clock, session.issues);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const HccsSample &before = samples[i - 1], &sample = samples[i];
    const TimeNs duration = sample.time - before.time;
    if (duration <= 0) {
      session.issues.Count("sample left out, it has the time of the one before it", kStem);
    } else if (sample.tx < before.tx || sample.rx < before.rx) {
      session.issues.Count("sample left out, its counters run backwards", kStem);
    } else if (sample.time >= side.begin) {
      session.traffic.hccs.Append({.time = sample.time,
                                   .tx = PerSecond(sample.tx - before.tx, duration),
                                   .rx = PerSecond(sample.rx - before.rx, duration),
                                   .device = device.id});
    }
  }
}

constexpr std::size_t kPcieSize = 96;

// False where a record contradicts itself.
bool ReadSpreads(const Record<kPcieSize>& record, PcieSpreads& spreads) {
  constexpr std::uint32_t kNothingPassed = 0xFFFFF;  // what a minimum starts with
  constexpr std::int64_t kPerMicrosecond = 1'000'000;
  for (std::size_t kind = 0; kind < kPcieKinds; ++kind) {
    const std::size_t at = 12 + 12 * kind;
    const std::uint32_t least = record.U32(at), most = record.U32(at + 4);
    const std::uint32_t min = least == kNothingPassed ? 0 : least;
    if (most < min) return false;
    const std::int64_t unit = kind == std::size_t(PcieKind::kTxLatency) ? 1 : kPerMicrosecond;
    spreads[kind] = {.min = min * unit, .max = most * unit, .avg = record.U32(at + 8) * unit};
  }
  return true;
}

void ReadPcie(const DataFiles& files, const Side& side, const Device& device, Session& session) {
  constexpr std::string_view kStem = "pcie.data";
  PcieTraffic& traffic = session.traffic.pcie;
  std::vector<PcieTraffic::Row> rows;
  ForEachDeviceRecord<kPcieSize>(
      files, kStem, kNoMagic, session.issues, [&](const Record<kPcieSize>& record) {
        PcieTraffic::Row row{.time = side.clock.FromDeviceMonotonic(record.U64(0)),
                             .device = device.id};
        if (!IsTime(row.time) || !ReadSpreads(record, row.of)) {
          session.issues.Count("sample left out, its values are invalid", kStem);
        } else if (row.time >= side.begin) {
          rows.push_back(row);
        }
      });
  StableSort(rows, [](const auto& a, const auto& b) { return a.time < b.time; });
  for (const PcieTraffic::Row& row : rows) traffic.Append(row);
}

// Columns: time, bandwidth, six of each direction, and in newer files port and kind of port.
constexpr std::size_t kPortColumn = 14;

bool ReadDirection(Columns columns, PortDirection& direction) {
  constexpr double kThousandths = 1000;
  const auto packet_rate = io::ScaledDecimal(columns[0], 3);
  const auto byte_rate = io::ScaledDecimal(columns[1], 3);
  if (!packet_rate || !byte_rate || *packet_rate < 0 || *byte_rate < 0) return false;
  direction.packet_rate = static_cast<double>(*packet_rate) / kThousandths;
  direction.byte_rate = static_cast<double>(*byte_rate) / kThousandths;
  std::int64_t* const counts[] = {&direction.packets, &direction.bytes, &direction.errors,
                                  &direction.dropped};
  for (std::size_t i = 0; i < std::size(counts); ++i) {
    const auto count = CountIn(columns[2 + i]);
    if (!count) return false;
    *counts[i] = *count;
  }
  return true;
}

std::optional<NetworkTraffic::Row> ReadPort(Columns columns, const Clock& clock) {
  if (columns.size() < kPortColumn || columns.size() > kPortColumn + 2) return std::nullopt;
  NetworkTraffic::Row row;
  const auto time = DeviceTime(columns[0]);
  const auto bandwidth = CountIn(columns[1]);
  const auto port = columns.size() > kPortColumn ? CountIn(columns[kPortColumn]) : 0;
  if (!time || !bandwidth || !port) return std::nullopt;
  row.time = clock.FromDeviceMonotonic(static_cast<std::uint64_t>(*time));
  row.bandwidth = *bandwidth;
  row.port = *port;
  // The database shows it times 2^20.
  constexpr std::int64_t kWidest = std::int64_t{1} << 40;
  const bool good = IsTime(row.time) && *bandwidth <= kWidest &&
                    ReadDirection(columns.subspan(2, 6), row.rx) &&
                    ReadDirection(columns.subspan(8, 6), row.tx);
  return good ? std::optional(row) : std::nullopt;
}

bool RunsBackwards(const PortDirection& before, const PortDirection& now) {
  return now.packets < before.packets || now.bytes < before.bytes || now.errors < before.errors ||
         now.dropped < before.dropped;
}

void ReadNetwork(const DataFiles& files, std::string_view stem, const Side& side,
                 const Device& device, Issues& issues, NetworkTraffic& traffic) {
  std::vector<NetworkTraffic::Row> rows;
  ForEachSampleLine(files, stem, issues, [&](Columns columns) {
    auto row = ReadPort(columns, side.clock);
    if (!row) return false;
    row->device = device.id;
    rows.push_back(*row);
    return true;
  });
  StableSort(rows, [](const auto& a, const auto& b) { return a.time < b.time; });
  std::map<std::int64_t, const NetworkTraffic::Row*> before;  // by port
  for (const NetworkTraffic::Row& row : rows) {
    const NetworkTraffic::Row* last = std::exchange(before[row.port], &row);
    if (last && (RunsBackwards(last->rx, row.rx) || RunsBackwards(last->tx, row.tx))) {
      issues.Count("sample left out, its counters run backwards", stem);
    } else if (row.bandwidth == 0 && (row.rx.byte_rate > 0 || row.tx.byte_rate > 0)) {
      issues.Count("sample left out, it has traffic but no bandwidth", stem);
    } else if (row.time >= side.begin) {
      traffic.Append(row);
    }
  }
}

}  // namespace

void ReadLinkTraffic(const DataFiles& files, const Side& side, const Device& device,
                     Session& session) {
  if (side.clock.device_monotonic == 0) {
    for (const std::string_view stem : {"hccs.data", "pcie.data", "nic.data", "roce.data"}) {
      if (!files.Has(stem)) continue;
      session.issues.Count("samples left out, the start of their clock is unknown", stem);
    }
    return;
  }
  ReadHccs(files, side, device, session);
  ReadPcie(files, side, device, session);
  ReadNetwork(files, "nic.data", side, device, session.issues, session.traffic.nic);
  ReadNetwork(files, "roce.data", side, device, session.issues, session.traffic.roce);
}

}  // namespace mpa::raw
