// SPDX-License-Identifier: Apache-2.0
// The tables of what was sampled: links (hccs.csv, pcie.csv, nic.csv, roce.csv), summed up over the
// collection, and memory.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "csv_text.h"
#include "mpa/raw/labels.h"
#include "mpa/raw/summaries.h"
#include "text_files.h"

namespace mpa::profiler_output {
namespace {

using Samples = Tally<double>;

void AppendHccs(std::int64_t device, std::string_view mode, const Samples& rates,
                std::string& out) {
  const auto megabytes = [](double bytes) { return Rounded{bytes / kBytesPerMegabyte}; };
  CsvRow(out).Cells(device, mode, megabytes(rates.max), megabytes(rates.min),
                    megabytes(rates.Mean()));
}

// Which samples of PCIe the table is made of: those of 910B count from the start of the collection,
// so that the last one has all.
constexpr std::int64_t kCountsFromStart = 5;

using PcieRows = std::map<std::int64_t, std::vector<std::size_t>>;  // by device

PcieRows RowsOfPcie(const raw::Session& session) {
  const raw::PcieTraffic& pcie = session.traffic.pcie;
  PcieRows rows;
  for (std::size_t i = 0; i < pcie.Size(); ++i) rows[pcie.device[i]].push_back(i);
  for (const raw::Device& device : session.info.devices) {
    const auto found = rows.find(device.id);
    if (found == rows.end() || device.platform != kCountsFromStart) continue;
    found->second = {found->second.back()};
  }
  return rows;
}

void AppendPcie(std::int64_t device, std::string_view mode, double unit, std::size_t kind,
                const std::vector<std::size_t>& rows, const raw::PcieTraffic& pcie,
                std::string& out) {
  Samples min, max, avg;
  for (const std::size_t i : rows) {
    const raw::PcieSpread& spread = pcie.of[i][kind];
    min.AddOne(static_cast<double>(spread.min));
    max.AddOne(static_cast<double>(spread.max));
    avg.AddOne(static_cast<double>(spread.avg));
  }
  CsvRow(out).Cells(device, mode, Rounded{min.Mean() / unit}, Rounded{max.Mean() / unit},
                    Rounded{avg.Mean() / unit});
}

// What one direction of a port did in the collection.
struct DirectionSum {
  Samples share, packets_per_second;
  double packets = 0, errors = 0, dropped = 0;  // sums of counts of a broken file have no bounds

