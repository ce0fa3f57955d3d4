// SPDX-License-Identifier: Apache-2.0
// Memory in a profiler database (samples of devices and modules, operators, allocators), and
// traffic.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "mpa/raw/summaries.h"
#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

using Number = std::optional<std::int64_t>;

// -1 stands for what is not known.
Number Known(std::int64_t number) { return number < 0 ? Number() : number; }

Number Difference(std::int64_t from, std::int64_t to) {
  return from < 0 || to < 0 ? Number() : to - from;
}

void WriteDeviceSamples(const raw::DeviceMemory& memory, DatabaseStrings& strings,
                        DatabaseWriter& database) {
  if (memory.Empty()) return;
  database.WriteTable(
      "NPU_MEM", "type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER",
      [&](TableWriter& table) {
        const std::int64_t app = strings.Id("app"), device = strings.Id("device");
        for (std::size_t i = 0; i < memory.Size(); ++i) {
          table.Add(memory.whole_device[i] != 0 ? device : app, memory.ddr[i], memory.hbm[i],
                    memory.time[i], memory.device[i]);
        }
      });
}

void WriteModuleSamples(const raw::ModuleMemory& memory, DatabaseWriter& database) {
  database.WriteRows(
      "NPU_MODULE_MEM",
      "moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, deviceId INTEGER", memory,
      [&](std::size_t i, TableWriter& table) {
        table.Add(memory.module[i], memory.time[i], memory.reserved[i], memory.device[i]);
      });
}

void WriteOpMemory(const raw::Session& session, DatabaseStrings& strings,
                   DatabaseWriter& database) {
  const raw::OpMemory& memory = session.op_memory;
  if (memory.Empty()) return;
  database.WriteTable(
      "NPU_OP_MEM",
      "operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, timestampNs INTEGER,"
      " globalTid INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC, component INTEGER,"
      " deviceId INTEGER",
      [&](TableWriter& table) {
        const std::int64_t allocate = strings.Id("allocate"), release = strings.Id("release");
        const std::int64_t component = strings.Id("GE");
        for (std::size_t i = 0; i < memory.Size(); ++i) {
          const bool is_release = memory.bytes[i] < 0;
          const auto bytes = static_cast<std::uint64_t>(memory.bytes[i]);
          table.Add(strings.Id(memory.name[i]), memory.address[i], is_release ? release : allocate,
                    is_release ? -bytes : bytes, memory.time[i],
                    GlobalThread(session.info.process, memory.thread[i]), memory.allocated[i],
                    memory.reserved[i], component, memory.device[i]);
        }
      });
}

// The database has the allocators only: samples of devices and modules are in tables of their own.
bool IsAllocator(std::string_view component) {
  return component == "PTA" || component == "GE" || component == "PTA+GE" ||
         component == "WORKSPACE";
}

void WriteAllocators(const raw::Session& session, DatabaseStrings& strings,
                     DatabaseWriter& database) {
  std::vector<raw::MemoryRecord> records = raw::MemoryRecords(session);
  std::erase_if(records, [](const auto& record) { return !IsAllocator(record.component); });
  if (records.empty()) return;
  database.WriteTable(
      "MEMORY_RECORD",
      "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER,"
      " totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
      [&](TableWriter& table) {
        for (const raw::MemoryRecord& record : records) {
          Number stream;
          if (record.has_stream) stream = static_cast<std::int64_t>(record.stream);
          // CANN does not tell active memory; it counts as none here.
          table.Add(strings.Id(record.component), record.time, Known(record.allocated),
                    Known(record.reserved), std::max<std::int64_t>(record.active, 0), stream,
                    record.device);
        }
      });
}

void WriteAllocations(const raw::Session& session, DatabaseStrings& strings,
                      DatabaseWriter& database) {
  const std::vector<raw::AllocationLife> lives = raw::AllocationLives(session);
  if (lives.empty()) return;
  database.WriteTable(
      "OP_MEMORY",
      "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER,"
      " activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER,"
      " allocationTotalAllocated INTEGER, allocationTotalReserved INTEGER,"
      " allocationTotalActive INTEGER, releaseTotalAllocated INTEGER,"
      " releaseTotalReserved INTEGER, releaseTotalActive INTEGER, streamPtr INTEGER,"
      " deviceId INTEGER",
      [&](TableWriter& table) {
        for (const raw::AllocationLife& life : lives) {
          Number stream;
          if (!life.cann) stream = static_cast<std::int64_t>(life.stream);
          table.Add(strings.Id(life.name), life.bytes, Known(life.allocated), Known(life.released),
                    Known(life.active_released), Difference(life.allocated, life.released),
                    Difference(life.allocated, life.active_released), Known(life.allocated_total),
                    Known(life.reserved_total), Known(life.active_total),
                    Known(life.released_total), Known(life.released_reserved),
                    Known(life.released_active), stream, life.device);
        }
      });
}

}  // namespace

void WriteMemory(const raw::Session& session, DatabaseStrings& strings, DatabaseWriter& database) {
  WriteDeviceSamples(session.device_memory, strings, database);
  WriteModuleSamples(session.module_memory, database);
  WriteOpMemory(session, strings, database);
  WriteAllocators(session, strings, database);
  WriteAllocations(session, strings, database);
}

// Traffic in a profiler database: links, network ports, memory, caches. Rates are bytes per second.

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
      kWhere + std::string(
                   "bandwidth INTEGER, rxPacketRate NUMERIC, rxByteRate NUMERIC, rxPackets INTEGER,"
                   " rxBytes INTEGER, rxErrors INTEGER, rxDropped INTEGER, txPacketRate NUMERIC,"
                   " txByteRate NUMERIC, txPackets INTEGER, txBytes INTEGER, txErrors INTEGER,"
                   " txDropped INTEGER, funcId INTEGER");
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
                     "deviceId INTEGER, llcId INTEGER, timestampNs INTEGER, hitRate REAL,"
                     " throughput INTEGER, mode INTEGER",
                     llc, [&](std::size_t i, TableWriter& table) {
                       const auto rate =
                           llc.rate[i] < 0 ? std::optional<std::int64_t>() : llc.rate[i];
                       table.Add(llc.device[i], llc.llc[i], llc.time[i], llc.hit_rate[i] * kPercent,
                                 rate, strings.Id(llc.write[i] != 0 ? "write" : "read"));
                     });
}

}  // namespace

void WriteTraffic(const raw::TrafficTables& traffic, DatabaseStrings& strings,
                  DatabaseWriter& database) {
  WriteHccs(traffic.hccs, database);
  WritePcie(traffic.pcie, database);
  WriteNetwork(traffic.nic, "NIC", database);
  WriteNetwork(traffic.roce, "ROCE", database);
  WriteHbm(traffic.hbm, strings, database);
  WriteDdr(traffic.ddr, database);
  WriteLlc(traffic.llc, strings, database);
}

}  // namespace mpa::profiler_output
