// SPDX-License-Identifier: Apache-2.0
// Traffic in a profiler database: links, network ports, memory, caches. Rates are bytes per second.
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

constexpr const char* kWhere = "deviceId INTEGER, timestampNs INTEGER, ";

void WriteHccs(const raw::HccsTraffic& hccs, DatabaseWriter& database) {
  database.WriteRows("HCCS", kWhere + std::string("txThroughput NUMERIC, rxThroughput NUMERIC"),
                     hccs, [&](std::size_t i, TableWriter& table) {
                       table.Add(hccs.device[i], hccs.time[i], hccs.tx[i], hccs.rx[i]);
                     });
}

void WritePcie(const raw::PcieTraffic& pcie, DatabaseWriter& database) {
  std::string columns = "deviceId INTEGER, timestampNs INTEGER";
  for (const char* kind :
       {"txPost", "txNonpost", "txCpl", "txNonpostLatency", "rxPost", "rxNonpost", "rxCpl"}) {
    for (const char* value : {"Min", "Max", "Avg"}) {
      columns += std::string(", ") + kind + value + " NUMERIC";
    }
  }
  database.WriteRows("PCIE", columns, pcie, [&](std::size_t i, TableWriter& table) {
    std::apply(
        [&](const auto&... of) {
          std::apply([&](const auto&... values) { table.Add(values...); },
                     std::tuple_cat(std::tuple(pcie.device[i], pcie.time[i]),
                                    std::tuple(of.min, of.max, of.avg)...));
        },
        pcie.of[i]);
  });
}

void WriteNetwork(const raw::NetworkTraffic& network, std::string_view name,
                  DatabaseWriter& database) {
  const std::string columns =
      kWhere +
      std::string(
          "bandwidth INTEGER, rxPacketRate NUMERIC, rxByteRate NUMERIC, rxPackets INTEGER, "
          "rxBytes INTEGER, rxErrors INTEGER, rxDropped INTEGER, txPacketRate NUMERIC, "
          "txByteRate NUMERIC, txPackets INTEGER, txBytes INTEGER, txErrors INTEGER, "
          "txDropped INTEGER, funcId INTEGER");
  database.WriteRows(name, columns, network, [&](std::size_t i, TableWriter& table) {
    const auto &rx = network.rx[i], &tx = network.tx[i];
    table.Add(network.device[i], network.time[i], network.bandwidth[i] << 20, rx.packet_rate,
              rx.byte_rate, rx.packets, rx.bytes, rx.errors, rx.dropped, tx.packet_rate,
              tx.byte_rate, tx.packets, tx.bytes, tx.errors, tx.dropped, network.port[i]);
  });
}

void WriteHbm(const raw::HbmTraffic& hbm, DatabaseStrings& strings, DatabaseWriter& database) {
  database.WriteRows("HBM", kWhere + std::string("bandwidth NUMERIC, hbmId INTEGER, type INTEGER"),
                     hbm, [&](std::size_t i, TableWriter& table) {
                       table.Add(hbm.device[i], hbm.time[i], hbm.rate[i], hbm.hbm[i],
                                 strings.Id(hbm.write[i] != 0 ? "write" : "read"));
                     });
}

void WriteDdr(const raw::DdrTraffic& ddr, DatabaseWriter& database) {
  database.WriteRows("DDR", kWhere + std::string("read NUMERIC, write NUMERIC"), ddr,
                     [&](std::size_t i, TableWriter& table) {
                       table.Add(ddr.device[i], ddr.time[i], ddr.read[i], ddr.write[i]);
                     });
}

void WriteLlc(const raw::LlcTraffic& llc, DatabaseStrings& strings, DatabaseWriter& database) {
  constexpr double kPercent = 100;
  database.WriteRows("LLC",
                     "deviceId INTEGER, llcId INTEGER, timestampNs INTEGER, hitRate REAL, "
                     "throughput INTEGER, mode INTEGER",
                     llc, [&](std::size_t i, TableWriter& table) {
                       const auto rate =
                           llc.rate[i] < 0 ? std::optional<std::int64_t>() : llc.rate[i];
                       table.Add(llc.device[i], llc.llc[i], llc.time[i], llc.hit_rate[i] * kPercent,
                                 rate, strings.Id(llc.write[i] != 0 ? "write" : "read"));
                     });
}

}  // namespace

void WriteTraffic(const raw::Traffic& traffic, DatabaseStrings& strings, DatabaseWriter& database) {
  WriteHccs(traffic.hccs, database);
  WritePcie(traffic.pcie, database);
  WriteNetwork(traffic.nic, "NIC", database);
  WriteNetwork(traffic.roce, "ROCE", database);
  WriteHbm(traffic.hbm, strings, database);
  WriteDdr(traffic.ddr, database);
  WriteLlc(traffic.llc, strings, database);
}

}  // namespace mpa::profiler_output
