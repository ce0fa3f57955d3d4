// SPDX-License-Identifier: Apache-2.0
// The tables of links: hccs.csv, pcie.csv, nic.csv, roce.csv. They sum up the collection.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "csv_text.h"
#include "text_files.h"

namespace mpa::profiler_output {
namespace {

struct Spread {
  double least = 0, most = 0, sum = 0;
  std::int64_t count = 0;

  void Add(double value) {
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    sum += value;
    ++count;
  }
  double Mean() const { return sum / static_cast<double>(count); }
};

void AppendHccs(std::int64_t device, std::string_view mode, const Spread& rates, std::string& out) {
  const auto megabytes = [](double bytes) { return Rounded{bytes / kBytesPerMegabyte}; };
  CsvRow(out).Cells(device, mode, megabytes(rates.most), megabytes(rates.least),
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
  Spread min, max, avg;
  for (const std::size_t i : rows) {
    const raw::PcieSpread& spread = pcie.of[i][kind];
    min.Add(static_cast<double>(spread.min));
    max.Add(static_cast<double>(spread.max));
    avg.Add(static_cast<double>(spread.avg));
  }
  CsvRow(out).Cells(device, mode, Rounded{min.Mean() / unit}, Rounded{max.Mean() / unit},
                    Rounded{avg.Mean() / unit});
}

// What one direction of a port did in the collection.
struct DirectionSum {
  Spread share, packets_per_second;
  double packets = 0, errors = 0, dropped = 0;  // sums of counts of a broken file have no bounds

  void Add(const raw::PortDirection& sample, std::int64_t bandwidth) {
    share.Add(raw::ShareOfBandwidth(sample.byte_rate, bandwidth));
    packets_per_second.Add(sample.packet_rate);
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
  WriteTextFile(path, text);
}

}  // namespace

void WriteHccs(const raw::Session& session, const std::filesystem::path& path) {
  const raw::HccsTraffic& hccs = session.traffic.hccs;
  if (hccs.Empty()) return;
  std::map<std::int64_t, std::pair<Spread, Spread>> devices;
  for (std::size_t i = 0; i < hccs.Size(); ++i) {
    auto& [tx, rx] = devices[hccs.device[i]];
    tx.Add(static_cast<double>(hccs.tx[i]));
    rx.Add(static_cast<double>(hccs.rx[i]));
  }
  std::string text = "Device_id,Mode,Max,Min,Average\r\n";
  for (const auto& [device, rates] : devices) {
    AppendHccs(device, "Tx (MB/s)", rates.first, text);
    AppendHccs(device, "Rx (MB/s)", rates.second, text);
  }
  WriteTextFile(path, text);
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
  WriteTextFile(path, text);
}

void WriteNic(const raw::Session& session, const std::filesystem::path& path) {
  WriteNetwork(session.traffic.nic, path);
}

void WriteRoce(const raw::Session& session, const std::filesystem::path& path) {
  WriteNetwork(session.traffic.roce, path);
}

}  // namespace mpa::profiler_output