  void Add(const raw::PortDirection& sample, std::int64_t bandwidth) {
    share.AddOne(raw::ShareOfBandwidth(sample.byte_rate, bandwidth));
    packets_per_second.AddOne(sample.packet_rate);
  }
  void AddGrowth(const raw::PortDirection& from, const raw::PortDirection& to) {
    // A counter that started again has not grown.
    if (to.packets < from.packets || to.errors < from.errors || to.dropped < from.dropped) return;
    packets += static_cast<double>(to.packets - from.packets);
    errors += static_cast<double>(to.errors - from.errors);
    dropped += static_cast<double>(to.dropped - from.dropped);
  }
  double PercentOfPackets(double some) const { return packets == 0 ? 0 : 100 * some / packets; }
  void AppendTo(CsvRow& row) const {
    row.Cells(Rounded{100 * share.Mean()}, Rounded{packets_per_second.Mean()},
              Rounded{PercentOfPackets(errors)}, Rounded{PercentOfPackets(dropped)});
  }
};

void WriteNetwork(const raw::NetworkTraffic& network, const std::filesystem::path& path) {
  if (network.Empty()) return;
  struct Port {
    DirectionSum rx, tx;
    std::size_t last = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Port> ports;  // by device and port
  for (std::size_t i = 0; i < network.Size(); ++i) {
    const auto [place, first] = ports.try_emplace({network.device[i], network.port[i]});
    Port& port = place->second;
    port.rx.Add(network.rx[i], network.bandwidth[i]);
    port.tx.Add(network.tx[i], network.bandwidth[i]);
    if (!first) {
      port.rx.AddGrowth(network.rx[port.last], network.rx[i]);
      port.tx.AddGrowth(network.tx[port.last], network.tx[i]);
    }
    port.last = i;
  }
  std::string text =
      "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,"
      "rxError rate(%),rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,"
      "txError rate(%),txDropped rate(%),funcId\r\n";
  for (const auto& [key, port] : ports) {
    CsvRow row(text);
    row.Cells(key.first, Stamp{network.time[port.last]},
              Rounded{static_cast<double>(network.bandwidth[port.last])});
    port.rx.AppendTo(row);
    port.tx.AppendTo(row);
    row.Cell(key.second);
  }
  io::WriteText(path, text);
}

}  // namespace

void WriteHccs(const raw::Session& session, const std::filesystem::path& path) {
  const raw::HccsTraffic& hccs = session.traffic.hccs;
  if (hccs.Empty()) return;
  std::map<std::int64_t, std::pair<Samples, Samples>> devices;
  for (std::size_t i = 0; i < hccs.Size(); ++i) {
    auto& [tx, rx] = devices[hccs.device[i]];
    tx.AddOne(static_cast<double>(hccs.tx[i]));
    rx.AddOne(static_cast<double>(hccs.rx[i]));
  }
  std::string text = "Device_id,Mode,Max,Min,Average\r\n";
  for (const auto& [device, rates] : devices) {
    AppendHccs(device, "Tx (MB/s)", rates.first, text);
    AppendHccs(device, "Rx (MB/s)", rates.second, text);
  }
  io::WriteText(path, text);
}

void WritePcie(const raw::Session& session, const std::filesystem::path& path) {
  constexpr double kNsOfMicrosecond = 1000;
  constexpr std::pair<std::string_view, double> kModes[raw::kPcieKinds] = {
      {"Tx_p_avg(MB/s)", kBytesPerMegabyte},   {"Tx_np_avg(MB/s)", kBytesPerMegabyte},
      {"Tx_cpl_avg(MB/s)", kBytesPerMegabyte}, {"Tx_latency_avg(us)", kNsOfMicrosecond},
      {"Rx_p_avg(MB/s)", kBytesPerMegabyte},   {"Rx_np_avg(MB/s)", kBytesPerMegabyte},
      {"Rx_cpl_avg(MB/s)", kBytesPerMegabyte}};
  if (session.traffic.pcie.Empty()) return;
  std::string text = "Device_id,Mode,Min,Max,Avg\r\n";
  for (const auto& [device, rows] : RowsOfPcie(session)) {
    for (std::size_t kind = 0; kind < raw::kPcieKinds; ++kind) {
      const auto& [mode, unit] = kModes[kind];
      AppendPcie(device, mode, unit, kind, rows, session.traffic.pcie, text);
    }
  }
  io::WriteText(path, text);
}

void WriteNic(const raw::Session& session, const std::filesystem::path& path) {
  WriteNetwork(session.traffic.nic, path);
}

void WriteRoce(const raw::Session& session, const std::filesystem::path& path) {
  WriteNetwork(session.traffic.roce, path);
}

// The memory tables: operator_memory.csv, memory_record.csv, npu_module_mem.csv.

namespace {

Decimal Bytes(std::int64_t bytes, double unit) { return {static_cast<double>(bytes) / unit}; }

// Cells of what is not known, -1, are empty.
std::optional<Decimal> MegabytesIn(std::int64_t bytes) {
  if (bytes < 0) return {};
  return Bytes(bytes, kBytesPerMegabyte);
}

std::optional<Stamp> TimeIn(TimeNs time) {
  if (time < 0) return {};
  return Stamp{time};
}

/// From the allocation to `end`.
void PutLifetime(const raw::AllocationLife& life, TimeNs end, CsvRow& row) {
  const bool known = end >= 0 && life.allocated >= 0;
  if (known && life.cann) {
    row.Cell(ShortMicros{static_cast<double>(end - life.allocated)});
  } else {
    row.Cells(known ? std::optional(Stamp{end - life.allocated}) : std::nullopt);
  }
}

std::string Device(std::int64_t device) { return "NPU:" + std::to_string(device); }

void AppendLife(const raw::AllocationLife& life, const StringPool& strings, std::string& out) {
  CsvRow row(out);
  const std::string_view name = strings.View(life.name);
  row.Text(life.cann ? "cann::" + std::string(name) : name);
  row.Cells(Bytes(life.bytes, kBytesPerKilobyte), TimeIn(life.allocated), TimeIn(life.released),
            TimeIn(life.active_released));
  PutLifetime(life, life.released, row);
  PutLifetime(life, life.active_released, row);
  row.Cells(MegabytesIn(life.allocated_total), MegabytesIn(life.reserved_total),
            MegabytesIn(life.active_total), MegabytesIn(life.released_total),
            MegabytesIn(life.released_reserved), MegabytesIn(life.released_active),
            life.cann ? std::nullopt : std::optional(life.stream), Device(life.device));
}

void AppendRecord(const raw::MemoryRecord& record, std::string& out) {
  CsvRow(out).Cells(record.component, TimeIn(record.time), MegabytesIn(record.allocated),
                    MegabytesIn(record.reserved), MegabytesIn(record.active),
                    record.has_stream ? std::optional(record.stream) : std::nullopt,
                    Device(record.device));
}

}  // namespace

void WriteOperatorMemory(const raw::Session& session, const std::filesystem::path& path) {
  const std::vector<raw::AllocationLife> lives = raw::AllocationLives(session);
  if (lives.empty()) return;
  WriteTextTable(
      path,
      "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
      "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
      "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
      "Release Total Active(MB),Stream Ptr,Device Type\r\n",
      lives.size(),
      [&](std::size_t i, std::string& out) { AppendLife(lives[i], session.strings, out); });
}

void WriteMemoryRecord(const raw::Session& session, const std::filesystem::path& path) {
  const std::vector<raw::MemoryRecord> records = raw::MemoryRecords(session);
  if (records.empty()) return;
  WriteTextTable(
      path,
      "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,"
      "Device Type\r\n",
      records.size(), [&](std::size_t i, std::string& out) { AppendRecord(records[i], out); });
}

void WriteModuleMemory(const raw::Session& session, const std::filesystem::path& path) {
  const raw::ModuleMemory& samples = session.module_memory;
  if (samples.Empty()) return;
  const auto rows = RowsBy(samples.Size(), [&](std::size_t row) {
    return std::pair(samples.module[row], samples.time[row]);
  });
  WriteTextTable(
      path, "Device_id,Component,Timestamp(us),Total Reserved(MB),Device\r\n", rows.size(),
      [&](std::size_t i, std::string& out) {
        const std::size_t sample = rows[i];
        const std::string_view name = raw::NameOf(raw::Modules(), samples.module[sample]);
        CsvRow(out).Cells(
            samples.device[sample], name.empty() ? "UNKNOWN" : name, Stamp{samples.time[sample]},
            Bytes(samples.reserved[sample], kBytesPerMegabyte), Device(samples.device[sample]));
      });
}

}  // namespace mpa::profiler_output
