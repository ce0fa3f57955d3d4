// SPDX-License-Identifier: Apache-2.0
// What the chip tells of itself and the program uses of its machine, in a profiler database. Rates
// are bytes per second.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "profiler_database.h"

namespace mpa::profiler_output {
namespace {

using raw::HostUseKind;

void WriteChip(const raw::TrafficTables& traffic, DatabaseStrings& strings,
               DatabaseWriter& database) {
  const raw::QosTraffic& qos = traffic.qos;
  database.WriteRows(
      "QOS",
      "deviceId INTEGER, eventName NUMERIC, bandwidth NUMERIC, timestampNs NUMERIC, dieId NUMERIC",
      qos, [&](std::size_t i, TableWriter& table) {
        table.Add(qos.device[i], strings.Id("QoS " + std::string(strings.View(qos.event[i]))),
                  qos.rate[i], qos.time[i], qos.die[i]);
      });
  const raw::SioTraffic& sio = traffic.sio;
  database.WriteRows(
      "SIO",
      "deviceId NUMERIC, name NUMERIC, timestampNs NUMERIC, rxReq NUMERIC, rxRsp NUMERIC,"
      " rxSnp NUMERIC, rxDat NUMERIC, txReq NUMERIC, txRsp NUMERIC, txSnp NUMERIC, txDat NUMERIC",
      sio, [&](std::size_t i, TableWriter& table) {
        std::apply(
            [&](const auto&... rates) {
              table.Add(sio.device[i], strings.Id(sio.name[i]), sio.time[i], rates...);
            },
            sio.rates[i]);
      });
  const raw::AcceleratorUse& use = traffic.accelerators;
  database.WriteRows("ACC_PMU",
                     "accId INTEGER, readBwLevel INTEGER, writeBwLevel INTEGER,"
                     " readOstLevel INTEGER, writeOstLevel INTEGER, timestampNs NUMERIC,"
                     " deviceId INTEGER",
                     use, [&](std::size_t i, TableWriter& table) {
                       table.Add(use.accelerator[i], use.read[i], use.write[i],
                                 use.read_outstanding[i], use.write_outstanding[i], use.time[i],
                                 use.device[i]);
                     });
  const raw::BandwidthLevels& levels = traffic.levels;
  database.WriteRows("SOC_BANDWIDTH_LEVEL",
                     "l2BufferBwLevel INTEGER, mataBwLevel INTEGER, timestampNs NUMERIC,"
                     " deviceId INTEGER",
                     levels, [&](std::size_t i, TableWriter& table) {
                       table.Add(levels.l2_buffer[i], levels.mata[i], levels.time[i],
                                 levels.device[i]);
                     });
}

using Value = std::optional<double>;
// Of several kinds by time.
using ValuesAt = std::map<TimeNs, std::map<HostUseKind, double>>;

ValuesAt ValuesOf(const raw::HostUse& host, HostUseKind first, HostUseKind last) {
  ValuesAt values;
  for (std::size_t i = 0; i < host.Size(); ++i) {
    if (host.kind[i] >= first && host.kind[i] <= last && host.value[i] >= 0)
      values[host.time[i]][host.kind[i]] = host.value[i];
  }
  return values;
}

// A row of each time; what a time does not have is NULL.
template <typename... Kinds>
void WriteKinds(std::string_view name, std::string_view columns, const ValuesAt& values,
                DatabaseWriter& database, Kinds... kinds) {
  if (values.empty()) return;
  database.WriteTable(name, columns, [&](TableWriter& table) {
    for (const auto& at_time : values) {
      const auto value = [&](HostUseKind kind) {
        const auto found = at_time.second.find(kind);
        return found != at_time.second.end() ? Value(found->second) : Value();
      };
      table.Add(at_time.first, value(kinds)...);
    }
  });
}

void WriteHost(const raw::HostUse& host, DatabaseWriter& database) {
  const ValuesAt processors = ValuesOf(host, HostUseKind::kProcessor, HostUseKind::kProcessor);
  if (!processors.empty()) {
    database.WriteTable("CPU_USAGE", "timestampNs NUMERIC, cpuId NUMERIC, usage NUMERIC",
                        [&](TableWriter& table) {
                          for (std::size_t i = 0; i < host.Size(); ++i) {
                            if (host.kind[i] != HostUseKind::kProcessor) continue;
                            const std::string processor =
                                host.processor[i] < 0 ? "Avg" : std::to_string(host.processor[i]);
                            table.Add(host.time[i], processor, host.value[i]);
                          }
                        });
  }
  WriteKinds("HOST_MEM_USAGE", "timestampNs NUMERIC, usage NUMERIC",
             ValuesOf(host, HostUseKind::kMemory, HostUseKind::kMemory), database,
             HostUseKind::kMemory);
  WriteKinds("HOST_DISK_USAGE",
             "timestampNs NUMERIC, readRate NUMERIC, writeRate NUMERIC, usage NUMERIC",
             ValuesOf(host, HostUseKind::kDisk, HostUseKind::kDiskWrite), database,
             HostUseKind::kDiskRead, HostUseKind::kDiskWrite, HostUseKind::kDisk);
  WriteKinds("HOST_NETWORK_USAGE", "timestampNs NUMERIC, usage NUMERIC, speed NUMERIC",
             ValuesOf(host, HostUseKind::kNetwork, HostUseKind::kNetworkSpeed), database,
             HostUseKind::kNetwork, HostUseKind::kNetworkSpeed);
}

}  // namespace

void WriteChipAndHost(const raw::TrafficTables& traffic, DatabaseStrings& strings,
                      DatabaseWriter& database) {
  WriteChip(traffic, strings, database);
  WriteHost(traffic.host, database);
}

}  // namespace mpa::profiler_output
